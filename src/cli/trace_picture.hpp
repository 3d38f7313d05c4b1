#pragma once

#include <string>

#include "trace/timeline.hpp"

namespace wisp::cli {

/// What of a timeline is drawn.
struct Window {
  double begin = 0;  ///< seconds
  double end = 0;
  std::size_t messages = 5000;     ///< at most: the first ones
  std::size_t operations = 20000;  ///< at most: the longest ones

  bool shows(double first, double last) const { return last >= begin && first <= end; }
};

/// "1.25 µs".
std::string time_text(double seconds);

/// An SVG: a row for each rank with its operations, messages as lines between them, the critical path in red.
std::string picture(const detail::Timeline& timeline, const Window& window);

/// A page with the picture, which can be zoomed into, and the time by operation and communicator. It needs no
/// other file, and no network.
std::string page(const detail::Timeline& timeline, const Window& window, const std::string& title);

}  // namespace wisp::cli
