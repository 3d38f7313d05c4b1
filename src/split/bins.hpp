#pragma once

#include <array>
#include <cstdint>

#include "chain/scans.hpp"

// Cuts a chain into a few, by a small number on each rank: a double exclusive scan of a table tells for each
// bin how many ranks there are on either side, and who the nearest of them are.
//
//   bins   2 0 2 1 0 2        rank 2's row of bin 2: one to the left, rank 0; one to the right, rank 5
//
//   ⌈log2 p⌉ (α + bins · β), O(bins) memory        Source: Moody et al. 2011, section 3.3 and figure 2

namespace wisp::detail {

constexpr int bin_bits = 4;
constexpr int bin_count = 1 << bin_bits;

/// What is known of the ranks of one bin that were summed up: of them, who is the nearest to where the sum
/// is, and whether their values are one and the same.
struct SameBin {
  Address nearest;
  std::int32_t count = 0;
  std::int32_t is_mixed = 0;
  std::uint64_t value = 0;

  static SameBin of(const Address& here, std::uint64_t value) { return {here, 1, 0, value}; }
  static SameBin join_before(const SameBin& left, const SameBin& right) { return join(left, right, right); }
  static SameBin join_after(const SameBin& left, const SameBin& right) { return join(left, right, left); }

  const Address& first() const { return nearest; }
  const Address& last() const { return nearest; }

 private:
  static SameBin join(const SameBin& left, const SameBin& right, const SameBin& nearer) {
    if (left.count == 0) return right;
    if (right.count == 0) return left;
    const bool is_mixed = left.is_mixed + right.is_mixed > 0 || left.value != right.value;
    return {nearer.nearest, left.count + right.count, is_mixed ? 1 : 0, left.value};
  }
};

/// The same with both ends, and with the bits in which values differ.
struct DigitBin {
  Address first_rank;
  Address last_rank;
  std::int64_t count = 0;
  std::uint64_t common_ones = 0;
  std::uint64_t any_ones = 0;

  static DigitBin of(const Address& here, std::uint64_t value) { return {here, here, 1, value, value}; }
  static DigitBin join_before(const DigitBin& left, const DigitBin& right) {
    if (left.count == 0) return right;
    if (right.count == 0) return left;
    return {left.first_rank, right.last_rank, left.count + right.count, left.common_ones & right.common_ones,
            left.any_ones | right.any_ones};
  }
  static DigitBin join_after(const DigitBin& left, const DigitBin& right) { return join_before(left, right); }

  const Address& first() const { return first_rank; }
  const Address& last() const { return last_rank; }
  /// 0: all values are equal.
  std::uint64_t difference() const { return common_ones ^ any_ones; }
};

/// A chain cut into one for each bin.
template <class Bin>
class Binned {
 public:
  Binned(const Link& link, int bin, const Bin& mine, SideSums sums)
      : here_(link.place().here), bin_(bin), mine_(mine), sums_(std::move(sums)) {}

  /// Of all ranks of a bin.
  Bin total(int bin) const {
    Bin sum = bin == bin_ ? mine_ : Bin();
    if (sums_.before.exists()) sum = Bin::join_before(row(sums_.before, bin), sum);
    if (sums_.after.exists()) sum = Bin::join_before(sum, row(sums_.after, bin));
    return sum;
  }
  /// In the chain of this rank's bin, which it must have.
  ChainPlace place() const {
    const Bin before = sums_.before.exists() ? row(sums_.before, bin_) : Bin();
    const Bin after = sums_.after.exists() ? row(sums_.after, bin_) : Bin();
    return {static_cast<int>(before.count + 1 + after.count), static_cast<int>(before.count), here_,
            before.last(), after.first()};
  }

 private:
  static const Bin& row(const ScratchVector& sums, int bin) {
    return reinterpret_cast<const Bin*>(sums.data())[bin];
  }

  Address here_;
  int bin_;
  Bin mine_;
  SideSums sums_;
};

/// `bin` is -1 for a rank that leaves the chain.
template <class Bin>
Task<Binned<Bin>> split_into_bins(Link link, int bin, std::uint64_t value) {
  std::array<Bin, bin_count> table;
  table.fill(Bin());
  const Bin mine = Bin::of(link.place().here, value);
  if (bin >= 0) table[as_size(bin)] = mine;
  const Operator before = Operator::on<Bin>(Bin::join_before);
  const Operator after = Operator::on<Bin>(Bin::join_after);
  SideSums sums;
  co_await side_sums(link, items(std::span<const Bin>(table)), {&before, &after}, sums);
  co_return Binned<Bin>(link, bin, mine, std::move(sums));
}

}  // namespace wisp::detail
