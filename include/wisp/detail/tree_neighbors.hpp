#pragma once

#include <vector>

#include "wisp/channel.hpp"

namespace wisp::detail {

/// A rank's place in the tree from rank 0 that suits the channel's ranks. A subtree is a range of ranks,
/// which begins with its root and in which the children's subtrees follow each other.
struct TreeNeighbors {
  int parent = -1;            ///< -1: none
  std::vector<int> children;  ///< ascending
  int end = 0;                ///< one after the last rank of this rank's subtree

  int child_end(std::size_t k) const { return k + 1 < children.size() ? children[k + 1] : end; }
};

TreeNeighbors tree_neighbors(const Channel& channel);

}  // namespace wisp::detail
