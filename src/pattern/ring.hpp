#pragma once

namespace wisp::detail {

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
