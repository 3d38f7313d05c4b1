#include "pattern/range_counts.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "comm/pair_numbers.hpp"

namespace wisp::detail {
namespace {

TEST(RangeCountsTest, OldVersionsKeepTheirNumbers) {
  std::mt19937 random(1);
  for (const int size : {1, 2, 3, 4, 5, 16, 17, 64, 65, 1000}) {
    RangeCounts counts(size);
    std::vector<int> reference(static_cast<std::size_t>(size));
    std::vector<RangeCounts> versions;
    std::vector<std::vector<int>> references;
    for (int step = 0; step < 60; ++step) {
      versions.push_back(counts);
      references.push_back(reference);
      const int a = static_cast<int>(random() % static_cast<unsigned>(size));
      const int b = static_cast<int>(random() % static_cast<unsigned>(size));
      counts.add(std::min(a, b), std::max(a, b));
      for (int i = std::min(a, b); i <= std::max(a, b); ++i) ++reference[static_cast<std::size_t>(i)];
      if (step % 7 == 3) {  // some versions are dropped before others
        versions.erase(versions.begin() + step / 14);
        references.erase(references.begin() + step / 14);
      }
    }
    for (std::size_t v = 0; v < versions.size(); ++v) {
      for (int i = 0; i < size; ++i) {
        ASSERT_EQ(versions[v].at(i), references[v][static_cast<std::size_t>(i)]) << "size " << size;
      }
    }
  }
}

TEST(PairNumbersTest, CountRangesStridesAndLists) {
  constexpr int size = 23;
  const Group list(std::vector<int>{5, 3, 22, 0, 9});
  PairNumbers numbers(size);
  std::vector<int> reference(size);
  const auto add = [&](const Group& group) {
    numbers.add(group);
    for (int r = 0; r < group.size(); ++r) ++reference[static_cast<std::size_t>(group.to_world(r))];
  };
  add(Group(Range{3, 1, 9}));
  const PairNumbers before = numbers;
  const std::vector<int> reference_before = reference;
  add(Group(Range{1, 2, 11}));
  add(Group(Range{0, 5, 5}));
  add(Group(Range{2, 2, 3}));
  add(Group(Range{7, 4, 1}));
  add(list);
  add(list.compose(Range{1, 2, 2}));
  add(Group(Range{22, 1, 1}));
  for (int peer = 0; peer < size; ++peer) {
    EXPECT_EQ(numbers.with(peer), reference[static_cast<std::size_t>(peer)]) << "peer " << peer;
    EXPECT_EQ(before.with(peer), reference_before[static_cast<std::size_t>(peer)]);
  }
}

}  // namespace
}  // namespace wisp::detail
