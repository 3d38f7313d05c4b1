// Divide and conquer for integers. Colors only need to be told apart: their chain is cut by digits until all
// colors of a chain are equal. Keys are sorted by their most significant digits: a chain is cut into one for
// each digit, and each of these by the next one. The sorted pieces are joined again at junctions: the first
// rank of every piece that has another before it hears from the piece's later head, and from the tail
// before it, and tells each where the other is.
//
//   3 1 2 1 ─► 1 1 | 2 3 ─► 1 1 | 2 | 3        ⌈log2 p⌉ α for each digit that matters, on ever shorter
//        tail ─► junction ◄─ head              chains; O(1) memory
//   Source: Moody et al. 2011, section 3.2

#include <array>

#include "chain/scans.hpp"
#include "pattern/digits.hpp"
#include "split/algorithms.hpp"
#include "split/bins.hpp"

namespace wisp::detail {
namespace {

/// A 64-bit key has at most so many digits that matter.
constexpr int most_levels = 64 / bin_bits;

/// Messages to new chains, by number: to a junction of some level, and from it.
constexpr int to_tail = 0;
constexpr int to_head = 1;
constexpr int from_tail(int level) {
  return 2 + 2 * level;
}
constexpr int from_head(int level) {
  return 3 + 2 * level;
}

/// Where a sorted piece is joined to another.
struct Junction {
  Address at;
  int level = 0;
};

/// What this rank knows of the piece of the chain that it is in.
struct Subchain {
  Link link;
  int offset = 0;  ///< ranks of the group in pieces before
  Junction before;
  Junction after;
  std::uint32_t duties = 0;  ///< levels at which this rank is a junction
};

Task<> cut_by_key(Subchain& subchain, std::uint64_t key) {
  struct Ones {
    std::uint64_t common;
    std::uint64_t any;
  };
  const Ones all = co_await total_of(subchain.link, Ones{key, key}, [](const Ones& a, const Ones& b) {
    return Ones{a.common & b.common, a.any | b.any};
  });
  std::uint64_t difference = all.common ^ all.any;
  for (int level = 0; difference != 0; ++level) {
    const int digit = Digit::highest(difference, bin_bits).of(key);
    const Binned<DigitBin> binned = co_await split_into_bins<DigitBin>(subchain.link, digit, key);
    const DigitBin own = binned.total(digit);
    const int offset_before = subchain.offset;
    for (int bin = 0; bin < digit; ++bin) subchain.offset += static_cast<int>(binned.total(bin).count);
    subchain.link = subchain.link.at(binned.place());
    if (subchain.offset > offset_before) {
      subchain.before = {own.first(), level};
      if (subchain.link.rank() == 0) subchain.duties |= 1U << level;
    }
    for (int bin = digit + 1; bin < bin_count; ++bin) {
      const DigitBin next = binned.total(bin);
      if (next.count == 0) continue;
      subchain.after = {next.first(), level};
      break;
    }
    difference = own.difference();
  }
}

/// The neighbors of this rank in the sorted group.
Task<> join_subchains(const Subchain& subchain, Context& made, ChainPlace& place) {
  World& world = *made.world;
  const char* operation = subchain.link.operation();
  const bool is_head = place.rank == 0 && subchain.before.at.exists();
  const bool is_tail = place.rank + 1 == place.size && subchain.after.at.exists();
  std::array<Address, most_levels> tails;
  std::array<Address, most_levels> heads;
  Posts neighbors;
  if (is_head) neighbors.add(post_from_any(made, item(place.left), to_head, operation));
  if (is_tail) neighbors.add(post_from_any(made, item(place.right), to_tail, operation));
  Posts duties;
  for (int level = 0; level < most_levels; ++level) {
    if ((subchain.duties >> level & 1) == 0) continue;
    const auto at = as_size(level);
    duties.add(post_from_any(made, item(tails[at]), from_tail(level), operation));
    duties.add(post_from_any(made, item(heads[at]), from_head(level), operation));
  }
  const ConstBuffer here = item(std::as_const(place.here));
  const Junction& before = subchain.before;
  const Junction& after = subchain.after;
  if (is_head) neighbors.add(post_to_new(world, here, before.at, from_head(before.level), operation));
  if (is_tail) neighbors.add(post_to_new(world, here, after.at, from_tail(after.level), operation));
  co_await duties;
  for (std::size_t at = 0; at < most_levels; ++at) {
    if (!tails[at].exists()) continue;
    neighbors.add(post_to_new(world, item(std::as_const(heads[at])), tails[at], to_tail, operation));
    neighbors.add(post_to_new(world, item(std::as_const(tails[at])), heads[at], to_head, operation));
  }
  co_await neighbors;
}

}  // namespace

Task<ChainPlace> split_radix(Link link, const SplitCase& of) {
  std::uint64_t difference = of.color.is_given ? ~std::uint64_t{0} : 0;
  while (difference != 0) {
    const std::uint64_t color = of.color.number();
    const int bin = of.is_undefined ? -1 : Digit::lowest(difference, bin_bits).of(color);
    const Binned<DigitBin> binned = co_await split_into_bins<DigitBin>(link, bin, color);
    if (of.is_undefined) co_return ChainPlace();
    difference = binned.total(bin).difference();
    link = link.at(binned.place());
  }
  ChainPlace place = co_await in_new_chain(link, of);
  if (!of.key.is_given) co_return place;
  // Junctions are called in the new chain: so are the ranks from here on.
  Subchain subchain{Link(of.made, place, of.made->tag_of_operation(of.call, {}), of.call), 0, {}, {}, 0};
  co_await cut_by_key(subchain, of.key.number());
  const int group_size = place.size;
  place = subchain.link.place();
  co_await join_subchains(subchain, *of.made.get(), place);
  place.rank += subchain.offset;
  place.size = group_size;
  co_return place;
}

}  // namespace wisp::detail
