// Batcher's bitonic sort, one item a rank: in each step two ranks a power of two apart compare, and keep one
// of the two items each. The addresses of all such partners are found first, by doubling distances.
//
//   0 ↔ 1   2 ↔ 3   0 ↔ 2   1 ↔ 3   …       (⌈log2 p⌉² + ⌈log2 p⌉)/2 (α + nβ) and four times ⌈log2 p⌉ α
//                                           around; O(log p) memory
//   Source: Batcher 1968; Moody et al. 2011, section 3.2

#include <array>

#include "chain/doubling.hpp"
#include "pattern/bitonic.hpp"
#include "split/algorithms.hpp"

namespace wisp::detail {
namespace {

/// The ranks at distances 1, 2, 4, …
struct PowerPartners {
  std::array<Address, 31> left;
  std::array<Address, 31> right;

  const Address& at(int offset) const {
    const auto power = as_size(std::bit_width(static_cast<unsigned>(std::abs(offset))) - 1);
    return offset < 0 ? left[power] : right[power];
  }
};

Task<> find_partners(Link link, PowerPartners& partners) {
  Doubling walk(std::move(link));
  for (std::size_t power = 0; !walk.done(); ++power, walk.advance()) {
    partners.left[power] = walk.left();
    partners.right[power] = walk.right();
    Posts round;
    walk.post(round, {});
    co_await round;
  }
}

}  // namespace

Task<ChainPlace> split_bitonic(Link link, const SplitCase& of) {
  const ItemLayout layout = co_await ItemLayout::agree(link, of);
  PowerPartners partners;
  co_await find_partners(link, partners);
  ScratchVector mine = layout.own_item(link.rank());
  ScratchVector theirs(layout.bytes());
  for (BitonicNetwork network(link.rank(), link.size()); !network.done();) {
    const BitonicNetwork::Step step = network.next();
    if (step.partner < 0) continue;
    const Address& partner = partners.at(step.partner - link.rank());
    Posts exchange;
    exchange.add(link.post_receive({theirs.data(), layout.bytes(), MPI_BYTE}, partner));
    exchange.add(link.post_send({mine.data(), layout.bytes(), MPI_BYTE}, partner));
    co_await exchange;
    if (layout.less(theirs.data(), mine.data()) == step.keeps_lower) mine.swap(theirs);
  }
  co_return co_await place_sorted(link, layout, mine.data(), of);
}

}  // namespace wisp::detail
