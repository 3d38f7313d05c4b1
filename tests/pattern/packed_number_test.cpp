#include "pattern/packed_number.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace wisp::detail {
namespace {

TEST(PackedNumberTest, EveryWidthComesBack) {
  std::vector<std::uint64_t> numbers{0};
  for (int bits = 0; bits < 64; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    for (const std::uint64_t number : {power - 1, power, power + 1}) numbers.push_back(number);
  }
  numbers.push_back(std::numeric_limits<std::uint64_t>::max());
  std::vector<std::byte> packed;
  for (const std::uint64_t number : numbers) {
    const std::size_t before = packed.size();
    append_packed(packed, number);
    EXPECT_EQ(packed.size() - before, packed_bytes(number));
    std::byte written[10];
    EXPECT_EQ(write_packed(written, number), written + packed_bytes(number));
    EXPECT_TRUE(std::equal(written, written + packed_bytes(number),
                           packed.begin() + static_cast<std::ptrdiff_t>(before)));
  }
  auto from = packed.begin();
  for (const std::uint64_t number : numbers) EXPECT_EQ(read_packed([&] { return *from++; }), number);
  EXPECT_EQ(from, packed.end());
}

TEST(PackedNumberTest, SmallNumbersOfEitherSignAreSmall) {
  EXPECT_EQ(without_sign(0), 0U);
  EXPECT_EQ(without_sign(-1), 1U);
  EXPECT_EQ(without_sign(1), 2U);
  EXPECT_EQ(without_sign(-2), 3U);
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-64}, std::int64_t{63}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(with_sign(without_sign(number)), number);
  }
}

}  // namespace
}  // namespace wisp::detail
