// The arithmetic of chains and splits: trees, networks, digits, medians, hashes.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "pattern/bitonic.hpp"
#include "pattern/chain_tree.hpp"
#include "pattern/digits.hpp"
#include "pattern/hash_bytes.hpp"
#include "pattern/weighted_median.hpp"
#include "split/choice.hpp"

namespace wisp::detail {
namespace {

TEST(ChainTreeTest, EveryRankIsInTheSubtreeOfItsParent) {
  for (int p = 1; p <= 65; ++p) {
    for (int root = 0; root < p; ++root) {
      int in_subtrees_of_children = 0;
      for (int r = 0; r < p; ++r) {
        const ChainTree tree(r, p, root);
        if (tree.is_root()) {
          EXPECT_EQ(tree.subtree_size(), p);
          continue;
        }
        const int parent = r + tree.inwards() * tree.reach();
        const ChainTree above(parent, p, root);
        EXPECT_EQ(above.distance() + tree.reach(), tree.distance());
        EXPECT_LE(tree.distance() + tree.subtree_size(), std::max(root, p - 1 - root) + 1);
        if (!above.is_root()) {
          EXPECT_LE(tree.distance() + tree.subtree_size(), above.distance() + above.subtree_size());
        } else {
          in_subtrees_of_children += tree.subtree_size();
        }
      }
      EXPECT_EQ(in_subtrees_of_children, p - 1);
    }
  }
}

TEST(BitonicNetworkTest, SortsEveryNumberOfItems) {
  std::mt19937 random(3);
  for (int p = 1; p <= 130; ++p) {
    std::vector<int> items(static_cast<std::size_t>(p));
    std::iota(items.begin(), items.end(), 0);
    std::shuffle(items.begin(), items.end(), random);
    std::vector<BitonicNetwork> networks;
    for (int r = 0; r < p; ++r) networks.emplace_back(r, p);
    // Each rank waits for its partner, as on a cluster.
    std::vector<BitonicNetwork::Step> next(items.size(), {-1, false});
    const auto advance = [&](std::size_t r) {
      next[r] = {-1, false};
      while (next[r].partner < 0 && !networks[r].done()) next[r] = networks[r].next();
    };
    for (std::size_t r = 0; r < items.size(); ++r) advance(r);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < items.size(); ++r) {
        if (next[r].partner < 0) continue;
        const auto other = static_cast<std::size_t>(next[r].partner);
        if (next[other].partner != static_cast<int>(r)) continue;
        EXPECT_NE(next[r].keeps_lower, next[other].keeps_lower);
        const int distance = std::abs(next[r].partner - static_cast<int>(r));
        EXPECT_EQ(distance & (distance - 1), 0) << "not a power of two";
        if ((items[r] < items[other]) != next[r].keeps_lower) std::swap(items[r], items[other]);
        advance(r);
        advance(other);
        moved = true;
      }
    }
    EXPECT_TRUE(std::is_sorted(items.begin(), items.end())) << p;
    for (const auto& step : next) EXPECT_EQ(step.partner, -1) << "waits for ever";
  }
}

TEST(DigitTest, TheHighestDigitOrdersAndTheLowestTellsApart) {
  std::mt19937_64 random(5);
  for (int k = 0; k < 10000; ++k) {
    const std::uint64_t base = random();
    const std::uint64_t mask = (std::uint64_t{2} << random() % 64) - 1;
    const std::uint64_t a = base ^ (random() & mask);
    const std::uint64_t b = base ^ (random() & mask);
    if (a == b) continue;
    const Digit highest = Digit::highest(a ^ b, 4);
    EXPECT_EQ(highest.of(a) < highest.of(b), a < b);
    const Digit lowest = Digit::lowest(a ^ b, 4);
    EXPECT_NE(lowest.of(a), lowest.of(b));
  }
}

TEST(WeightedMedianTest, AtMostHalfIsOnEitherSide) {
  std::mt19937 random(7);
  for (int k = 0; k < 1000; ++k) {
    std::vector<std::int64_t> weights(1 + random() % 9);
    for (auto& weight : weights) weight = static_cast<std::int64_t>(random() % 4);
    const std::int64_t total = std::reduce(weights.begin(), weights.end());
    const std::size_t median = weighted_median(weights);
    if (total == 0) {
      EXPECT_EQ(median, weights.size());
      continue;
    }
    ASSERT_LT(median, weights.size());
    EXPECT_GT(weights[median], 0);
    const auto at = weights.begin() + static_cast<std::ptrdiff_t>(median);
    EXPECT_LE(2 * std::reduce(weights.begin(), at), total);
    EXPECT_LE(2 * std::reduce(at + 1, weights.end()), total);
  }
}

TEST(HashBytesTest, SimilarTextsDiffer) {
  std::vector<std::uint64_t> hashes;
  for (int k = 0; k < 20000; ++k) {
    const std::string text = "node" + std::to_string(k);
    hashes.push_back(hash_bytes(std::as_bytes(std::span(text))));
    // Of one byte again and again, zeros too: only the length differs.
    const std::string filled(static_cast<std::size_t>(k % 300 + 1) * 7, static_cast<char>(k / 300));
    hashes.push_back(hash_bytes(std::as_bytes(std::span(filled))));
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

TEST(SplitChoiceTest, FewRanksGatherAndManySplit) {
  const Machine cluster;
  SplitQuestion asked{16, 30, true, false, false, true};
  EXPECT_EQ(choose_split(asked, cluster), "allgather");
  asked.ranks = 100000;
  EXPECT_EQ(choose_split(asked, cluster), "hash-64");
  asked.orders = true;
  EXPECT_EQ(choose_split(asked, cluster), "hash-64");
  asked.splits = false;
  EXPECT_EQ(choose_split(asked, cluster), "bitonic");
  asked.are_integers = true;
  EXPECT_EQ(choose_split(asked, cluster), "radix");
  // Texts, whose length all but hash-64 agree on first.
  asked = {1000, 50, true, true, false, true};
  EXPECT_EQ(choose_split(asked, cluster), "allgather");
  asked.has_texts = true;
  EXPECT_EQ(choose_split(asked, cluster), "hash-64");
  asked = {100000, 30, true, false, false, false};
  EXPECT_EQ(choose_split(asked, cluster), "bitonic");
  asked.ranks = 32;
  Machine shared;
  shared.shares_cores = true;
  shared.ranks_per_core = 16;
  EXPECT_EQ(choose_split(asked, shared), "gather-scatter");
}

}  // namespace
}  // namespace wisp::detail
