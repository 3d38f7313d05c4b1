#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include "wisp/detail/frame_pool.hpp"

namespace wisp::detail {

/// Numbers at positions 0 … size-1, all 0 at first: add 1 to a range, look at one position, keep old
/// versions. A copy is a version of its own; versions share what they have in common (path copying).
///
///   add 2..5    differences:  0 0 +1 0 0 0 -1 0      the number at a position is the sum of the differences
///               numbers:      0 0  1 1 1 1  0 0      up to it; a tree of fan-out 4 keeps their sums
///
/// add: O(log size) time and new memory; at: O(log size) time; copy: O(1).
/// Source: Driscoll, Sarnak, Sleator, Tarjan 1989 (path copying)
class RangeCounts {
 public:
  explicit RangeCounts(int size) {
    while (size >> (level_bits * levels_) != 0) ++levels_;
  }
  RangeCounts(const RangeCounts& other) noexcept : root_(other.root_), levels_(other.levels_) {
    retain(root_);
  }
  RangeCounts& operator=(RangeCounts other) noexcept {
    std::swap(root_, other.root_);
    std::swap(levels_, other.levels_);
    return *this;
  }
  ~RangeCounts() { release(root_); }

  /// True if nothing was ever added.
  bool is_zero() const noexcept { return root_ == nullptr; }

  void add(int first, int last, std::int64_t times = 1) {
    add_difference(first, times);
    add_difference(last + 1, -times);
  }

  std::int64_t at(int position) const noexcept {
    // Everything before the leaf of the next position.
    std::int64_t sum = 0;
    const Node* node = root_;
    for (int level = levels_ - 1; node != nullptr && level >= 0; --level) {
      const int child = (position + 1) >> (level_bits * level) & (fan_out - 1);
      sum += node->before[child];
      node = node->children[child];
    }
    return sum;
  }

 private:
  static constexpr int level_bits = 2;
  static constexpr int fan_out = 1 << level_bits;

  struct Node {
    Node* children[fan_out] = {};
    std::int64_t before[fan_out] = {};  ///< the sum of all differences in the children before this one
    std::int32_t owners = 1;

    static void* operator new(std::size_t bytes) { return FramePool::allocate(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      FramePool::release(memory, bytes);
    }
  };

  static void retain(Node* node) noexcept {
    if (node != nullptr) ++node->owners;
  }
  static void release(Node* node) noexcept {
    if (node == nullptr || --node->owners > 0) return;
    for (Node* child : node->children) release(child);
    delete node;
  }

  void add_difference(int index, std::int64_t difference) {
    Node** slot = &root_;
    for (int level = levels_ - 1; level >= 0; --level) {
      Node& node = own(*slot);
      const int child = index >> (level_bits * level) & (fan_out - 1);
      for (int later = child + 1; later < fan_out; ++later) node.before[later] += difference;
      slot = &node.children[child];
    }
  }

  /// Makes a node that other versions see a copy of this version's own.
  static Node& own(Node*& slot) {
    if (slot == nullptr) {
      slot = new Node;
    } else if (slot->owners > 1) {
      Node* copy = new Node(*slot);
      copy->owners = 1;
      for (Node* child : copy->children) retain(child);
      --slot->owners;
      slot = copy;
    }
    return *slot;
  }

  Node* root_ = nullptr;
  int levels_ = 1;
};

}  // namespace wisp::detail
