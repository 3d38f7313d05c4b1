#pragma once

namespace wisp::detail {

/// Consecutive parts first … end - 1.
struct Parts {
  int first;
  int end;
  constexpr int middle() const { return (first + end) / 2; }
};

/// Recursive halving with doubling distances, over 2^rounds speakers: in round k, number and number ^ 2^k
/// each keep one half of the parts that they both hold. What has been joined then comes from 2^(k+1)
/// neighbors, so operands meet in rank order; in exchange, a speaker ends with the part whose index is its
/// number with the bits reversed.
///
///   number 1 of 4:   parts 0 1 2 3   ─ round 0, bit 0 is 1 ─►   2 3   ─ round 1, bit 1 is 0 ─►   2
///
/// Source: Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5
class Halving {
 public:
  constexpr Halving(int number, int rounds) : number_(number), rounds_(rounds) {}

  constexpr int rounds() const { return rounds_; }
  /// What is held before round k.
  constexpr Parts held(int k) const {
    Parts parts{0, 1 << rounds_};
    for (int round = 0; round < k; ++round) parts = kept_of(parts, round);
    return parts;
  }
  constexpr Parts kept(int k) const { return kept_of(held(k), k); }
  constexpr Parts given(int k) const {
    const Parts all = held(k);
    return keeps_upper(k) ? Parts{all.first, all.middle()} : Parts{all.middle(), all.end};
  }

 private:
  constexpr bool keeps_upper(int k) const { return (number_ >> k & 1) != 0; }
  constexpr Parts kept_of(Parts parts, int k) const {
    return keeps_upper(k) ? Parts{parts.middle(), parts.end} : Parts{parts.first, parts.middle()};
  }

  int number_;
  int rounds_;
};

/// The lowest `bits` bits of `number` in reverse.
constexpr int reverse_bits(int number, int bits) {
  int reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= (number >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

}  // namespace wisp::detail
