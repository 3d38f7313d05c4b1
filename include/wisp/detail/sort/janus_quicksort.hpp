#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "wisp/detail/as_size.hpp"
#include "wisp/detail/sort/base_case.hpp"
#include "wisp/detail/sort/exchange.hpp"
#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/detail/sort/pivot.hpp"
#include "wisp/sort_options.hpp"

// Janus Quicksort. A group of ranks sorts an interval of output slots: it agrees on a pivot, moves the
// smaller elements to the left slots and the others to the right ones, and each side goes on alone. Slots
// never move, so every rank always has its share. Where the border between left and right falls inside a
// rank, that rank (a janus) is in both groups and works on both at once.
//
//   ranks        0    1    2    3
//   level 0   [ · · | · · | · · | · · ]
//   level 1   [ left · · · ][ right · ]      rank 1 is a janus
//                     ▲ 3 small elements on rank 0 and 1
//
// Expected O(log p) levels, each O(α log p + β n/p); then base cases of one and two ranks.
// Source: Axtmann, Wiebigke, Sanders 2018, section VII.

namespace wisp::detail {

template <class T, class Less>
class JanusQuicksort {
 public:
  /// `data` and `scratch` are this rank's slots.
  JanusQuicksort(Channel channel, Balance balance, std::span<T> data, std::span<T> scratch, Less less,
                 const SortOptions& options)
      : channel_(channel),
        balance_(balance),
        own_slots_(balance.slots(channel.rank())),
        buffers_{data, scratch},
        less_(less),
        options_(options) {}

  /// The sorted slots end up in `data`.
  Task<> run(Slot elements) {
    if (own_slots_.empty()) co_return;
    const Interval all{0, elements};
    const int last_rank = balance_.owner(elements - 1);
    Level level{all, last_rank + 1 == channel_.size() ? channel_ : channel_.range(0, last_rank), 0, 0};
    co_await sort(level);
    // Only now, so that no base case delays a larger group that one of its ranks is in, too.
    report("base cases", 0, own_slots_.size());
    std::vector<Task<>> pairs;
    for (const Level& base : base_cases_) {
      if (base.group.size() == 2) pairs.push_back(sort_pair(base));
    }
    co_await when_all(std::move(pairs));
    for (const Level& base : base_cases_) {
      if (base.group.size() > 1) continue;
      const std::span<T> sorted = elements_of(base.interval, base.buffer);
      local_sort<T>(sorted, less_);
      if (base.buffer != 0) std::copy(sorted.begin(), sorted.end(), elements_of(base.interval, 0).begin());
    }
  }

 private:
  struct Level {
    Interval interval;
    Channel group;
    int buffer;  ///< which of the two buffers holds the elements
    int depth;
  };

  std::span<T> elements_of(const Interval& interval, int buffer) const {
    const Interval own = interval & own_slots_;
    return own.empty() ? std::span<T>() : buffers_[buffer].subspan(own.first - own_slots_.first, own.size());
  }

  Task<> sort(Level level) {
    while (level.group.size() > 2) {
      const Slot small = co_await partition_level(level);
      const Slot middle = level.interval.first + small;
      const Interval left{level.interval.first, middle};
      const Interval right{middle, level.interval.last};
      const bool in_left = !(left & own_slots_).empty();
      const bool in_right = !(right & own_slots_).empty();
      level.buffer ^= 1;
      ++level.depth;
      // A janus makes one group first, its neighbor janus the other, lest creations that wait form a chain.
      Level left_level = level;
      Level right_level = level;
      const bool right_first = level.group.rank() % 2 == 1;
      if (in_right && right_first) right_level = co_await part(level, right);
      if (in_left) left_level = co_await part(level, left);
      if (in_right && !right_first) right_level = co_await part(level, right);
      if (in_left && in_right) {
        co_await when_all(sort(left_level), sort(right_level));
        co_return;
      }
      level = in_left ? left_level : right_level;
    }
    base_cases_.push_back(level);
  }

  /// The level of the ranks that have slots of `interval`.
  Task<Level> part(Level level, Interval interval) {
    const int first_of_group = balance_.owner(level.interval.first);
    const int first = balance_.owner(interval.first) - first_of_group;
    const int last = balance_.owner(interval.last - 1) - first_of_group;
    level.interval = interval;
    if (last - first + 1 <= 2 || !options_.make_group) {
      level.group = level.group.range(first, last);
    } else {
      level.group = co_await options_.make_group(level.group, first, last);
    }
    co_return level;
  }

