// Iterated hashing: the hash of the color says which of a few bins a rank goes to; ranks of one bin go on
// with the next bits, until all colors of a chain have one fingerprint. Then neighbors compare the colors
// themselves: the bytes decide. Ranks of different colors whose hashes agree are told apart by sorting.
//
//   a b a c ─► (a a) (b c) ─► (a a) (b) (c)
//
//   ⌈log2 p⌉ α for each of expected O(log groups) iterations and for the proof at the end; O(1) memory
//   Source: Moody et al. 2011, section 3.3

#include "chain/algorithms.hpp"
#include "split/algorithms.hpp"
#include "split/bins.hpp"
#include "wisp/detail/mix.hpp"

namespace wisp::detail {
namespace {

/// More than would ever be needed to separate different fingerprints.
constexpr int most_iterations = 64;

/// Different for almost all different colors; of integers, for all.
std::uint64_t fingerprint_of(const SplitCase& of) {
  return of.color.is_integer ? of.color.number() : of.color_hash;
}

int bin_of(std::uint64_t fingerprint, int iteration) {
  constexpr int bins_in_hash = 64 / bin_bits;
  const std::uint64_t hash = mix(fingerprint + static_cast<std::uint64_t>(iteration / bins_in_hash));
  return static_cast<int>(hash >> (iteration % bins_in_hash * bin_bits) & (bin_count - 1));
}

/// True if all colors of the chain are the same, byte by byte or as the user's order says.
Task<bool> is_one_color(Link link, const SplitCase& of) {
  const std::vector<std::byte>& mine = of.color.bytes;
  const ScratchVector left = co_await from_left(link, {mine.data(), mine.size(), MPI_BYTE});
  const bool is_same = link.rank() == 0 || of.color.compare({left.data(), left.bytes()}, mine) == 0;
  const int all = co_await total_of(std::move(link), is_same ? 1 : 0, [](int a, int b) { return a & b; });
  co_return all != 0;
}

}  // namespace

Task<ChainPlace> split_hash(Link link, const SplitCase& of, int gather_below) {
  const auto split_small = gather_below > link.size() ? split_allgather : split_bitonic;
  if (!of.color.is_given || gather_below > link.size()) co_return co_await split_small(std::move(link), of);
  const std::uint64_t fingerprint = fingerprint_of(of);
  bool is_one_hash = false;
  for (int iteration = 0; !is_one_hash && iteration < most_iterations; ++iteration) {
    const int bin = of.is_undefined ? -1 : bin_of(fingerprint, iteration);
    const Binned<SameBin> binned = co_await split_into_bins<SameBin>(link, bin, fingerprint);
    if (of.is_undefined) co_return ChainPlace();
    link = link.at(binned.place());
    is_one_hash = binned.total(bin).is_mixed == 0;
    if (link.size() < gather_below) co_return co_await split_allgather(std::move(link), of);
  }
  const bool is_done = is_one_hash && (of.color.is_integer || co_await is_one_color(link, of));
  if (!is_done) co_return co_await split_bitonic(std::move(link), of);
  if (of.key.is_given) {
    const SplitCase by_key = of.of_one_color();
    const auto order = gather_below > 0 ? split_as_chosen : split_bitonic;
    co_return co_await order(std::move(link), by_key);
  }
  co_return co_await in_new_chain(std::move(link), of);
}

}  // namespace wisp::detail
