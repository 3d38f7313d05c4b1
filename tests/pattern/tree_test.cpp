#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "pattern/knomial_tree.hpp"
#include "pattern/log2.hpp"
#include "pattern/recursive_doubling.hpp"
#include "pattern/two_tree.hpp"

namespace wisp::detail {
namespace {

TEST(KnomialTreeTest, EveryRankButTheRootIsTheChildOfItsParentOnce) {
  for (int size = 1; size <= 70; ++size) {
    for (const int radix_bits : {1, 2, 3, 5, 10}) {
      for (int root = 0; root < size; ++root) {
        std::vector<int> times(static_cast<std::size_t>(size));
        for (int rank = 0; rank < size; ++rank) {
          const KnomialTree tree(rank, size, root, radix_bits);
          ASSERT_EQ(tree.is_root(), rank == root);
          for (int k = 0; k < tree.child_count(); ++k) {
            ++times[static_cast<std::size_t>(tree.child(k))];
            ASSERT_EQ(KnomialTree(tree.child(k), size, root, radix_bits).parent(), rank);
          }
        }
        for (int rank = 0; rank < size; ++rank) {
          ASSERT_EQ(times[static_cast<std::size_t>(rank)], rank == root ? 0 : 1)
              << "size " << size << ", root " << root << ", rank " << rank;
        }
      }
    }
  }
}

TEST(KnomialTreeTest, SubtreesAreRangesThatFollowEachOther) {
  for (int size = 1; size <= 70; ++size) {
    for (const int radix_bits : {1, 2, 3, 5}) {
      for (int rank = 0; rank < size; ++rank) {
        const KnomialTree tree(rank, size, 0, radix_bits);
        int covered = 1;
        for (int k = 0; k < tree.child_count(); ++k) {
          ASSERT_EQ(tree.child_offset(k), covered);
          ASSERT_EQ(tree.child_subtree_size(k),
                    KnomialTree(tree.child(k), size, 0, radix_bits).subtree_size());
          covered += tree.child_subtree_size(k);
        }
        ASSERT_EQ(covered, tree.subtree_size());
      }
    }
  }
}

TEST(KnomialTreeTest, ABroadcastServesEveryChildOnceAndTheNextRootEarly) {
  for (const int radix_bits : {1, 2, 5}) {
    for (int size = 1; size <= 70; ++size) {
      for (int rank = 0; rank < size; ++rank) {
        const KnomialTree tree(rank, size, 0, radix_bits);
        std::vector<int> served;
        for (int i = 0; i < tree.child_count(); ++i) served.push_back(tree.served(i));
        if (!served.empty()) {
          const auto next = std::find(served.begin(), served.end(), 0);
          EXPECT_LE(next - served.begin(), (1 << radix_bits) - 1);
          if (next + 1 != served.end()) served.erase(next);
          EXPECT_TRUE(std::is_sorted(served.rbegin(), served.rend()));
        }
        std::sort(served.begin(), served.end());
        served.erase(std::unique(served.begin(), served.end()), served.end());
        EXPECT_GE(static_cast<int>(served.size()), tree.child_count() - 1);
      }
    }
  }
}

TEST(KnomialTreeTest, DepthIsTheLogarithm) {
  for (int size = 1; size <= 200; ++size) {
    const int log2 = ceil_log2(size);
    for (const int radix_bits : {1, 2, 3}) {
      for (int rank = 0; rank < size; ++rank) {
        int depth = 0;
        for (int r = rank; r != 0; ++depth) r = KnomialTree(r, size, 0, radix_bits).parent();
        ASSERT_LE(depth, (log2 + radix_bits - 1) / radix_bits);
      }
    }
  }
}

TEST(Log2Test, IsRoundedUp) {
  EXPECT_EQ(ceil_log2(1), 0);
  EXPECT_EQ(ceil_log2(2), 1);
  EXPECT_EQ(ceil_log2(5), 3);
  EXPECT_EQ(ceil_log2(8), 3);
  EXPECT_EQ(ceil_log2(9), 4);
}

TEST(RecursiveDoublingTest, SpeakersExchangeInPairsAndReachAll) {
  for (int size = 1; size <= 70; ++size) {
    std::vector<std::set<int>> heard(static_cast<std::size_t>(size));
    const auto at = [&](int rank) -> std::set<int>& { return heard[static_cast<std::size_t>(rank)]; };
    for (int rank = 0; rank < size; ++rank) {
      const RecursiveDoubling doubling(rank, size);
      at(rank).insert(rank);
      if (doubling.is_speaker() && doubling.is_paired()) at(rank).insert(doubling.pair());
    }
    for (int k = 0; k < RecursiveDoubling(size - 1, size).rounds(); ++k) {
      const auto before = heard;
      for (int rank = 0; rank < size; ++rank) {
        const RecursiveDoubling doubling(rank, size);
        if (!doubling.is_speaker()) continue;
        const int partner = doubling.partner(k);
        ASSERT_EQ(RecursiveDoubling(partner, size).partner(k), rank);
        const auto& other = before[static_cast<std::size_t>(partner)];
        // What a partner stands for lies wholly above or below, so operands can meet in rank order.
        if (partner < rank) {
          ASSERT_LT(*other.rbegin(), *before[static_cast<std::size_t>(rank)].begin());
        } else {
          ASSERT_GT(*other.begin(), *before[static_cast<std::size_t>(rank)].rbegin());
        }
        at(rank).insert(other.begin(), other.end());
      }
    }
    for (int rank = 0; rank < size; ++rank) {
      if (RecursiveDoubling(rank, size).is_speaker()) {
        ASSERT_EQ(at(rank).size(), static_cast<std::size_t>(size));
      }
    }
  }
}

/// The ranks of a subtree, in order.
void collect(const InOrderTree& tree, int rank, int size, int which, std::vector<int>& ranks) {
  if (tree.left() >= 0) collect(InOrderTree(tree.left(), size, which), tree.left(), size, which, ranks);
  ranks.push_back(rank);
  if (tree.right() >= 0) collect(InOrderTree(tree.right(), size, which), tree.right(), size, which, ranks);
}

TEST(InOrderTreeTest, BothTreesHoldAllRanksInOrderAndEachIsALeafInOne) {
  for (int size = 1; size <= 130; ++size) {
    std::vector<int> times_a_leaf(static_cast<std::size_t>(size));
    for (const int which : {0, 1}) {
      const int root = InOrderTree::root(size, which);
      std::vector<int> ranks, expected(static_cast<std::size_t>(size));
      std::iota(expected.begin(), expected.end(), 0);
      collect(InOrderTree(root, size, which), root, size, which, ranks);
      EXPECT_EQ(ranks, expected) << size << " ranks, tree " << which;
      for (int rank = 0; rank < size; ++rank) {
        const InOrderTree tree(rank, size, which);
        EXPECT_EQ(tree.is_root(), rank == root);
        if (!tree.is_root()) {
          const InOrderTree parent(tree.parent(), size, which);
          EXPECT_EQ(tree.is_right_child() ? parent.right() : parent.left(), rank);
        }
        std::vector<int> subtree;
        collect(tree, rank, size, which, subtree);
        EXPECT_EQ(tree.has_lower(), subtree.front() > 0);
        if (tree.left() < 0 && tree.right() < 0) ++times_a_leaf[static_cast<std::size_t>(rank)];
      }
    }
    for (const int times : times_a_leaf) EXPECT_GE(times, 1) << size << " ranks";
  }
}

}  // namespace
}  // namespace wisp::detail
