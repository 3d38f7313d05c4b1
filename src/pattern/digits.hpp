#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace wisp::detail {

/// `bits` bits of numbers, by which they are told apart next.
struct Digit {
  int shift = 0;
  int bits = 4;

  /// The highest digit in which numbers differ, if `difference` has the bits in which they do: all bits above
  /// it are the same, so it orders the numbers.
  static constexpr Digit highest(std::uint64_t difference, int bits) {
    return {std::max(0, static_cast<int>(std::bit_width(difference)) - bits), bits};
  }
  /// The lowest one: it tells numbers apart that are small, in whatever order.
  static constexpr Digit lowest(std::uint64_t difference, int bits) {
    return {difference == 0 ? 0 : std::countr_zero(difference), bits};
  }

  constexpr int of(std::uint64_t number) const {
    return static_cast<int>(number >> shift & ((std::uint64_t{1} << bits) - 1));
  }
};

}  // namespace wisp::detail
