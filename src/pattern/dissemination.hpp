#pragma once

#include <bit>

namespace wisp::detail {

/// Rounds until everybody has heard of everybody when distances double: ⌈log2 size⌉.
constexpr int dissemination_rounds(int size) {
  return std::bit_width(static_cast<unsigned>(size - 1));
}

/// The rank `distance` further on the ring of `size` ranks, and that before; 0 <= distance <= size.
constexpr int ring_next(int rank, int distance, int size) {
  const int next = rank + distance;
  return next < size ? next : next - size;
}
constexpr int ring_previous(int rank, int distance, int size) {
  const int previous = rank - distance;
  return previous < 0 ? previous + size : previous;
}

}  // namespace wisp::detail
