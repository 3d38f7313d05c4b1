#pragma once

namespace wisp {

/// An affine map from ranks 0 … size-1 to the ranks of a parent: rank r is parent rank first + r · stride.
/// Ranges of ranges are ranges again; every function takes constant time.
struct Range {
  int first = 0;
  int stride = 1;
  int size = 0;

  /// The range first, first + stride, … up to last; empty if last < first.
  static constexpr Range between(int first, int last, int stride = 1) {
    return {first, stride, last < first ? 0 : (last - first) / stride + 1};
  }

  constexpr bool empty() const { return size == 0; }
  constexpr int to_parent(int rank) const { return first + rank * stride; }

  /// The rank of `parent` in this range, or -1 if it is not a member.
  constexpr int from_parent(int parent) const {
    const int distance = parent - first;
    if (distance < 0) return -1;
    if (stride == 1) return distance < size ? distance : -1;
    if (distance % stride != 0) return -1;
    const int rank = distance / stride;
    return rank < size ? rank : -1;
  }

  constexpr bool contains_parent(int parent) const { return from_parent(parent) >= 0; }

  /// The members that `inner` (in ranks of this range) selects, as a range of the parent.
  constexpr Range compose(const Range& inner) const {
    // Strides of ranges of one member say nothing, and would multiply without bound.
    return {first + inner.first * stride, inner.size > 1 ? stride * inner.stride : inner.stride, inner.size};
  }

  friend constexpr bool operator==(const Range&, const Range&) = default;
};

}  // namespace wisp
