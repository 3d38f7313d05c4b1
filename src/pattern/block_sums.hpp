#pragma once

#include <cstdint>
#include <optional>

#include "wisp/detail/mix.hpp"

namespace wisp::detail {

/// Three sums over the blocks of a range of ranks. Two sides that have added up the same sizes have the same
/// sums; where one rank's size differs, the differences d and r·d name the rank r. The third sum, of a hash,
/// differs also where several errors cancel in the others.
struct BlockSums {
  std::uint64_t bytes = 0;
  std::uint64_t by_rank = 0;  ///< Σ rank · bytes, modulo 2^64 as all of them
  std::uint64_t hashes = 0;

  constexpr void add(int rank, std::uint64_t of_rank) {
    bytes += of_rank;
    by_rank += static_cast<std::uint64_t>(rank) * of_rank;
    hashes += hash(static_cast<std::uint64_t>(rank), of_rank);
  }
  friend constexpr BlockSums operator+(const BlockSums& a, const BlockSums& b) {
    return {a.bytes + b.bytes, a.by_rank + b.by_rank, a.hashes + b.hashes};
  }
  friend constexpr bool operator==(const BlockSums&, const BlockSums&) = default;

 private:
  static constexpr std::uint64_t hash(std::uint64_t rank, std::uint64_t bytes) {
    return mix(bytes * 0x9e3779b97f4a7c15U + rank);
  }
};

/// The sums over ranks first … last.
template <class BytesOf>
constexpr BlockSums sums_of(int first, int last, BytesOf bytes_of) {
  BlockSums sums;
  for (int rank = first; rank <= last; ++rank) sums.add(rank, bytes_of(rank));
  return sums;
}

/// A rank whose size is not what was expected of it.
struct Disagreement {
  int rank;
  std::uint64_t bytes;     ///< that it has
  std::uint64_t expected;  ///< by the root's counts
};

/// The one rank of first … last that explains why the sums differ; nothing if it takes several.
template <class BytesOf>
constexpr std::optional<Disagreement> find_disagreement(const BlockSums& sums, int first, int last,
                                                        BytesOf expected_of) {
  const BlockSums expected = sums_of(first, last, expected_of);
  const std::uint64_t more = sums.bytes - expected.bytes;
  for (int rank = first; rank <= last; ++rank) {
    const std::uint64_t of_rank = expected_of(rank);
    BlockSums changed = expected + sums_of(rank, rank, [&](int) { return of_rank + more; });
    const BlockSums own = sums_of(rank, rank, expected_of);
    changed = {changed.bytes - own.bytes, changed.by_rank - own.by_rank, changed.hashes - own.hashes};
    if (changed == sums) return Disagreement{rank, of_rank + more, of_rank};
  }
  return std::nullopt;
}

}  // namespace wisp::detail