  /// Moves small elements to the left slots; returns how many there are.
  Task<Slot> partition_level(Level level) {
    const GroupSlots slots{balance_, balance_.owner(level.interval.first), level.interval};
    const std::span<T> data = elements_of(level.interval, level.buffer);
    const Slot first = slots.begin(level.group.rank());
    const Slot total = level.interval.size();
    const int ranks = level.group.size();
    report("partition", level.depth, total);
    for (std::uint64_t attempt = 0;; ++attempt) {
      const SamplePositions positions(level.interval, options_.samples(total, ranks),
                                      options_.seed + mix(attempt));
      const Pivot<T> pivot = co_await choose_pivot<T>(level.group, slots, data, positions, less_);
      Partitioned mine = partition_by(data, first, pivot, less_);
      auto small =
          co_await exscan_total(level.group, static_cast<Slot>(mine.small), Slot{0}, std::plus<Slot>());
      if (small.total == 0) {
        // The pivot is the smallest element: alone it makes the left side, so that every level moves on.
        if (mine.pivot) {
          std::swap(data[0], data[*mine.pivot]);
          mine.small = 1;
        }
        small = {first > pivot.position ? Slot{1} : Slot{0}, 1};
      }
      const bool deterministic = options_.assignment == SortOptions::Assignment::deterministic;
      // An order that has thrown on some rank may never give a pivot near the median.
      constexpr std::uint64_t most_attempts = 64;
      if (deterministic && attempt < most_attempts && !is_even_enough(small.total, total, ranks)) continue;

      const Slot middle = level.interval.first + small.total;
      const Interval left{level.interval.first, middle};
      const Interval right{middle, level.interval.last};
      const std::span<const T> elements = data;
      HalfExchange<T> left_half{elements.first(mine.small), {}, elements_of(left, level.buffer ^ 1)};
      HalfExchange<T> right_half{elements.subspan(mine.small), {}, elements_of(right, level.buffer ^ 1)};
      if (deterministic) {
        std::vector<Slot> left_pieces(as_size(ranks));
        Slot my_small = mine.small;
        co_await allgather_on(level.group, bytes_of(my_small),
                              {left_pieces.data(), left_pieces.size() * sizeof(Slot), MPI_BYTE});
        std::vector<Slot> right_pieces = left_pieces;
        for (int r = 0; r < ranks; ++r) {
          Slot& piece = right_pieces[as_size(r)];
          piece = slots.slots_of(r).size() - piece;
        }
        const int rank = level.group.rank();
        left_half.transfers = assign_deterministically(balance_, slots.first_rank, left, left_pieces, rank);
        right_half.transfers =
            assign_deterministically(balance_, slots.first_rank, right, right_pieces, rank);
      } else {
        const Slot left_first = level.interval.first + small.before;
        const Slot right_first = middle + (first - level.interval.first - small.before);
        left_half.transfers =
            assign_greedily(balance_, slots.first_rank, {left_first, left_first + left_half.piece.size()});
        right_half.transfers =
            assign_greedily(balance_, slots.first_rank, {right_first, right_first + right_half.piece.size()});
      }
      co_await exchange<T>(level.group, std::move(left_half), std::move(right_half));
      co_return small.total;
    }
  }

  Task<> sort_pair(Level base) {
    const GroupSlots slots{balance_, balance_.owner(base.interval.first), base.interval};
    const int partner = 1 - base.group.rank();
    const std::span<T> mine = elements_of(base.interval, base.buffer);
    const std::span<T> sorted = elements_of(base.interval, 0);
    return sort_two_ranks<T>(base.group, mine, slots.slots_of(partner).size(), sorted, less_);
  }

  void report(const char* phase, int level, Slot elements) const {
    if (options_.progress) options_.progress({phase, level, elements});
  }

  Channel channel_;
  Balance balance_;
  Interval own_slots_;
  std::span<T> buffers_[2];
  Less less_;
  const SortOptions& options_;
  std::vector<Level> base_cases_;
};

}  // namespace wisp::detail
