#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/sort/exscan_total.hpp"
#include "wisp/detail/sort/order.hpp"
#include "wisp/detail/sort/partition.hpp"
#include "wisp/detail/sort/sampling.hpp"

// The pivot of a level: the median of a sample. Everybody knows the positions of all samples, so each rank
// sends up the tree just the elements of its subtree, and rank 0 sends the median down.
//
//   ▲ samples of subtrees     ▼ (key, position)        2 ⌈log_k p⌉ α + O(samples) β

namespace wisp::detail {

/// The ranks of a group and the slots that they sort: rank r of the group has slots_of(r).
struct GroupSlots {
  Balance balance;
  int first_rank;
  Interval interval;

  Interval slots_of(int rank) const { return balance.slots(first_rank + rank) & interval; }
  /// Where rank r's slots begin.
  Slot begin(int rank) const {
    return std::clamp(balance.begin(first_rank + rank), interval.first, interval.last);
  }
};

template <class T, class Less>
Pivot<T> median_of(std::vector<T>& samples, const SamplePositions& positions, Less less) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  use_unguarded(less, [&](const auto& unguarded) {
    std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
      if (unguarded(samples[a], samples[b])) return true;
      return !unguarded(samples[b], samples[a]) && a < b;
    });
  });
  return {samples[*middle], positions.position(*middle)};
}

template <class T, class Less>
Task<Pivot<T>> choose_pivot(Channel channel, GroupSlots slots, std::span<const T> data,
                            SamplePositions positions, Less less) {
  const TreeNeighbors tree = tree_neighbors(channel);
  const auto samples_before = [&](int rank) { return positions.count_before(slots.begin(rank)); };
  const Slot first = samples_before(channel.rank());
  const Slot own_end = samples_before(channel.rank() + 1);
  std::vector<T> samples(samples_before(tree.end) - first);
  for (Slot k = first; k < own_end; ++k) {
    samples[k - first] = data[positions.position(k) - slots.begin(channel.rank())];
  }
  Posts receives;
  for (std::size_t c = 0; c < tree.children.size(); ++c) {
    const Slot begin = samples_before(tree.children[c]);
    const Slot count = samples_before(tree.child_end(c)) - begin;
    if (count == 0) continue;
    receives.add(channel.post_receive({samples.data() + (begin - first), count * sizeof(T), MPI_BYTE},
                                      tree.children[c]));
  }
  co_await receives;
  if (tree.parent >= 0 && !samples.empty()) {
    co_await channel.post_send({samples.data(), samples.size() * sizeof(T), MPI_BYTE}, tree.parent);
  }
  Pivot<T> pivot;
  if (tree.parent < 0) pivot = median_of(samples, positions, less);
  co_await bcast_on(channel, bytes_of(pivot), 0);
  co_return pivot;
}

}  // namespace wisp::detail
