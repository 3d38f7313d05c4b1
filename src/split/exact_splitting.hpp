#pragma once

#include "split/split_case.hpp"

namespace wisp::detail {

/// Sorted items of all ranks of `comm`, redistributed: rank i has as many as before, and all of them come
/// before those of rank i + 1. Every rank but the last has the same number of items.
///
/// Every border between two ranks is found exactly: each rank proposes the median of its items that may be
/// the border, the border's owner takes the weighted median of the proposals, and all count what is below it.
/// At least a quarter of the candidates drops out in each round.
///
///   O(log n) rounds of 2 alltoalls and 2 allgathers, then one exchange and a merge.
///   Source: Cheng, Edelman, Gilbert, Shah 2006; Moody et al. 2011, section 3.2
Task<ItemTable> sort_exactly(Comm comm, const ItemLayout& layout, ItemTable sorted);

}  // namespace wisp::detail
