// Items go up a tree to the first rank, sorted: each rank merges what its children have. The root sees all
// groups in one pass, and tells every rank its place on the way down.
//
//   sorted ─► merged ─► all sorted ─► places        2 ⌈log2 p⌉ α + p nβ, O(p) time and memory at the root
//   Source: Moody et al. 2011, section 3.2

#include <algorithm>

#include "split/algorithms.hpp"
#include "split/item_tree.hpp"

namespace wisp::detail {

Task<ChainPlace> split_gather_scatter(Link link, const SplitCase& of) {
  const ItemLayout layout = co_await ItemLayout::agree(link, of);
  TreeWalk walk(link, 0);
  const ItemTable sorted = co_await gather_sorted(walk, layout, link.rank());
  const std::size_t ranks = link.rank() == 0 ? as_size(link.size()) : 0;
  const ScratchVector memory(ranks * sizeof(ChainPlace));
  const std::span<ChainPlace> places(reinterpret_cast<ChainPlace*>(memory.data()), ranks);
  std::fill(places.begin(), places.end(), ChainPlace());
  if (ranks > 0) place_all(layout, sorted, places);
  ChainPlace own;
  co_await scatter_from_root(walk, items(std::span<const ChainPlace>(places)), item(own));
  co_return own;
}

}  // namespace wisp::detail
