#pragma once

#include <bit>

namespace wisp::detail {

/// ⌈log2 ranks⌉: the rounds until everybody has heard of everybody when distances double.
constexpr int ceil_log2(int ranks) {
  return std::bit_width(static_cast<unsigned>(ranks - 1));
}

}  // namespace wisp::detail
