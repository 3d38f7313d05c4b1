#pragma once

#include <algorithm>
#include <cstdlib>

namespace wisp::detail {

/// A tree over a chain whose edges are as short as possible, so that it can be built while addresses at
/// doubling distances become known. Ranks are seen by their distance d from the root, to either side:
///
///   d = 0 ─┬─ 1              A rank's parent is where the lowest 1 of d becomes 0; its subtree are the
///          ├─ 2 ─── 3        ranks from d outwards, as many as that 1 is worth.
///          └─ 4 ─┬─ 5
///                └─ 6 ─ 7
class ChainTree {
 public:
  ChainTree(int rank, int size, int root)
      : rank_(rank), root_(root), distance_(std::abs(rank - root)), left_(root), right_(size - 1 - root) {}

  bool is_root() const { return distance_ == 0; }
  int distance() const { return distance_; }
  /// In which direction the root's rank lies: -1 or 1 (of a rank's neighbors, inwards).
  int inwards() const { return rank_ > root_ ? -1 : 1; }
  /// What the lowest 1 of the distance is worth: how far the parent is.
  int reach() const { return distance_ & -distance_; }
  /// How far ranks go on this rank's side of the root.
  int side_length() const { return rank_ > root_ ? right_ : left_; }
  /// Ranks of the subtree that begins at a distance from the root, on a side of the given length. Of the
  /// root's own children, each side has its own.
  static int subtree_size(int distance, int side_length) {
    return std::min(distance & -distance, side_length - distance + 1);
  }
  int subtree_size() const { return is_root() ? left_ + right_ + 1 : subtree_size(distance_, side_length()); }
  int left_length() const { return left_; }
  int right_length() const { return right_; }

 private:
  int rank_;
  int root_;
  int distance_;
  int left_;   ///< ranks left of the root
  int right_;  ///< ranks right of it
};

}  // namespace wisp::detail
