#pragma once

#include <array>

#include "pattern/log2.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::detail {

/// Which ranks compare, one after the other, in a bitonic sort of any number of ranks.
///
/// To sort n ranks, sort the first half downwards and the second upwards, and merge. To merge n ranks, let
/// rank i and i + m compare, where m is the largest power of two below n, and merge the first m and the rest.
/// So partners are always a power of two apart.
///
///   (⌈log2 n⌉² + ⌈log2 n⌉) / 2 steps at most; O(log n) memory.
///   Source: Batcher 1968; for any n: Lang, "Bitonic sorting network for n not a power of 2".
class BitonicNetwork {
 public:
  struct Step {
    int partner;       ///< -1: none in this step
    bool keeps_lower;  ///< of the two items
  };

  BitonicNetwork(int rank, int size) : rank_(rank) {
    // From all ranks down to this one alone: the merges come in the opposite order.
    Merge merge{0, size, true};
    while (merge.size > 1) {
      merges_[as_size(count_++)] = merge;
      const int half = merge.size / 2;
      if (rank < merge.first + half) {
        merge = {merge.first, half, !merge.is_ascending};
      } else {
        merge = {merge.first + half, merge.size - half, merge.is_ascending};
      }
    }
  }

  bool done() const { return count_ == 0; }

  /// The next comparison of this rank.
  Step next() {
    Merge& merge = merges_[as_size(count_ - 1)];
    const int distance = 1 << floor_log2(merge.size - 1);
    const int place = rank_ - merge.first;
    Step step{-1, false};
    if (place + distance < merge.size) {
      step = {rank_ + distance, merge.is_ascending};
    } else if (place >= distance) {
      step = {rank_ - distance, !merge.is_ascending};
    }
    if (place < distance) {
      merge.size = distance;
    } else {
      merge.first += distance;
      merge.size -= distance;
    }
    if (merge.size == 1) --count_;
    return step;
  }

 private:
  struct Merge {
    int first;
    int size;
    bool is_ascending;
  };

  int rank_;
  int count_ = 0;  ///< of merges that are to come, the next one last
  std::array<Merge, 32> merges_;
};

}  // namespace wisp::detail
