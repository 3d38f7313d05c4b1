#pragma once

#include "split/split_case.hpp"

/// One coroutine for each algorithm that splits a chain: `of` is needed until it is done. Each gives this
/// rank's place in its new chain, an empty one if its color is undefined.

namespace wisp::detail {

using SplitAlgorithm = Task<ChainPlace>(Link link, const SplitCase& of);

SplitAlgorithm split_allgather;
/// Over the whole of an MPI communicator, in its order.
SplitAlgorithm split_allgather_mpi;
SplitAlgorithm split_gather_scatter;
Task<ChainPlace> split_cheng(Link link, const SplitCase& of, int most_items);
SplitAlgorithm split_bitonic;
/// For integers.
SplitAlgorithm split_radix;
/// Chains of fewer ranks than `gather_below` are split by allgather; if there are any, ranks of one color are
/// ordered by what is chosen for them, else by bitonic.
Task<ChainPlace> split_hash(Link link, const SplitCase& of, int gather_below);
/// By the cheapest of all.
SplitAlgorithm split_as_chosen;

/// The last step where the ranks of a link are a group in order: its neighbors tell each other their
/// addresses in the new chain.
SplitAlgorithm in_new_chain;
/// The last step where ranks have sorted items: rank i has the i-th smallest. Every rank learns its place
/// from whoever has its item. `sorted_item` is needed until it is done.
Task<ChainPlace> place_sorted(Link link, const ItemLayout& layout, const std::byte* sorted_item,
                              const SplitCase& of);

}  // namespace wisp::detail
