// Sorting on a subset: every M consecutive ranks give their items to the first of them, these leaders sort by
// exact splitting, and every rank gets back the item whose turn it is.
//
//   0 1 2 3 | 4 5 6 7 | 8 9        gather ─► sort on p/M leaders ─► scatter
//   └─► 0      └─► 4     └─► 8     O(p/M log p + log² p + M log (p/M)) time, O(M + p/M) memory at leaders
//   Source: Cheng et al. 2006; Sack, Gropp 2010; Moody et al. 2011, section 3.2

#include <algorithm>

#include "chain/algorithms.hpp"
#include "split/algorithms.hpp"
#include "split/bins.hpp"
#include "split/exact_splitting.hpp"
#include "split/item_tree.hpp"

namespace wisp::detail {

Task<ChainPlace> split_cheng(Link link, const SplitCase& of, int most_items) {
  const ItemLayout layout = co_await ItemLayout::agree(link, of);
  const int first = link.rank() / most_items * most_items;
  const int last = std::min(first + most_items, link.size()) - 1;
  const bool is_leader = link.rank() == first;
  TreeWalk walk(link.range(first, last), 0);
  ItemTable sorted = co_await gather_sorted(walk, layout, link.rank());
  if (link.size() > most_items) {
    const int bin = is_leader ? 0 : -1;
    const Binned<SameBin> leaders = co_await split_into_bins<SameBin>(link, bin, 0);
    if (is_leader) {
      Comm comm = co_await comm_over(link.at(leaders.place()));
      sorted = co_await sort_exactly(std::move(comm), layout, std::move(sorted));
    }
  }
  const ScratchVector item(layout.bytes());
  co_await scatter_from_root(walk, sorted.buffer(), {item.data(), item.bytes(), MPI_BYTE});
  co_return co_await place_sorted(link, layout, item.data(), of);
}

}  // namespace wisp::detail
