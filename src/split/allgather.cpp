// All items to all ranks; each finds its group and its neighbors in one pass over them. With few ranks, the
// fastest; the memory of all is too small for many.
//
//   ⌈log2 p⌉ α + p nβ, O(p) time and memory        Source: Moody et al. 2011, section 3.1

#include "chain/algorithms.hpp"
#include "split/algorithms.hpp"

namespace wisp::detail {

Task<ChainPlace> split_allgather(Link link, const SplitCase& of) {
  const ItemLayout layout = co_await ItemLayout::agree(link, of);
  const ItemTable all(layout, as_size(link.size()));
  std::byte* own = all[as_size(link.rank())];
  layout.write(link.rank(), own);
  co_await chain_allgather(link, in_place(), all.buffer());
  co_return place_among(layout, all, own);
}

}  // namespace wisp::detail
