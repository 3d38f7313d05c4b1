#include "pattern/radix_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/parcels.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::detail {
namespace {

TEST(RadixGridTest, EveryWayIsTheSumOfItsSteps) {
  for (int p = 1; p <= 130; ++p) {
    for (int radix = 2; radix <= p + 1; ++radix) {
      const RadixGrid grid(p, radix);
      std::vector<int> moved(as_size(grid.levels()));
      for (int way = 0; way < p; ++way) {
        int gone = 0;
        for (int level = grid.levels() - 1; level >= 0; --level) {
          const int digit = grid.digit(way, level);
          ASSERT_LT(digit, grid.digits(level));
          if (digit != 0) ++moved[as_size(level)];
          gone += digit * grid.step(level);
          EXPECT_EQ(grid.ends(way, level), gone == way) << p << " " << radix << " " << way;
        }
        ASSERT_EQ(gone, way);
      }
      for (int level = 0; level < grid.levels(); ++level) EXPECT_EQ(grid.moved(level), moved[as_size(level)]);
    }
  }
}

TEST(RadixGridTest, HasAsManyDimensionsAsAreAskedFor) {
  EXPECT_EQ(RadixGrid::of_dimensions(1024, 2).radix(), 32);
  EXPECT_EQ(RadixGrid::of_dimensions(1025, 2).radix(), 33);
  EXPECT_EQ(RadixGrid::of_dimensions(1000, 3).radix(), 10);
  for (int p = 2; p < 3000; p += 7) {
    for (int dimensions = 1; dimensions <= ceil_log2(p); ++dimensions) {
      const RadixGrid grid = RadixGrid::of_dimensions(p, dimensions);
      EXPECT_LE(grid.levels(), dimensions);
      if (grid.radix() > 2) {
        EXPECT_GT(RadixGrid(p, grid.radix() - 1).levels(), dimensions);
      }
    }
  }
}

/// Every rank reaches every other one, on the way that leads from there back to it as a source; and a parcel
/// that goes digit by digit arrives where its way leads.
TEST(ExchangeGridTest, WaysLeadToAllRanks) {
  for (const bool in_turn : {false, true}) {
    for (const int nodes : {1, 2, 3, 5}) {
      for (const int members : {1, 2, 4, 7}) {
        const int p = nodes * members;
        std::vector<int> node_of;
        for (int rank = 0; rank < p; ++rank) node_of.push_back(in_turn ? rank % nodes : rank / members);
        const auto of = std::make_shared<const GroupNodes>(NodeLayout::of(node_of), Group(Range{0, 1, p}));
        for (const int radix : {2, 3, 8}) {
          const NodeGrids grids{RadixGrid(members, radix), RadixGrid(nodes, radix)};
          std::vector<ExchangeGrid> at;
          for (int rank = 0; rank < p; ++rank) at.emplace_back(of, rank, grids);
          for (int rank = 0; rank < p; ++rank) {
            std::vector<bool> is_reached(as_size(p));
            for (int way = 0; way < p; ++way) {
              const int target = at[as_size(rank)].target(way);
              is_reached[as_size(target)] = true;
              EXPECT_EQ(at[as_size(target)].source(way), rank);
              EXPECT_EQ(at[as_size(rank)].way_to(target), way);
              int here = rank;
              bool has_ended = way == 0;
              for (int level = at[0].levels() - 1; level >= 0; --level) {
                const int digit = at[0].digit(way, level);
                EXPECT_LT(digit, at[0].digits(level));
                const int next = at[as_size(here)].target(digit * at[0].step(level));
                EXPECT_TRUE(next == here || !has_ended);
                here = next;
                has_ended = at[0].ends(way, level);
              }
              EXPECT_EQ(here, target);
              EXPECT_TRUE(has_ended || at[0].levels() == 0);
            }
            EXPECT_EQ(std::ranges::count(is_reached, false), 0);
          }
        }
      }
    }
  }
}

TEST(ParcelsTest, ABundleHoldsWhatWasPutIntoIt) {
  std::vector<std::byte> data(70000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i % 251);
  for (const BundleHeader header : {BundleHeader::none, BundleHeader::sizes, BundleHeader::ways_and_sizes}) {
    std::vector<Parcel> given;
    for (const std::size_t bytes : {0UL, 1UL, 63UL, 64UL, 127UL, 128UL, 16384UL, 70000UL}) {
      const int way = static_cast<int>(bytes % 977);  // forth and back
      given.push_back({way, false, bytes, data.data()});
      if (header != BundleHeader::none) given.push_back({way, true, std::size_t{1} << 40});
    }
    std::vector<std::byte> bundle(bundle_bytes(given, header));
    write_bundle(given, header, bundle);
    if (header != BundleHeader::none) {
      EXPECT_EQ(told_bytes(bundle.data()), bundle.size());
    }
    std::vector<Parcel> found;
    read_bundle(bundle.data(), given, header, found);
    ASSERT_EQ(found.size(), given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      EXPECT_EQ(found[i].way, given[i].way);
      EXPECT_EQ(found[i].bytes, given[i].bytes);
      EXPECT_EQ(found[i].is_straight, given[i].is_straight);
    }
    const std::byte* end = bundle.data() + bundle.size();
    for (std::size_t i = found.size(); i-- > 0;) {
      if (!found[i].is_straight) {
        end -= found[i].bytes;
        EXPECT_TRUE(std::equal(end, end + found[i].bytes, data.begin()));
      }
      EXPECT_EQ(found[i].data, end);
    }
  }
}

}  // namespace
}  // namespace wisp::detail
