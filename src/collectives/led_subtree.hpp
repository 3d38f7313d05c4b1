#pragma once

#include "collectives/algorithms.hpp"
#include "pattern/block_sums.hpp"
#include "pattern/led_tree.hpp"

/// What gather and scatter led by the root share.

namespace wisp::detail {

/// What the root knows: itself, then all ranks with a small block, and those with a large one.
std::vector<SizedRank> ranks_with_blocks(const BlockList& blocks, int root, int ranks,
                                         std::uint64_t threshold);

/// What is told to child k of a subtree.
std::vector<std::byte> code_of_child(const LedTree& tree, std::span<const SizedRank> subtree, int k);

/// The ranks whose small blocks make up each bundle, by its head.
std::vector<std::vector<int>> ranks_of_bundles(const LedTree& tree, std::span<const SizedRank> subtree,
                                               std::uint64_t threshold);

/// The root's word: who sent it, and what follows of it.
struct Word {
  int parent = -1;
  ScratchVector message;
  Subtree subtree;
  std::span<const std::byte> data;
};
Task<> receive_word(Channel channel, Word& word);

/// Tells all children; the words must live until the sends are done.
void post_words(const Channel& words, const LedTree& tree, std::span<const SizedRank> subtree,
                std::vector<std::vector<std::byte>>& told, Posts& sends);

/// What a rank says that differs from the root's counts, behind an empty message in place of its blocks; and
/// how many more such reports follow.
struct Report {
  Disagreement what{};
  std::uint64_t following = 0;
};
Task<> send_reports(Channel channel, std::vector<Report> reports, int destination);
/// Those behind an empty message that has come.
Task<> receive_reports(Channel channel, int source, std::vector<Report>& reports);

/// What one rank keeps from run to run of a persistent gather.
struct LedMemory {
  Word word;              ///< of a rank that was told
  bool has_told = false;  ///< the root
};

}  // namespace wisp::detail
