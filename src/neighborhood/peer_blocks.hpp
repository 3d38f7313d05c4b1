#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "neighborhood/program.hpp"

namespace wisp::detail {

/// The blocks of a list by the rank that they come from or go to, those of a rank in their order. Arithmetic
/// only.
struct PeerBlocks {
  std::vector<int> ranks;   ///< each once, beginning behind the caller, so that not all begin with the same
  std::vector<int> begins;  ///< of each in `blocks`, and the end
  std::vector<int> blocks;

  PeerBlocks() = default;
  /// Negative ranks are nobody. `direction` 1: ranks ascend, -1: they descend.
  PeerBlocks(std::span<const int> list, int self, int size, int direction) {
    blocks.resize(list.size());
    std::iota(blocks.begin(), blocks.end(), 0);
    std::erase_if(blocks, [&](int i) { return list[as_size(i)] < 0; });
    const auto way = [&](int i) { return ((list[as_size(i)] - self) * direction + size) % size; };
    std::ranges::stable_sort(blocks, {}, way);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const int rank = list[as_size(blocks[k])];
      if (!ranks.empty() && ranks.back() == rank) continue;
      ranks.push_back(rank);
      begins.push_back(static_cast<int>(k));
    }
    begins.push_back(static_cast<int>(blocks.size()));
  }

  std::span<const int> of(std::size_t peer) const {
    return std::span(blocks).subspan(as_size(begins[peer]), as_size(begins[peer + 1] - begins[peer]));
  }
  std::span<const int> of_rank(int rank) const {
    const auto found = std::ranges::find(ranks, rank);
    if (found == ranks.end()) return {};
    return of(as_size(static_cast<int>(found - ranks.begin())));
  }
};

/// One phase: a message to and from each peer; peer k is round k of the sources, and behind these of the
/// targets. Blocks to oneself are copied.
Program compile(const PeerBlocks& sources, const PeerBlocks& targets, int self, const Asked& asked,
                Copying copying);

}  // namespace wisp::detail
