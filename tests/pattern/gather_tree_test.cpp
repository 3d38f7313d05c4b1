#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "pattern/led_tree.hpp"
#include "pattern/ordered_tree.hpp"

namespace wisp::detail {
namespace {

using Sizes = std::vector<std::uint64_t>;

auto bytes_of(const Sizes& sizes) {
  return [&sizes](int rank) { return sizes[static_cast<std::size_t>(rank)]; };
}

TEST(OrderedHypercubeTest, EveryCubeHasItsSiblingsSiblingAndOneFixedRoot) {
  for (int p = 1; p <= 70; ++p) {
    for (const int root : {0, p / 3, p - 1}) {
      const OrderedHypercube cubes(p, root);
      EXPECT_EQ(cubes.cube_of(root, cubes.dimensions()), (Cube{0, p - 1}));
      for (int d = 0; d < cubes.dimensions(); ++d) {
        for (int rank = 0; rank < p; ++rank) {
          const Cube cube = cubes.cube_of(rank, d);
          EXPECT_TRUE(cube.contains(rank));
          EXPECT_TRUE(cube.contains(cubes.fixed_root(cube)));
          if (const auto sibling = cubes.sibling_of(cube, d)) {
            EXPECT_EQ(cubes.sibling_of(*sibling, d), cube);
            EXPECT_EQ(join(cube, *sibling), cubes.cube_of(rank, d + 1));
          } else {
            EXPECT_EQ(cube, cubes.cube_of(rank, d + 1));
          }
        }
      }
    }
  }
}

TEST(OrderedTreeTest, EqualBlocksMakeABinomialTreeOfConsecutiveRanks) {
  for (int p = 1; p <= 130; ++p) {
    for (const int root : {0, p / 2, p - 1}) {
      const OrderedHypercube cubes(p, root);
      std::vector<OrderedNode> nodes;
      for (int rank = 0; rank < p; ++rank) nodes.push_back(node_of_equal(cubes, rank, 8, no_threshold));
      int edges = 0;
      for (int rank = 0; rank < p; ++rank) {
        const OrderedNode& node = nodes[static_cast<std::size_t>(rank)];
        EXPECT_EQ(node.parent == -1, rank == root);
        Cube covered{rank, rank};
        for (const OrderedNode::Child& child : node.children) {
          const OrderedNode& theirs = nodes[static_cast<std::size_t>(child.record.gather_root)];
          EXPECT_EQ(theirs.parent, rank);
          EXPECT_EQ(theirs.cube, child.cube);
          EXPECT_TRUE(child.cube.last + 1 == covered.first || covered.last + 1 == child.cube.first);
          covered = join(covered, child.cube);
          ++edges;
        }
        EXPECT_EQ(covered, node.cube);
        EXPECT_LE(node.children.size(), static_cast<std::size_t>(cubes.dimensions()));
      }
      EXPECT_EQ(edges, p - 1);
      EXPECT_EQ(nodes[static_cast<std::size_t>(root)].cube, (Cube{0, p - 1}));
    }
  }
}

TEST(OrderedTreeTest, TheRecordOfEqualBlocksIsThatOfAnyBlocks) {
  for (int p = 1; p <= 70; ++p) {
    for (const int root : {0, p / 2, p - 1}) {
      for (const std::uint64_t threshold :
           {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{9}, std::uint64_t{30}, no_threshold}) {
        const OrderedHypercube cubes(p, root);
        for (const OrderedNode::Child& child : node_of_equal(cubes, root, 8, threshold).children) {
          std::vector<StraightCube> straight, expected;
          const CubeRecord record = record_of_equal(cubes, child.cube, 8, threshold, &straight);
          const CubeRecord of_any = record_of(
              cubes, child.cube, threshold, [](int) { return std::uint64_t{8}; }, expected);
          EXPECT_EQ(record.remaining, of_any.remaining);
          EXPECT_EQ(record.gather_root, of_any.gather_root);
          ASSERT_EQ(straight.size(), expected.size());
          for (std::size_t i = 0; i < straight.size(); ++i) {
            EXPECT_EQ(straight[i].cube, expected[i].cube);
            EXPECT_EQ(straight[i].gather_root, expected[i].gather_root);
            EXPECT_EQ(node_of_equal(cubes, straight[i].gather_root, 8, threshold).parent, root);
          }
        }
      }
    }
  }
}

TEST(OrderedTreeTest, BlocksLieInRankOrder) {
  // Node 5 of ranks 3..8: 4 joins first, then 3, then 6..8.
  OrderedNode node;
  const auto child = [](Cube cube, std::uint64_t bytes) {
    return OrderedNode::Child{cube, {bytes, {}, cube.last, 0}};
  };
  node.children = {child({4, 4}, 10), child({3, 3}, 7), child({6, 8}, 100)};
  const OrderedPlaces places = places_at(node, 5, 1);
  EXPECT_EQ(places.own, 17U);
  EXPECT_EQ(places.children, (std::vector<std::uint64_t>{7, 0, 18}));
  EXPECT_EQ(places.total, 118U);
}

TEST(RemainingTest, WhatReachesTheThresholdGoesStraightToTheRoot) {
  const Sizes sizes = {1, 2, 9, 0, 3, 3, 1};
  const Remaining remaining(bytes_of(sizes), 6);
  std::vector<int> ranks;
  EXPECT_EQ(remaining.left_over({0, 3}, ranks), 3U);
  EXPECT_EQ(ranks, (std::vector<int>{0, 1}));
  ranks.clear();
  EXPECT_EQ(remaining.left_over({4, 6}, ranks), 1U) << "4 and 5 have the threshold together";
  EXPECT_EQ(ranks, (std::vector<int>{6}));
  ranks.clear();
  EXPECT_EQ(remaining.joined({4, 5}, ranks), 6U);
  EXPECT_EQ(ranks, (std::vector<int>{4, 5}));
}

TEST(BlockSumsTest, TheRankWhoseSizeDiffersIsFound) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Sizes expected(static_cast<std::size_t>(2 + round % 40));
    for (std::uint64_t& size : expected) size = random() % 100;
    Sizes sizes = expected;
    const auto wrong = static_cast<std::size_t>(random() % sizes.size());
    sizes[wrong] = expected[wrong] + 1 + random() % 50;
    const int last = static_cast<int>(sizes.size()) - 1;
    const auto found = find_disagreement(sums_of(0, last, bytes_of(sizes)), 0, last, bytes_of(expected));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rank, static_cast<int>(wrong));
    EXPECT_EQ(found->bytes, sizes[wrong]);
    EXPECT_EQ(found->expected, expected[wrong]);
  }
}

