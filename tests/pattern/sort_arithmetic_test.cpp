#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "wisp/detail/balance.hpp"
#include "wisp/detail/sort/assignment.hpp"
#include "wisp/detail/sort/partition.hpp"
#include "wisp/detail/sort/sampling.hpp"

namespace wisp::detail {
namespace {

TEST(BalanceTest, SharesDifferByOneAtMostAndOwnersMatch) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    for (Slot elements = 0; elements <= 65; ++elements) {
      const Balance balance(elements, ranks);
      Slot slot = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Slot share = balance.slots(rank).size();
        ASSERT_TRUE(share == elements / static_cast<Slot>(ranks) ||
                    share == elements / static_cast<Slot>(ranks) + 1);
        for (Slot i = 0; i < share; ++i) ASSERT_EQ(balance.owner(slot++), rank);
      }
      ASSERT_EQ(slot, elements);
    }
  }
}

TEST(BalanceTest, CoversAVectorWithPiecesThatDifferByOne) {
  for (const std::size_t count : {0u, 1u, 7u, 64u, 1001u}) {
    for (const int parts : {1, 2, 3, 8, 100}) {
      const Balance pieces(count, parts);
      EXPECT_EQ(pieces.begin(0), 0U);
      EXPECT_EQ(pieces.begin(parts), count);
      for (int part = 0; part < parts; ++part) {
        EXPECT_LE(pieces.size(part), pieces.size(0));
        EXPECT_GE(pieces.size(part) + 1, pieces.size(0));
      }
    }
  }
}

TEST(SamplePositionsTest, PositionsAscendAndCountsAgree) {
  for (const Interval interval : {Interval{0, 1}, Interval{5, 12}, Interval{100, 1123}}) {
    for (const Slot count : {1u, 2u, 7u, 16u, 500u}) {
      const SamplePositions positions(interval, count, 42);
      ASSERT_EQ(positions.count(), std::min(count, interval.size()));
      std::vector<Slot> all;
      for (Slot k = 0; k < positions.count(); ++k) all.push_back(positions.position(k));
      ASSERT_TRUE(std::is_sorted(all.begin(), all.end()));
      ASSERT_GE(all.front(), interval.first);
      ASSERT_LT(all.back(), interval.last);
      for (Slot slot = interval.first; slot <= interval.last; ++slot) {
        const auto before = std::lower_bound(all.begin(), all.end(), slot) - all.begin();
        ASSERT_EQ(positions.count_before(slot), static_cast<Slot>(before)) << slot;
      }
    }
  }
}

TEST(PartitionTest, SplitsByKeyAndThenByPosition) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::size_t size = 1 + random() % 12;
    std::vector<int> data(size);
    for (int& element : data) element = static_cast<int>(random() % 3);
    const Slot first = 100;
    const Slot position = 95 + random() % 22;
    int key = static_cast<int>(random() % 3);
    const bool here = position >= first && position < first + size;
    if (here) key = data[position - first];
    std::size_t expected = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (data[i] < key || (data[i] == key && first + i < position)) ++expected;
    }
    std::vector<int> moved = data;
    const Partitioned result =
        partition_by(std::span(moved), first, Pivot<int>{key, position}, std::less<int>());
    ASSERT_EQ(result.small, expected);
    ASSERT_EQ(result.pivot.has_value(), here);
    if (here) {
      ASSERT_GE(*result.pivot, result.small);
      ASSERT_EQ(moved[*result.pivot], key);
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (i < expected)
        ASSERT_LE(moved[i], key);
      else
        ASSERT_GE(moved[i], key);
    }
    std::sort(moved.begin(), moved.end());
    std::sort(data.begin(), data.end());
    ASSERT_EQ(moved, data);
  }
}

/// A level of the sort: an interval of slots, and how many small elements each rank of its group has.
struct TestLevel {
  Balance balance;
  Interval interval;
  int first_rank;
  std::vector<Slot> small;
  std::vector<Slot> large;
  Slot total_small;
};

