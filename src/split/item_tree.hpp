#pragma once

#include "chain/tree_walk.hpp"
#include "split/split_case.hpp"

// Items and what becomes of them, up and down the tree of a chain's first rank. The walk is the caller's.

namespace wisp::detail {

/// The items of this rank's subtree, sorted. Up.
Task<ItemTable> gather_sorted(TreeWalk& walk, const ItemLayout& layout, int old_rank);

/// Equal blocks, one for each rank, from the root; `here` is this rank's. Down again.
Task<> scatter_from_root(TreeWalk& walk, ConstBuffer at_root, Buffer here);

}  // namespace wisp::detail
