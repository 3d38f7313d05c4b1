#pragma once

#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/tree_neighbors.hpp"
#include "wisp/task.hpp"

// Exclusive prefix and total in one pass up and one down a tree. On the way up a rank learns what each
// child's subtree holds; on the way down it tells each child what comes before that subtree, and the total.
//
//   ▲ sums of subtrees     ▼ (before, total)        2 ⌈log_k p⌉ α, 2 (p - 1) messages

namespace wisp::detail {

template <class T>
struct PrefixAndTotal {
  T before;
  T total;
};

template <class T>
Buffer bytes_of(T& value) {
  return {&value, sizeof(T), MPI_BYTE};
}

/// `identity` is what comes before rank 0; `combine(a, b)` joins lower ranks a with higher ranks b.
template <class T, class Combine>
Task<PrefixAndTotal<T>> exscan_total(Channel channel, T value, T identity, Combine combine) {
  const TreeNeighbors tree = tree_neighbors(channel);
  T subtree = value;
  std::vector<T> before_child;
  for (const int child : tree.children) {
    T incoming;
    co_await channel.post_receive(bytes_of(incoming), child);
    before_child.push_back(subtree);
    subtree = combine(subtree, incoming);
  }
  PrefixAndTotal<T> mine{identity, subtree};
  if (tree.parent >= 0) {
    co_await channel.post_send(bytes_of(subtree), tree.parent);
    co_await channel.post_receive(bytes_of(mine), tree.parent);
  }
  std::vector<PrefixAndTotal<T>> down(tree.children.size());
  Posts sends;
  for (std::size_t k = 0; k < tree.children.size(); ++k) {
    down[k] = {combine(mine.before, before_child[k]), mine.total};
    sends.add(channel.post_send(bytes_of(down[k]), tree.children[k]));
  }
  co_await sends;
  co_return mine;
}

}  // namespace wisp::detail
