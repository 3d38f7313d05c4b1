#include "collectives/led_subtree.hpp"

namespace wisp::detail {

std::vector<SizedRank> ranks_with_blocks(const BlockList& blocks, int root, int ranks,
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

std::vector<std::byte> code_of_child(const LedTree& tree, std::span<const SizedRank> subtree, int k) {
  const std::size_t first = tree.child(k);
  return encode_subtree(tree.position() + static_cast<int>(first), tree.count(),
                        subtree.subspan(first, tree.child_size(k)));
}

std::vector<std::vector<int>> ranks_of_bundles(const LedTree& tree, std::span<const SizedRank> subtree,
                                               std::uint64_t threshold) {
  std::vector<std::vector<int>> bundles(subtree.size());
  for (std::size_t i = 1; i < subtree.size(); ++i) {
    if (subtree[i].bytes < threshold) bundles[tree.head(i)].push_back(subtree[i].rank);
  }
  return bundles;
}

Task<> receive_word(Channel channel, Word& word) {
  const Envelope found = co_await channel.post_probe_any();
  word.parent = channel.source_of(found);
  word.message = ScratchVector(found.bytes);
  co_await channel.post_receive({word.message.data(), found.bytes, MPI_BYTE}, word.parent);
  word.data = {word.message.data(), found.bytes};
  word.subtree = take_subtree(channel.rank(), word.data);
}

void post_words(const Channel& words, const LedTree& tree, std::span<const SizedRank> subtree,
                std::vector<std::vector<std::byte>>& told, Posts& sends) {
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    told.push_back(code_of_child(tree, subtree, k));
    sends.add(
        words.post_send({told.back().data(), told.back().size(), MPI_BYTE}, subtree[tree.child(k)].rank));
  }
}

Task<> send_reports(Channel channel, std::vector<Report> reports, int destination) {
  co_await channel.post_send({nullptr, 0, MPI_BYTE}, destination);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    reports[i].following = reports.size() - 1 - i;
    co_await channel.post_send({&reports[i], sizeof(Report), MPI_BYTE}, destination);
  }
}

Task<> receive_reports(Channel channel, int source, std::vector<Report>& reports) {
  do {
    reports.emplace_back();
    Report& report = reports.back();
    co_await channel.post_receive({&report, sizeof(Report), MPI_BYTE}, source);
  } while (reports.back().following > 0);
}

}  // namespace wisp::detail
