// Gather of irregular blocks led by the root. It alone knows who has something, so it tells these ranks, down
// a 4-nomial tree over them, and their blocks come up the same tree. Ranks without a block take no part.
//
//   sizes  0 3 0 0 9 1 0 2      tree over 1 4 5 7: the root tells 1, 4 and 5; 5 tells 7
//                               small blocks come back that way; 4 has sent its large one already
//
// A block of the threshold or more goes straight to the root at once, and so do small ones where they have
// come to as many bytes together. Two dependent messages if few ranks have something; else ⌈log2 p⌉ + 1 and
// ⌈log2 p⌉ 3 o + Tβ log p + Σ m_i β. Source: made for wisp; the threshold from Träff 2019, section 3.
//
// What ranks were told they remember for the next run of a persistent gather, which takes half of the
// messages. A rank that differs from the root's counts sends an empty message instead, and behind it a
// report.

#include <algorithm>
#include <utility>

#include "collectives/led_subtree.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

/// A rank that has something. Lane 0: bundles; lane 1: the root's word; neither: large blocks.
Task<> gather_led_inner(Channel channel, ConstBuffer send, int root, std::uint64_t threshold,
                        std::shared_ptr<LedMemory> memory) {
  const std::uint64_t bytes = bytes_of(send);
  Posts large;
  if (bytes >= threshold) large.add(channel.post_send(send, root));
  Word& word = memory->word;
  const bool is_told = word.parent >= 0;
  const Channel words = channel.lane(1);
  const Channel bundles = channel.lane(0);
  if (!is_told) co_await receive_word(words, word);
  const std::vector<SizedRank>& ranks = word.subtree.ranks;
  const LedTree tree(word.subtree.position, word.subtree.count, ranks, threshold);
  std::vector<std::vector<std::byte>> told;
  Posts sends;
  if (!is_told) post_words(words, tree, ranks, told, sends);

  const std::uint64_t expected = ranks.front().bytes;
  const std::uint64_t own = expected < threshold ? expected : 0;
  const std::uint64_t total = tree.bundle(0);
  const bool is_leaf = total == own;
  const ScratchVector packed(is_leaf ? 0 : total);
  std::vector<Posted> receives;
  std::vector<int> sources;
  std::uint64_t end = own;
  for (int k = 0; k < tree.child_count(); ++k) {
    const std::size_t child = tree.child(k);
    const std::uint64_t of_child = tree.bundle(child);
    if (of_child == 0 || tree.goes_to_root(child)) continue;
    sources.push_back(ranks[child].rank);
    receives.push_back(
        bundles.post_receive_up_to({packed.data() + end, of_child, MPI_PACKED}, sources.back()));
    end += of_child;
  }
  if (!is_leaf && own == bytes) pack(send, TypeLayout::of(send.type), packed.data());
  std::vector<Report> reports;
  for (std::size_t i = 0; i < receives.size(); ++i) {
    Posted& bundle = receives[i];
    if ((co_await bundle).bytes == 0) co_await receive_reports(bundles, sources[i], reports);
  }

  const bool agrees = bytes == expected;
  const Report mine{{channel.rank(), bytes, expected}};
  if (!agrees && expected < threshold) reports.push_back(mine);
  const int destination = tree.goes_to_root(0) ? root : word.parent;
  if (!reports.empty()) {
    co_await send_reports(bundles, reports, destination);
  } else if (total > 0) {
    co_await bundles.post_send(is_leaf ? send : ConstBuffer{packed.data(), total, MPI_PACKED}, destination);
  }
  if (!agrees && expected >= threshold && bytes < threshold) {
    co_await send_reports(channel, std::vector<Report>(1, mine), root);
  }
  co_await sends;
  co_await large;
  if (!agrees) throw_size_error(channel.operation(), channel.rank(), bytes, expected);
}

}  // namespace

Task<> gatherv_led(Channel channel, ConstBuffer send, BlockList blocks, int root, std::uint64_t threshold,
                   std::shared_ptr<LedMemory> memory) {
  if (channel.rank() != root) {
    if (bytes_of(send) > 0) co_await gather_led_inner(channel, send, root, threshold, std::move(memory));
    co_return;
  }
  const bool is_told = std::exchange(memory->has_told, true);
  const std::vector<SizedRank> ranks = ranks_with_blocks(blocks, root, channel.size(), threshold);
  const LedTree tree(0, static_cast<int>(ranks.size()), ranks, threshold);
  const Channel words = channel.lane(1);
  const Channel bundles = channel.lane(0);
  std::vector<std::vector<std::byte>> told;
  Posts sends;
  if (!is_told) post_words(words, tree, ranks, told, sends);
  const std::vector<std::vector<int>> members = ranks_of_bundles(tree, ranks, threshold);
  struct Arrival {
    Posted posted;
    int source;
    bool is_bundle;
    std::uint64_t bytes;
  };
  std::vector<Arrival> arrivals;
  std::vector<JoinedBlocks> places;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const auto& [rank, bytes] = ranks[i];
    if (bytes >= threshold) {
      arrivals.push_back({channel.post_receive_up_to(blocks(rank), rank), rank, false, bytes});
    }
    if (members[i].empty()) continue;
    places.emplace_back(blocks, members[i]);
    arrivals.push_back(
        {bundles.post_receive_up_to(places.back().buffer(), rank), rank, true, tree.bundle(i)});
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));

  std::vector<Report> reports;
  for (Arrival& arrival : arrivals) {
    std::uint64_t bytes = 0;
    try {
      bytes = (co_await arrival.posted).bytes;
    } catch (const Error& error) {
      if (error.error_class() != MPI_ERR_TRUNCATE) throw;
      bytes = std::max<std::uint64_t>(arrival.posted.message()->envelope.bytes, arrival.bytes);
      if (bytes == arrival.bytes) bytes = unknown_size;
    }
    if (bytes == arrival.bytes) continue;
    if (bytes == 0) {
      co_await receive_reports(arrival.is_bundle ? bundles : channel, arrival.source, reports);
    } else {
      reports.push_back({{arrival.source, bytes, arrival.bytes}});
    }
  }
  for (const Report& report : reports) {
    // Its block was large, and is on its way although the root did not expect it alone.
    if (report.what.bytes < threshold || report.what.expected >= threshold) continue;
    const ScratchVector dropped(report.what.bytes);
    co_await channel.post_receive({dropped.data(), report.what.bytes, MPI_PACKED}, report.what.rank);
  }
  co_await sends;
  if (!reports.empty()) {
    const Disagreement& first = reports.front().what;
    throw_size_error(channel.operation(), first.rank, first.bytes, first.expected);
  }
}

}  // namespace wisp::detail
