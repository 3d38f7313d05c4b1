#pragma once

#include "pattern/log2.hpp"

namespace wisp::detail {

/// Recursive doubling over any number of ranks. The first 2·(p - 2^⌊log2 p⌋) ranks pair up; the odd one of a
/// pair speaks for both in the hypercube of 2^⌊log2 p⌋ speakers, whose order is that of the ranks.
///
///   p = 6:   0─►1  2─►3  4  5      speakers 1, 3, 4, 5 are 0, 1, 2, 3 of the hypercube
class RecursiveDoubling {
 public:
  constexpr RecursiveDoubling(int rank, int size)
      : rank_(rank), speakers_(static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))) {
    folded_ = size - speakers_;
  }

  constexpr bool is_paired() const { return rank_ < 2 * folded_; }
  /// Speaks for itself and for the rank below, if paired; else a paired rank is silent.
  constexpr bool is_speaker() const { return !is_paired() || rank_ % 2 == 1; }
  constexpr int pair() const { return rank_ ^ 1; }

  constexpr int rounds() const { return floor_log2(speakers_); }
  /// The rank to exchange with in round k; only for speakers. It stands for lower ranks iff it is lower.
  constexpr int partner(int k) const { return speaker(number() ^ (1 << k)); }

 private:
  /// This rank's number in the hypercube, or that of the one that speaks for it.
  constexpr int number() const { return is_paired() ? rank_ / 2 : rank_ - folded_; }
  /// The rank of a speaker by its number.
  constexpr int speaker(int number) const { return number < folded_ ? 2 * number + 1 : number + folded_; }

  int rank_;
  int speakers_;
  int folded_ = 0;
};

}  // namespace wisp::detail
