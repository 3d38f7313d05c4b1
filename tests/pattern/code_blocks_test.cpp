#include "comm/code_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace wisp::detail {
namespace {

const auto nobody = [](auto) {};

TEST(CodeBlocksTest, TheFirstNumbersHaveTheirOwnCodesAndLaterOnesThoseOfTheirBlock) {
  CodeBlocks blocks(8);
  for (int number = 1; number <= 8; ++number) EXPECT_EQ(blocks.code_of(number), number - 1);
  EXPECT_EQ(blocks.code_of(9), -1);
  blocks.add(20, {3, 5});
  blocks.add(12, {7, 0, 1});
  EXPECT_EQ(blocks.code_of(11), -1);
  EXPECT_EQ(blocks.code_of(12), 7);
  EXPECT_EQ(blocks.code_of(14), 1);
  EXPECT_EQ(blocks.code_of(15), -1);
  EXPECT_EQ(blocks.code_of(21), 5);
  EXPECT_EQ(blocks.code_of(22), -1);
  EXPECT_EQ(blocks.room_from(9, 100), 3);
  EXPECT_EQ(blocks.room_from(15, 2), 2);
  EXPECT_EQ(blocks.room_from(22, 100), 100);
}

TEST(CodeBlocksTest, HeldIsWhatIsAliveAndWhatIsYetToBeMade) {
  CodeBlocks blocks(6);
  blocks.add(10, {4, 2, 0});
  const std::vector<bool> none_made = blocks.held(0, nobody);
  EXPECT_EQ(std::count(none_made.begin(), none_made.end(), true), 6);
  const std::vector<bool> expected = {true, true, false, false, false, false};
  EXPECT_EQ(blocks.held(11,
                        [](auto mark) {
                          mark(2);  // code 1
                          mark(7);  // has none
                        }),
            expected);  // 12 is not made yet: code 0
  const std::vector<bool> alive = {false, false, true, false, false, false};
  EXPECT_EQ(blocks.held(12, [](auto mark) { mark(11); }), alive);
  EXPECT_EQ(blocks.code_of(11), 2);
  EXPECT_EQ(blocks.held(12, nobody), std::vector<bool>(6));
  EXPECT_EQ(blocks.code_of(11), -1);  // the block is forgotten
}

TEST(CodeBlocksTest, ABlockLeavesAQuarterOfTheFreeCodesButTakesOne) {
  EXPECT_EQ(choose_codes(std::vector<bool>(8), 100), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(choose_codes(std::vector<bool>(8), 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(choose_codes({true, true, false}, 100), std::vector<int>{2});
  EXPECT_TRUE(choose_codes({true, true}, 100).empty());
}

}  // namespace
}  // namespace wisp::detail
