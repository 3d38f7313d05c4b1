#pragma once

#include <algorithm>

#include "pattern/log2.hpp"

namespace wisp::detail {

/// The k-nomial tree over `size` ranks, seen from `rank`; radix 2 is the binomial tree, a radix of `size` or
/// more the flat one. With ranks counted from the root, a subtree is a range that starts with its root, and
/// every node's children are numbered by rank.
///
///   radix 2, 8 ranks         radix 4, 8 ranks
///   0 ─┬─ 1                  0 ─┬─ 1, 2, 3
///      ├─ 2 ─── 3               └─ 4 ─── 5, 6, 7
///      └─ 4 ─┬─ 5
///            └─ 6 ─── 7      depth ⌈log_k p⌉, at most (k - 1) ⌈log_k p⌉ children
class KnomialTree {
 public:
  /// The radix is 2^radix_bits.
  constexpr KnomialTree(int rank, int size, int root, int radix_bits)
      : size_(size), root_(root), radix_bits_(radix_bits) {
    relative_ = rank - root + (rank < root ? size : 0);
    // A subtree reaches as far as the largest power of the radix that divides its root; that of 0 over all.
    levels_ = over(relative_ == 0 ? ceil_log2(size) + radix_bits - 1
                                  : std::countr_zero(static_cast<unsigned>(relative_)),
                   radix_bits);
    const int level_above = (levels_ + 1) * radix_bits_;
    parent_ = level_above < 31 ? relative_ >> level_above << level_above : 0;
    const long long reach = 1LL << (levels_ * radix_bits_);
    subtree_size_ = static_cast<int>(std::min<long long>(reach, size - relative_));
    for (int level = 0; level < levels_; ++level) {
      const int fitting = (subtree_size_ - 1) >> (level * radix_bits_);
      child_count_ += std::min(fitting, siblings());
    }
  }

  constexpr bool is_root() const { return relative_ == 0; }
  /// This rank, counted from the root.
  constexpr int relative() const { return relative_; }
  constexpr int parent() const { return absolute(parent_); }
  constexpr int child_count() const { return child_count_; }
  constexpr int child(int k) const { return absolute(relative_ + child_offset(k)); }
  /// How far child k is from this node, counted from the root.
  constexpr int child_offset(int k) const { return (k - level(k) * siblings() + 1) << step_bits(k); }
  /// The child that a broadcast serves as number i: the largest subtrees first. Behind those of the highest
  /// level comes the next rank, as it has this node's place in the next broadcast where roots take turns, and
  /// should not wait for all others: the subtrees that are served later have time.
  constexpr int served(int i) const {
    const int largest_first = child_count_ - 1 - i;
    const int highest = child_count_ - level(child_count_ - 1) * siblings();
    if (i < highest || child_count_ == highest) return largest_first;
    return i == highest ? 0 : largest_first + 1;
  }
  /// Ranks in the subtree of this node, and in that of its child k, itself included.
  constexpr int subtree_size() const { return subtree_size_; }
  constexpr int child_subtree_size(int k) const {
    return std::min(1 << step_bits(k), subtree_size_ - child_offset(k));
  }

 private:
  /// Children of a node on one level.
  constexpr int siblings() const { return (1 << radix_bits_) - 1; }
  /// Most are by 1, and take longer than all else here.
  static constexpr int over(int number, int by) { return by == 1 ? number : number / by; }
  constexpr int level(int k) const { return over(k, siblings()); }
  constexpr int step_bits(int k) const { return level(k) * radix_bits_; }
  constexpr int absolute(int relative) const {
    const int rank = relative + root_;
    return rank < size_ ? rank : rank - size_;
  }

  int size_;
  int root_;
  int radix_bits_;
  int relative_ = 0;
  int levels_ = 0;
  int parent_ = 0;
  int subtree_size_ = 1;
  int child_count_ = 0;
};

}  // namespace wisp::detail
