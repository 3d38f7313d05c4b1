#pragma once

#include <algorithm>
#include <cstdint>

#include "wisp/detail/balance.hpp"
#include "wisp/detail/mix.hpp"

namespace wisp::detail {

/// Random positions in an interval that every rank can compute alone: the interval is cut into as many equal
/// strata as there are samples, and each gives one position. So nobody has to be told how many samples a
/// range of ranks contributes.
class SamplePositions {
 public:
  SamplePositions(Interval interval, Slot count, std::uint64_t seed)
      : interval_(interval),
        count_(std::min(count, interval.size())),
        seed_(mix(seed ^ mix(interval.first ^ mix(interval.last)))) {}

  Slot count() const { return count_; }

  /// The k-th position; they ascend.
  Slot position(Slot k) const {
    const Slot first = stratum(k);
    return interval_.first + first + mix(seed_ + k) % (stratum(k + 1) - first);
  }
  /// How many positions are before `slot`, which lies in the interval or at its end.
  Slot count_before(Slot slot) const {
    if (slot >= interval_.last) return count_;
    const Slot offset = slot - interval_.first;
    Slot k = offset * count_ / interval_.size();
    while (stratum(k + 1) <= offset) ++k;
    return k + (position(k) < slot ? 1 : 0);
  }

 private:
  // Products stay below 2^64: samples are few (at most 2^20 by far), elements fewer than 2^44.
  Slot stratum(Slot k) const { return k * interval_.size() / count_; }

  Interval interval_;
  Slot count_;
  std::uint64_t seed_;
};

}  // namespace wisp::detail
