#include "comm/code_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace wisp::detail {
namespace {

const auto nobody = [](auto) {};

TEST(CodeBlocksTest, TheFirstNumbersHaveTheirOwnCodesAndLaterOnesThoseOfTheirBlock) {
  CodeBlocks blocks(8);
  for (int number = 1; number <= 4; ++number) EXPECT_EQ(blocks.code_of(number), number - 1);
  EXPECT_EQ(blocks.code_of(5), -1);
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
  CodeBlocks blocks(8);  // 4 are given
  blocks.add(10, {4, 2, 0});
  const std::vector<bool> none_made = blocks.held(0, nobody);
  EXPECT_EQ(std::count(none_made.begin(), none_made.end(), true), 5);
  const std::vector<bool> expected = {true, true, false, false, false, false, false, false};
  const std::vector<bool> held = blocks.held(11, [](auto mark) {
    mark(2, 0);  // code 1
    mark(7, 0);  // has none
  });
  EXPECT_EQ(held, expected);  // 12 is not made yet: code 0
  const std::vector<bool> alive = {false, false, true, false, false, false, false, false};
  EXPECT_EQ(blocks.held(12, [](auto mark) { mark(11, 0); }), alive);
  EXPECT_EQ(blocks.code_of(11), 2);
  EXPECT_EQ(blocks.held(12, nobody), std::vector<bool>(8));
  EXPECT_EQ(blocks.code_of(11), -1);  // the block is forgotten
}

TEST(CodeBlocksTest, ExtensionsAreHeldWhileTheirCommunicatorMayStillMakeThem) {
  const CodeBlocks::Number third = CodeBlocks::extension(5, 3);
  EXPECT_LT(third, 0);
  EXPECT_EQ(CodeBlocks::extended(third), 5);
  EXPECT_EQ(CodeBlocks::extension_of(third), 3);
  const auto code_of_third = [&](CodeBlocks::Number created, auto for_each_alive) {
    CodeBlocks blocks(8);
    blocks.add(third, {7});
    EXPECT_EQ(blocks.room_from(CodeBlocks::extension(6, 1), 100), 1);
    EXPECT_EQ(blocks.code_of(third), 7);
    return bool(blocks.held(created, for_each_alive)[7]);
  };
  EXPECT_TRUE(code_of_third(4, nobody));                               // its communicator is not made yet
  EXPECT_TRUE(code_of_third(9, [](auto mark) { mark(5, 2); }));        // two extensions are made
  EXPECT_FALSE(code_of_third(9, [](auto mark) { mark(5, 3); }));       // the third was made, and dropped
  EXPECT_TRUE(code_of_third(9, [=](auto mark) { mark(third, -1); }));  // it is alive
  EXPECT_FALSE(code_of_third(9, nobody));
}

TEST(CodeBlocksTest, ABlockLeavesAQuarterOfTheFreeCodesButTakesOne) {
  EXPECT_EQ(choose_codes(std::vector<bool>(8), 100), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(choose_codes(std::vector<bool>(8), 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(choose_codes({true, true, false}, 100), std::vector<int>{2});
  EXPECT_TRUE(choose_codes({true, true}, 100).empty());
}

}  // namespace
}  // namespace wisp::detail
