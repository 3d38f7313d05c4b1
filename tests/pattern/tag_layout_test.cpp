#include "comm/tag_layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace wisp::detail {
namespace {

using Kind = TagLayout::Kind;
using Lane = TagLayout::Lane;

constexpr int least_bound_of_any_mpi = 32767;
constexpr int bounds[] = {least_bound_of_any_mpi, (1 << 20) - 1, (1 << 23) - 1, (1 << 28) - 1, 2147483647};

TEST(TagLayoutTest, TagsStayWithinTheBoundOfMpi) {
  for (const int bound : bounds) {
    const TagLayout tags(bound);
    for (const Kind kind : {Kind::raw, Kind::isolated}) {
      int largest = tags.in_lane(tags.encode(kind, Lane::own_tag, tags.upper_bound(kind)), 1);
      if (kind == Kind::isolated) largest = mpi_tag(tags.with_code(largest, tags.code_count() - 1));
      EXPECT_LE(largest, bound);
      EXPECT_GT(largest, 0);
    }
  }
}

TEST(TagLayoutTest, IsolatedTagsReachWhatMpiGuaranteesWhereThereIsRoom) {
  EXPECT_EQ(TagLayout(2147483647).upper_bound(Kind::isolated), 32767);
  EXPECT_EQ(TagLayout((1 << 28) - 1).upper_bound(Kind::isolated), 32767);
  EXPECT_EQ(TagLayout(2147483647).code_count(), 4096);
  EXPECT_EQ(TagLayout((1 << 28) - 1).code_count(), 512);
  EXPECT_EQ(TagLayout(least_bound_of_any_mpi).code_count(), 32);
  EXPECT_EQ(TagLayout(least_bound_of_any_mpi).numbered_count(), 23);
  EXPECT_EQ(TagLayout(least_bound_of_any_mpi).named_count(), 7);
  EXPECT_EQ(TagLayout(least_bound_of_any_mpi, 4).numbered_count(), 23 + 3 * 16);
  EXPECT_EQ(TagLayout(least_bound_of_any_mpi, 4).named_count(), 7 + 3 * 16);
}

TEST(TagLayoutTest, NoTwoLanesKindsOrCodesShareATag) {
  for (const int bound : bounds) {
    const TagLayout tags(bound);
    std::set<WireTag> seen;
    for (const Kind kind : {Kind::raw, Kind::isolated}) {
      for (const int number : {0, 1, 7, tags.upper_bound(kind) / 2}) {
        const int counted = tags.encode(kind, Lane::numbered, number);
        const int own = tags.encode(kind, Lane::own_tag, number);
        for (const int bare :
             {tags.encode(kind, Lane::point_to_point, number), tags.encode(kind, Lane::creation, number),
              counted, own, tags.in_lane(counted, 0), tags.in_lane(counted, 1), tags.in_lane(own, 0),
              tags.in_lane(own, 1)}) {
          for (const int code : {0, 1, tags.code_count() - 1}) {
            if (kind == Kind::raw && code > 0) continue;
            const WireTag tag = tags.with_code(bare, code);
            EXPECT_TRUE(seen.insert(tag).second) << tag;
            EXPECT_EQ(tags.number(tag), number);
            EXPECT_EQ(tags.kind_of(tag), kind);
          }
        }
      }
    }
  }
}

TEST(TagLayoutTest, ARawTagOfTheUserIsTheTagOnTheWire) {
  const TagLayout tags(least_bound_of_any_mpi);
  EXPECT_EQ(tags.encode(Kind::raw, Lane::point_to_point, 1234), 1234);
}

TEST(TagLayoutTest, CountedCollectivesWrapAroundAndDoNotMeetPersistentOnes) {
  const TagLayout tags(least_bound_of_any_mpi);
  for (const Kind kind : {Kind::raw, Kind::isolated}) {
    std::set<int> counted, persistent;
    for (std::uint32_t i = 0; i < 5000; ++i) counted.insert(tags.encode_count(kind, i));
    for (std::uint32_t i = 0; i < tags.persistent_count(kind); ++i) {
      persistent.insert(tags.encode_persistent_count(kind, i));
    }
    for (const int tag : counted) EXPECT_EQ(persistent.count(tag), 0U);
    EXPECT_EQ(counted.size(), static_cast<std::size_t>(tags.upper_bound(kind) + 1) / 2);
    EXPECT_EQ(persistent.size(), counted.size());
  }
}

TEST(TagLayoutTest, NumberedAndNamedCodesDifferFromEachOtherAndFromThoseOfRootAndService) {
  for (const int mpi_comms : {1, 2, 5}) {
    const TagLayout tags(least_bound_of_any_mpi, mpi_comms);
    const int bare = tags.encode(Kind::isolated, Lane::creation, 0);
    std::set<int> codes{0};
    std::set<WireTag> wire{tags.with_code(bare, 0), tags.service(TagLayout::Service::stall),
                           tags.service(TagLayout::Service::pair_codes)};
    for (int i = 0; i < tags.numbered_count(); ++i) codes.insert(tags.numbered_code(i));
    for (int i = 0; i < tags.named_count(); ++i) {
      codes.insert(tags.named_code(i));
      EXPECT_EQ(tags.named_index(tags.named_code(i)), i);
    }
    for (const int code : codes) wire.insert(tags.with_code(bare, code));
    EXPECT_EQ(static_cast<int>(codes.size()), tags.code_count() - 1);
    EXPECT_EQ(static_cast<int>(wire.size()), tags.code_count() + 1);
    for (const WireTag tag : wire) EXPECT_LT(mpi_comm_of(tag), mpi_comms);
  }
}

}  // namespace
}  // namespace wisp::detail
