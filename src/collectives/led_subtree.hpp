#pragma once

#include "collectives/algorithms.hpp"
#include "pattern/block_sums.hpp"
#include "pattern/led_tree.hpp"

/// What gather and scatter led by the root share.

namespace wisp::detail {

/// What the root knows: itself, then all ranks with a small block, and those with a large one.
inline std::vector<SizedRank> ranks_with_blocks(const BlockList& blocks, int root, int ranks,
                                                std::uint64_t threshold) {
  std::vector<SizedRank> list = {{root, 0}};
  std::vector<SizedRank> large;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t bytes = rank == root ? 0 : blocks.bytes(rank);
    if (bytes > 0) (bytes < threshold ? list : large).push_back({rank, bytes});
  }
  list.insert(list.end(), large.begin(), large.end());
  return list;
}

/// What is told to child k of a subtree.
inline std::vector<std::byte> code_of_child(const LedTree& tree, std::span<const SizedRank> subtree, int k) {
  const std::size_t first = tree.child(k);
  return encode_subtree(tree.position() + static_cast<int>(first), tree.count(),
                        subtree.subspan(first, tree.child_size(k)));
}

/// The ranks whose small blocks make up each bundle, by its head.
inline std::vector<std::vector<int>> ranks_of_bundles(const LedTree& tree, std::span<const SizedRank> subtree,
                                                      std::uint64_t threshold) {
  std::vector<std::vector<int>> bundles(subtree.size());
  for (std::size_t i = 1; i < subtree.size(); ++i) {
    if (subtree[i].bytes < threshold) bundles[tree.head(i)].push_back(subtree[i].rank);
  }
  return bundles;
}

/// The root's word: who sent it, and what follows of it.
struct Word {
  int parent = -1;
  ScratchVector message;
  Subtree subtree;
  std::span<const std::byte> data;
};
inline Task<> receive_word(Channel channel, Word& word) {
  const Envelope found = co_await channel.post_probe_any();
  word.parent = channel.source_of(found);
  word.message = ScratchVector(found.bytes);
  co_await channel.post_receive({word.message.data(), found.bytes, MPI_BYTE}, word.parent);
  word.data = {word.message.data(), found.bytes};
  word.subtree = take_subtree(channel.rank(), word.data);
}

}  // namespace wisp::detail
