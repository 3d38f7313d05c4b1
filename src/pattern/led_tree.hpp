#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pattern/knomial_tree.hpp"
#include "pattern/packed_number.hpp"
#include "wisp/detail/as_size.hpp"

// Gather and scatter led by the root, which alone knows the sizes of all blocks: the tree is over the ranks
// that have something, and each of them is told its subtree.

namespace wisp::detail {

struct SizedRank {
  int rank = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const SizedRank&, const SizedRank&) = default;
};

/// A subtree of the k-nomial tree over `count` positions, seen from its own root at `position`; position 0 is
/// the root of the operation, the others are the ranks that have something: first those with a small block,
/// so that no word for them waits behind a large block on its way. A block of `threshold` bytes or more
/// travels alone, straight from or to the root. The small blocks of a subtree travel together (a bundle), at
/// most through the subtree's root: where they reach the threshold, they go straight from or to the root of
/// the operation.
class LedTree {
 public:
  /// `subtree`: its ranks by position, the first of them its root. At position 0 that has 0 bytes.
  LedTree(int position, int count, std::span<const SizedRank> subtree, std::uint64_t threshold)
      : tree_(position, count, 0, radix_bits), count_(count), threshold_(threshold) {
    const std::size_t size = subtree.size();
    bundles_.reserve(size);
    for (const SizedRank& block : subtree) bundles_.push_back(block.bytes < threshold ? block.bytes : 0);
    for (std::size_t i = size; --i > 0;) {
      if (bundles_[i] < threshold) bundles_[parent_of(i)] += bundles_[i];
    }
    heads_.resize(size);
    for (std::size_t i = 1; i < size; ++i) {
      const std::size_t parent = parent_of(i);
      const bool is_head = bundles_[i] >= threshold || (position == 0 && parent == 0);
      heads_[i] = is_head ? i : heads_[parent];
    }
  }

  int count() const { return count_; }
  int position() const { return tree_.relative(); }
  int child_count() const { return tree_.child_count(); }
  /// Of child k, counted from this subtree's root.
  std::size_t child(int k) const { return as_size(tree_.child_offset(k)); }
  std::size_t child_size(int k) const { return as_size(tree_.child_subtree_size(k)); }

  /// Bytes of the bundle of the subtree at place i of this one.
  std::uint64_t bundle(std::size_t i) const { return bundles_[i]; }
  bool goes_to_root(std::size_t i) const { return bundles_[i] >= threshold_; }
  /// Whose bundle the block at place i is part of, if it is small: where it comes to or from the root.
  std::size_t head(std::size_t i) const { return heads_[i]; }

 private:
  static constexpr int radix_bits = 2;

  std::size_t parent_of(std::size_t i) const {
    const int position = tree_.relative() + static_cast<int>(i);
    return as_size(KnomialTree(position, count_, 0, radix_bits).parent() - tree_.relative());
  }

  KnomialTree tree_;
  int count_;
  std::uint64_t threshold_;
  std::vector<std::uint64_t> bundles_;
  std::vector<std::size_t> heads_;
};

/// What a rank is told of its subtree, in few bytes: position, count, then for each rank how far it is from
/// the one before and how many bytes it has. The first rank is the receiver.
inline std::vector<std::byte> encode_subtree(int position, int count, std::span<const SizedRank> subtree) {
  std::vector<std::byte> code;
  code.reserve(8 + 3 * subtree.size());
  append_packed(code, static_cast<std::uint64_t>(position));
  append_packed(code, static_cast<std::uint64_t>(count));
  append_packed(code, subtree.size());
  int before = subtree.front().rank;
  for (const SizedRank& block : subtree) {
    append_packed(code, without_sign(block.rank - before));
    append_packed(code, block.bytes);
    before = block.rank;
  }
  return code;
}

struct Subtree {
  int position = 0;
  int count = 0;
  std::vector<SizedRank> ranks;
};
/// Takes the code from the front of `code`, which may go on with data.
inline Subtree take_subtree(int receiver, std::span<const std::byte>& code) {
  const auto number = [&] {
    return read_packed([&] {
      const std::byte byte = code.front();
      code = code.subspan(1);
      return byte;
    });
  };
  Subtree subtree;
  subtree.position = static_cast<int>(number());
  subtree.count = static_cast<int>(number());
  subtree.ranks.resize(number());
  int before = receiver;
  for (SizedRank& block : subtree.ranks) {
    block.rank = before + static_cast<int>(with_sign(number()));
    block.bytes = number();
    before = block.rank;
  }
  return subtree;
}

}  // namespace wisp::detail