TEST(BlockSumsTest, ErrorsThatCancelAreStillSeen) {
  const Sizes expected = {10, 10, 10, 10};
  const Sizes sizes = {11, 8, 11, 10};  // neither Σ m nor Σ r m differs: 1 - 2 + 1, and 0 - 2 + 2
  EXPECT_FALSE(sums_of(0, 3, bytes_of(sizes)) == sums_of(0, 3, bytes_of(expected)));
  EXPECT_FALSE(find_disagreement(sums_of(0, 3, bytes_of(sizes)), 0, 3, bytes_of(expected)));
}

std::vector<SizedRank> some_ranks(int count, std::uint64_t seed, std::uint64_t largest) {
  std::mt19937_64 random(seed);
  std::vector<SizedRank> ranks = {{7, 0}};
  int rank = 0;
  for (int i = 1; i < count; ++i) {
    rank += 1 + static_cast<int>(random() % 300);
    ranks.push_back({rank, 1 + random() % largest});
  }
  return ranks;
}

TEST(LedTreeTest, EveryRankSeesInItsSubtreeWhatTheRootSees) {
  for (const int count : {1, 2, 3, 5, 16, 17, 64, 65, 300}) {
    for (const std::uint64_t threshold : {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{400}}) {
      const std::vector<SizedRank> ranks = some_ranks(count, 3, 100);
      const LedTree all(0, count, ranks, threshold);
      std::uint64_t at_root = 0;  // bytes that come to it, in bundles and large blocks
      for (std::size_t i = 1; i < ranks.size(); ++i) {
        if (all.head(i) == i) at_root += all.bundle(i);
        if (ranks[i].bytes >= threshold) at_root += ranks[i].bytes;
      }
      EXPECT_EQ(at_root,
                std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0},
                                [](std::uint64_t sum, const SizedRank& r) { return sum + r.bytes; }));
      // Down the tree, each node makes its children's from its own.
      std::vector<std::pair<std::size_t, LedTree>> nodes = {{0, all}};
      std::size_t seen = 0;
      while (!nodes.empty()) {
        const auto [place, tree] = nodes.back();
        nodes.pop_back();
        ++seen;
        EXPECT_EQ(tree.bundle(0), all.bundle(place));
        for (int k = 0; k < tree.child_count(); ++k) {
          const std::size_t child = place + tree.child(k);
          const std::span<const SizedRank> part = std::span(ranks).subspan(child, tree.child_size(k));
          EXPECT_EQ(tree.bundle(tree.child(k)), all.bundle(child));
          EXPECT_EQ(tree.goes_to_root(tree.child(k)), all.goes_to_root(child));
          nodes.emplace_back(child, LedTree(static_cast<int>(child), count, part, threshold));
        }
      }
      EXPECT_EQ(seen, ranks.size());
    }
  }
}

TEST(LedTreeTest, ASubtreeSurvivesItsEncoding) {
  std::vector<SizedRank> ranks = some_ranks(40, 9, std::uint64_t{1} << 40);
  ranks.push_back({2, 5});  // ranks with large blocks begin again from below
  std::vector<std::byte> code = encode_subtree(12, 500, ranks);
  code.push_back(std::byte{42});
  std::span<const std::byte> rest = code;
  const Subtree subtree = take_subtree(ranks.front().rank, rest);
  EXPECT_EQ(subtree.position, 12);
  EXPECT_EQ(subtree.count, 500);
  EXPECT_EQ(subtree.ranks, ranks);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0], std::byte{42});
  const std::vector<SizedRank> dense = {{5, 4}, {6, 4}, {7, 4}};
  EXPECT_EQ(encode_subtree(1, 4, dense).size(), 3U + 6U) << "two bytes for a rank";
}

}  // namespace
}  // namespace wisp::detail
