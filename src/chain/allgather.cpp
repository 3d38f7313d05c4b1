// Allgather along a chain, by doubling distances. Before round k a rank has the blocks of the 2^k ranks that
// end with it and of the 2^k that begin with it; it sends the first to the right and the others to the left,
// straight from and to where they belong.
//
//   round 1   [r-3 r-2] ─► r ◄─ [r+2 r+3]        ⌈log2 p⌉ α + p nβ: every block comes once
//   Source: Moody et al. 2011, sections 2 and 3.1; Bruck et al. 1997

#include <algorithm>

#include "chain/algorithms.hpp"
#include "chain/doubling.hpp"
#include "collectives/block_list.hpp"

namespace wisp::detail {

Task<> chain_allgather(Link link, ConstBuffer send, Buffer receive) {
  const TypeLayout layout = TypeLayout::of(receive.type);
  const std::size_t block = receive.count / as_size(link.size());
  // The blocks of ranks `first` … `last`, as far as there are such ranks.
  const auto blocks = [&](int first, int last) -> Buffer {
    first = std::max(first, 0);
    last = std::min(last, link.size() - 1);
    return {element(receive.address, as_size(first) * block, layout), as_size(last - first + 1) * block,
            receive.type};
  };
  if (!is_in_place(send)) copy_block(send, blocks(link.rank(), link.rank()));
  Doubling walk(link);
  for (; !walk.done(); walk.advance()) {
    const int rank = link.rank();
    const int d = walk.distance();
    WalkData data;
    if (walk.has_left()) {
      data.from_left = blocks(rank - 2 * d + 1, rank - d);
      data.to_left = blocks(rank, rank + d - 1);
    }
    if (walk.has_right()) {
      data.from_right = blocks(rank + d, rank + 2 * d - 1);
      data.to_right = blocks(rank - d + 1, rank);
    }
    Posts round;
    walk.post(round, data);
    co_await round;
  }
}

}  // namespace wisp::detail
