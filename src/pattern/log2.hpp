#pragma once

#include <bit>

namespace wisp::detail {

/// ⌊log2 number⌋, of a number above 0.
constexpr int floor_log2(int number) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(number))) - 1;
}

/// ⌈log2 ranks⌉: the rounds until everybody has heard of everybody when distances double.
constexpr int ceil_log2(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

}  // namespace wisp::detail