TestLevel random_level(std::mt19937& random, int ranks, Slot per_rank, bool even) {
  const Balance balance(per_rank * static_cast<Slot>(ranks + 2) + random() % static_cast<unsigned>(ranks),
                        ranks + 2);
  // The group's first and last rank may have but a part of their slots in it.
  const Interval first = balance.slots(1);
  const Interval last = balance.slots(ranks);
  TestLevel level{
      balance, {first.last - 1 - random() % first.size(), last.first + 1 + random() % last.size()}, 1, {}, {},
      0};
  level.interval.last = std::min(level.interval.last, last.last);
  for (;;) {
    level.small.clear();
    level.large.clear();
    level.total_small = 0;
    for (int rank = 1; rank <= ranks; ++rank) {
      const Slot size = (balance.slots(rank) & level.interval).size();
      // Pieces of all kinds: none, a few, half, nearly all.
      const auto kind = random() % 5;
      Slot piece = kind == 0   ? 0
                   : kind == 1 ? size
                   : kind == 2 ? random() % (size + 1)
                   : kind == 3 ? size / 4 - std::min<Slot>(size / 4, random() % 3)
                               : size - std::min<Slot>(size, size / 4 + random() % 2);
      level.small.push_back(piece);
      level.large.push_back(size - piece);
      level.total_small += piece;
    }
    const Slot total = level.interval.size();
    if (level.total_small == 0 || level.total_small == total) continue;
    if (!even || is_even_enough(level.total_small, total, ranks)) return level;
  }
}

using Assign =
    std::function<std::vector<Transfer>(const TestLevel&, const Interval&, const std::vector<Slot>&, int)>;

/// Checks that both halves fill their slots exactly; returns the most messages that a rank sends or receives.
int check_level(const TestLevel& level, const Assign& assign) {
  const int ranks = static_cast<int>(level.small.size());
  std::map<int, int> sent, received;
  const Slot middle = level.interval.first + level.total_small;
  for (const bool is_left : {true, false}) {
    const Interval half =
        is_left ? Interval{level.interval.first, middle} : Interval{middle, level.interval.last};
    const std::vector<Slot>& pieces = is_left ? level.small : level.large;
    std::vector<Slot> arrived(static_cast<std::size_t>(ranks));
    for (int source = 0; source < ranks; ++source) {
      Slot assigned = 0;
      for (const Transfer& transfer : assign(level, half, pieces, source)) {
        assigned += transfer.count;
        arrived[static_cast<std::size_t>(transfer.target)] += transfer.count;
        if (transfer.target != source) {
          ++sent[source];
          ++received[transfer.target];
        }
      }
      EXPECT_EQ(assigned, pieces[static_cast<std::size_t>(source)]);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const Slot room = (level.balance.slots(level.first_rank + rank) & half).size();
      EXPECT_EQ(arrived[static_cast<std::size_t>(rank)], room);
    }
  }
  int most = 0;
  for (const auto* counts : {&sent, &received}) {
    for (const auto& [rank, count] : *counts) most = std::max(most, count);
  }
  return most;
}

TEST(AssignmentTest, GreedyFillsEverySlot) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const TestLevel level =
        random_level(random, 3 + static_cast<int>(random() % 40), 1 + random() % 40, false);
    check_level(level,
                [](const TestLevel& l, const Interval& half, const std::vector<Slot>& pieces, int source) {
                  const Slot before = std::accumulate(pieces.begin(), pieces.begin() + source, Slot{0});
                  const Slot first = half.first + before;
                  return assign_greedily(l.balance, l.first_rank,
                                         {first, first + pieces[static_cast<std::size_t>(source)]});
                });
  }
}

TEST(AssignmentTest, DeterministicSendsAndReceivesAtMostEightMessages) {
  std::mt19937 random(7);
  int most = 0;
  for (int round = 0; round < 20000; ++round) {
    const int ranks = 3 + static_cast<int>(random() % 60);
    const TestLevel level = random_level(random, ranks, 1 + random() % 200, true);
    const int messages = check_level(
        level, [](const TestLevel& l, const Interval& half, const std::vector<Slot>& pieces, int source) {
          return assign_deterministically(l.balance, l.first_rank, half, pieces, source);
        });
    ASSERT_LE(messages, 8) << ranks << " ranks, " << level.total_small << " of " << level.interval.size();
    most = std::max(most, messages);
  }
  EXPECT_GE(most, 6) << "the levels tried are too easy to show the bound";
}

}  // namespace
}  // namespace wisp::detail
