#pragma once

#include <bit>

namespace wisp::detail {

/// A binary tree over ranks 0 … size-1 in order: all ranks left of a node are in its left subtree or above it
/// on the left, so subtrees are ranges of ranks. There are two, and every rank is a leaf in at least one of
/// them: if one half of the data goes over each, every rank sends about as much as it receives.
///
///   tree 0, 7 ranks        tree 1: begins with what would be node 1 of the same tree
///          3                         6
///        ╱   ╲                     ╱
///       1     5                   2
///      ╱ ╲   ╱ ╲                ╱   ╲
///     0   2 4   6              0     4
///                               ╲   ╱ ╲
///                                1 3   5
///
/// Source: Sanders, Speck, Träff 2009 (two-tree); the shift of the second tree is our own
class InOrderTree {
 public:
  /// `which` is 0 or 1.
  constexpr InOrderTree(int rank, int size, int which)
      : shift_(1 + which), nodes_(size + which), node_(rank + shift_) {
    level_ = std::countr_zero(static_cast<unsigned>(node_));
    find_parent();
    if (level_ > 0) {
      left_ = node_ - (1 << (level_ - 1));
      // In the second tree node 1 has no rank, and a leaf is all that can be missing.
      if (left_ < shift_) left_ = none;
      for (int level = level_ - 1; level >= 0 && right_ == none; --level) {
        const int candidate = node_ + (1 << level);
        if (candidate <= nodes_) right_ = candidate;
      }
    }
  }

  /// Ranks, or -1.
  constexpr int parent() const { return rank_of(parent_); }
  constexpr int left() const { return rank_of(left_); }
  constexpr int right() const { return rank_of(right_); }
  constexpr bool is_root() const { return parent_ == none; }
  /// True if the parent's ranks come before those of this subtree.
  constexpr bool is_right_child() const { return parent_ != none && parent_ < node_; }

  /// True if some rank comes before those of this subtree.
  constexpr bool has_lower() const { return node_ - (1 << level_) + 1 > shift_; }

  static constexpr int root(int size, int which) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(size + which))) - 1 - which;
  }

 private:
  static constexpr int none = 0;  // nodes count from 1

  constexpr void find_parent() {
    const int root = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes_)));
    if (node_ == root) return;
    parent_ = node_;
    do {
      const int level = std::countr_zero(static_cast<unsigned>(parent_));
      parent_ = (parent_ & ~(1 << level)) | 1 << (level + 1);
    } while (parent_ > nodes_);
  }
  constexpr int rank_of(int node) const { return node == none ? -1 : node - shift_; }

  int shift_;  ///< from rank to node
  int nodes_;
  int node_;
  int level_ = 0;
  int parent_ = none;
  int left_ = none;
  int right_ = none;
};

}  // namespace wisp::detail
