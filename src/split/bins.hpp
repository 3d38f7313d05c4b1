#pragma once

#include <array>
#include <cstdint>

#include "chain/link.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

constexpr int bin_bits = 4;
constexpr int bin_count = 1 << bin_bits;

/// What is known of the ranks of one bin, among those that were summed up.
struct Bin {
  Address first;
  Address last;
  std::int64_t count = 0;
  std::uint64_t common_ones = ~std::uint64_t{0};  ///< of their values
  std::uint64_t any_ones = 0;

  /// The bits in which values differ; 0: all are equal.
  std::uint64_t difference() const { return count == 0 ? 0 : common_ones ^ any_ones; }
};

using Bins = std::array<Bin, bin_count>;

/// A chain cut into one for each bin.
struct Binned {
  ChainPlace place;  ///< in the chain of this rank's bin; empty without a bin
  Bins totals;
};

/// `bin` is -1 for a rank that leaves the chain. Source: Moody et al. 2011, section 3.3.
Task<Binned> split_into_bins(Link link, int bin, std::uint64_t value);

}  // namespace wisp::detail
