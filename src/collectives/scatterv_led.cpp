// Scatter of irregular blocks led by the root: down a 4-nomial tree over the ranks that get something, which
// each learn their subtree together with its small blocks. Ranks without a block take no part.
//
//   root ─┬─► 1   { subtree of 1 | blocks }
//         ├─► 4                                   A block of the threshold or more comes straight from the
//         └─► 5 ─► 7                              root, and so do small ones where they have as many bytes.
//
// One message if few ranks get something; else ⌈log2 p⌉ 2 o + ⌈log4 p⌉ (α + Tβ) + Σ m_i β.
// Source: made for wisp; the threshold from Träff 2019, section 3.

#include <cstring>

#include "collectives/led_subtree.hpp"

namespace wisp::detail {
namespace {

/// A word for a child, with room for its blocks.
struct Telling {
  std::vector<std::byte> message;
  std::size_t code_bytes;

  Telling(std::vector<std::byte> code, std::uint64_t blocks)
      : message(std::move(code)), code_bytes(message.size()) {
    message.resize(code_bytes + blocks);
  }
  std::byte* blocks() { return message.data() + code_bytes; }
  ConstBuffer buffer() const { return {message.data(), message.size(), MPI_BYTE}; }
};

/// A rank that gets something. Lane 0: bundles from the root; lane 1: words; neither: large blocks.
Task<> scatter_led_inner(Channel channel, Buffer receive, int root, std::uint64_t threshold) {
  const std::uint64_t bytes = bytes_of(receive);
  Posted large;
  if (bytes >= threshold) large = channel.post_receive_of(bytes, receive, root, channel.rank());
  Word word;
  const Channel words = channel.lane(1);
  co_await receive_word(words, word);
  const std::vector<SizedRank>& ranks = word.subtree.ranks;
  const LedTree tree(word.subtree.position, word.subtree.count, ranks, threshold);
  ScratchVector from_root;
  const std::byte* bundle = word.data.data();
  if (tree.goes_to_root(0)) {
    from_root = ScratchVector(tree.bundle(0));
    bundle = from_root.data();
    co_await channel.lane(0).post_receive({from_root.data(), tree.bundle(0), MPI_PACKED}, root);
  }

  const std::uint64_t expected = ranks.front().bytes;
  const std::uint64_t own = expected < threshold ? expected : 0;
  std::vector<Telling> told;
  told.reserve(as_size(tree.child_count()));
  std::uint64_t begin = own;
  for (int k = 0; k < tree.child_count(); ++k) {
    const std::size_t child = tree.child(k);
    const std::uint64_t of_child = tree.goes_to_root(child) ? 0 : tree.bundle(child);
    told.emplace_back(code_of_child(tree, ranks, k), of_child);
    if (of_child > 0) std::memcpy(told.back().blocks(), bundle + begin, of_child);
    begin += of_child;
  }
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    sends.add(words.post_send(told[as_size(k)].buffer(), ranks[tree.child(k)].rank));
  }
  const bool agrees = bytes == expected;
  if (agrees && own > 0) unpack(bundle, receive, TypeLayout::of(receive.type));
  co_await sends;
  if (agrees && expected >= threshold) {
    co_await large;
  } else if (expected >= threshold) {
    // The root sends another size than is wanted here.
    if (bytes >= threshold) {
      co_await large;
    } else {
      const ScratchVector dropped(expected);
      co_await channel.post_receive({dropped.data(), expected, MPI_PACKED}, root);
    }
  }
  if (!agrees) throw_size_error(channel.operation(), channel.rank(), bytes, expected);
}

}  // namespace

Task<> scatterv_led(Channel channel, BlockList blocks, Buffer receive, int root, std::uint64_t threshold) {
  if (channel.rank() != root) {
    if (bytes_of(receive) > 0) co_await scatter_led_inner(channel, receive, root, threshold);
    co_return;
  }
  const std::vector<SizedRank> ranks = ranks_with_blocks(blocks, root, channel.size(), threshold);
  const LedTree tree(0, static_cast<int>(ranks.size()), ranks, threshold);
  const std::vector<std::vector<int>> members = ranks_of_bundles(tree, ranks, threshold);
  std::vector<Telling> told;
  told.reserve(as_size(tree.child_count()));
  std::vector<JoinedBlocks> places;
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    const std::size_t child = tree.child(k);
    const std::uint64_t of_child = tree.goes_to_root(child) ? 0 : tree.bundle(child);
    told.emplace_back(code_of_child(tree, ranks, k), of_child);
    if (of_child > 0) pack_blocks(blocks, members[child], told.back().blocks());
    sends.add(channel.lane(1).post_send(told.back().buffer(), ranks[child].rank));
  }
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const int rank = ranks[i].rank;
    if (tree.goes_to_root(i)) {
      places.emplace_back(blocks, members[i]);
      sends.add(channel.lane(0).post_send(places.back().buffer(), rank));
    }
    if (ranks[i].bytes >= threshold) sends.add(channel.post_send(blocks(rank), rank));
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await sends;
}

}  // namespace wisp::detail
