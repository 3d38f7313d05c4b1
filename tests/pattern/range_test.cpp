#include "wisp/range.hpp"

#include <gtest/gtest.h>

namespace wisp {
namespace {

TEST(RangeTest, MapsToTheParentAndBack) {
  const Range range = Range::between(3, 15, 4);  // 3 7 11 15
  EXPECT_EQ(range.size, 4);
  for (int rank = 0; rank < range.size; ++rank) EXPECT_EQ(range.from_parent(range.to_parent(rank)), rank);
  for (const int outside : {-1, 0, 4, 8, 16, 19}) EXPECT_EQ(range.from_parent(outside), -1);
}

TEST(RangeTest, TheLastRankNeedNotBeHitByTheStride) {
  EXPECT_EQ(Range::between(0, 9, 4).size, 3);
}

TEST(RangeTest, ARangeThatEndsBeforeItBeginsIsEmpty) {
  EXPECT_TRUE(Range::between(5, 4).empty());
  EXPECT_EQ(Range::between(5, 4).from_parent(5), -1);
}

TEST(RangeTest, RangesOfRangesAreRangesOfTheParent) {
  const Range outer = Range::between(2, 50, 3);
  const Range inner = Range::between(1, 11, 2);
  const Range both = outer.compose(inner);
  ASSERT_EQ(both.size, inner.size);
  for (int rank = 0; rank < both.size; ++rank) {
    EXPECT_EQ(both.to_parent(rank), outer.to_parent(inner.to_parent(rank)));
  }
}

}  // namespace
}  // namespace wisp
