#pragma once

#include <algorithm>
#include <cstdint>

namespace wisp::detail {

using Slot = std::uint64_t;

/// Slots first … last-1.
struct Interval {
  Slot first = 0;
  Slot last = 0;

  constexpr Slot size() const { return last - first; }
  constexpr bool empty() const { return first >= last; }
  constexpr Interval operator&(const Interval& other) const {
    const Slot lower = std::max(first, other.first);
    return {lower, std::max(lower, std::min(last, other.last))};
  }
};

/// The perfectly balanced distribution of n elements over p ranks, or pieces of a vector: the first n mod p
/// have ⌈n/p⌉ slots, the others ⌊n/p⌋.
class Balance {
 public:
  constexpr Balance(Slot elements, int ranks)
      : ranks_(static_cast<Slot>(ranks)), floor_(elements / ranks_), larger_(elements % ranks_) {}

  constexpr Slot begin(int rank) const {
    const auto r = static_cast<Slot>(rank);
    return r * floor_ + std::min(r, larger_);
  }
  constexpr Interval slots(int rank) const { return {begin(rank), begin(rank + 1)}; }
  constexpr Slot size(int rank) const { return slots(rank).size(); }
  /// Which rank has a slot.
  constexpr int owner(Slot slot) const {
    const Slot in_larger = larger_ * (floor_ + 1);
    return static_cast<int>(slot < in_larger ? slot / (floor_ + 1) : larger_ + (slot - in_larger) / floor_);
  }
  /// ⌊n/p⌋
  constexpr Slot floor() const { return floor_; }

 private:
  Slot ranks_;
  Slot floor_;
  Slot larger_;
};

}  // namespace wisp::detail
