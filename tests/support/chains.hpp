#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "wisp/chain.hpp"

namespace wisp::test {

/// The ranks of a cluster in some order, the same wherever it is made.
inline std::vector<int> shuffled_ranks(int size, int seed) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// The place of `rank` in a chain in that order.
inline ChainNeighbors neighbors_in(const std::vector<int>& order, int rank) {
  const auto place = static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
  ChainNeighbors neighbors{static_cast<int>(order.size()), static_cast<int>(place)};
  if (place > 0) neighbors.left = order[place - 1];
  if (place + 1 < order.size()) neighbors.right = order[place + 1];
  return neighbors;
}

}  // namespace wisp::test
