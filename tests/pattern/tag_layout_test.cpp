#include "comm/tag_layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace wisp::detail {
namespace {

TEST(TagLayoutTest, TagsStayWithinTheLeastBoundOfAnyMpi) {
  const TagLayout tags(32767);
  EXPECT_EQ(tags.upper_bound(), 4095);
  EXPECT_LE(tags.from_any(tags.encode(TagLayout::Lane::own_tag, tags.upper_bound()), 1), 32767);
}

TEST(TagLayoutTest, NoTwoLanesShareATag) {
  const TagLayout tags(32767);
  std::set<int> seen;
  for (const int number : {0, 1, 77, tags.upper_bound()}) {
    const int sequence = tags.encode_sequence(static_cast<std::uint32_t>(number));
    const int own = tags.encode(TagLayout::Lane::own_tag, number);
    for (const int tag :
         {tags.encode(TagLayout::Lane::point_to_point, number), sequence, own, tags.from_any(sequence, 0),
          tags.from_any(sequence, 1), tags.from_any(own, 0), tags.from_any(own, 1)}) {
      EXPECT_TRUE(seen.insert(tag).second) << tag;
      EXPECT_GE(tag, 0);
      EXPECT_EQ(tags.number(tag), number);
    }
  }
}

TEST(TagLayoutTest, OnlyTheUsersMessagesMatchAnyTag) {
  const TagLayout tags((1 << 23) - 1);
  EXPECT_TRUE(tags.is_users(tags.encode(TagLayout::Lane::point_to_point, tags.upper_bound())));
  EXPECT_FALSE(tags.is_users(tags.encode_sequence(0)));
  EXPECT_FALSE(tags.is_users(tags.encode(TagLayout::Lane::own_tag, 0)));
}

TEST(TagLayoutTest, SequenceNumbersWrapAround) {
  const TagLayout tags(32767);
  EXPECT_EQ(tags.encode_sequence(4096 + 5), tags.encode_sequence(5));
}

}  // namespace
}  // namespace wisp::detail
