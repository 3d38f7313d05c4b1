#pragma once

#include <algorithm>
#include <cstddef>

#include "wisp/detail/as_size.hpp"

namespace wisp::detail {

/// A vector of `count` elements in `parts` consecutive segments, sizes ⌈count/parts⌉ and ⌊count/parts⌋.
class EvenSegments {
 public:
  constexpr EvenSegments(std::size_t count, int parts)
      : size_(count / as_size(parts)), larger_(count % as_size(parts)) {}

  /// Where segment `part` begins; for `part` = parts, where the last one ends.
  constexpr std::size_t begin(int part) const {
    const auto before = as_size(part);
    return before * size_ + std::min(before, larger_);
  }
  constexpr std::size_t size(int part) const { return begin(part + 1) - begin(part); }

 private:
  std::size_t size_;
  std::size_t larger_;  ///< how many have one element more
};

}  // namespace wisp::detail
