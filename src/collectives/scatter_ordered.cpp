// Regular scatter and reduction over the ordered binomial tree of equal blocks, which every rank
// knows without a message. A rank's subtree is a range of ranks around it, whatever the root: blocks never
// wrap around, and operands meet in rank order. Cubes whose blocks reach the threshold come straight from
// the root.
//
//   0 ─► 1 ─► 3 ◄─ 5 ◄─ 4          root 3, 7 ranks
//        2 ──►┘◄── 6               ⌈log2 p⌉ α + (p - 1) n β, ⌈log2 T/n⌉ α with a threshold T
//
// Source: Träff 2019, end of section 2; the threshold from section 3

#include "collectives/ordered_tree.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {
namespace {

/// The messages of the root, each with a part of the blocks: those to its children, and those that go
/// straight.
struct RootMessage {
  int peer;
  JoinedBlocks blocks;
};
std::vector<RootMessage> messages_of_root(const OrderedHypercube& cubes, const BlockList& blocks,
                                          std::uint64_t threshold) {
  const std::uint64_t block = blocks.bytes(cubes.root());
  const Remaining remaining([block](int) { return block; }, threshold);
  std::vector<RootMessage> messages;
  std::vector<StraightCube> straight;
  for (const OrderedNode::Child& child : node_of_equal(cubes, cubes.root(), block, threshold).children) {
    record_of_equal(cubes, child.cube, block, threshold, &straight);
    std::vector<int> ranks;
    if (remaining.left_over(child.cube, ranks) > 0) {
      messages.push_back({child.record.gather_root, JoinedBlocks(blocks, ranks)});
    }
  }
  for (const StraightCube& cube : straight) {
    std::vector<int> ranks;
    remaining.joined(cube.cube, ranks);
    messages.push_back({cube.gather_root, JoinedBlocks(blocks, ranks)});
  }
  return messages;
}

}  // namespace

Task<> scatter_ordered(Channel channel, BlockList blocks, Buffer receive, int root, std::uint64_t threshold) {
  const OrderedHypercube cubes(channel.size(), root);
  if (channel.rank() != root) {
    const OrderedNode node = node_of_equal(cubes, channel.rank(), bytes_of(receive), threshold);
    co_await scatter_subtree(channel, receive, node);
    co_return;
  }
  const std::vector<RootMessage> messages = messages_of_root(cubes, blocks, threshold);
  Posts sends;
  for (std::size_t i = messages.size(); i-- > 0;) {
    sends.add(channel.post_send(messages[i].blocks.buffer(), messages[i].peer));
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await sends;
}

Task<> reduce_ordered(Channel channel, Reduction given, int root) {
  const OrderedNode node = node_of_equal({channel.size(), root}, channel.rank(), 1, no_threshold);
  const bool is_root = channel.rank() == root;
  Partial partial(given.send, given.op, is_root ? given.receive : Buffer());
  for (const OrderedNode::Child& child : node.children) {
    co_await channel.post_receive(partial.incoming(), child.record.gather_root);
    if (child.cube.last < channel.rank()) {
      partial.prepend_incoming();
    } else {
      partial.append_incoming();
    }
  }
  if (is_root) {
    partial.copy_to(given.receive.address);
  } else {
    co_await channel.post_send(partial.value(), node.parent);
  }
}

}  // namespace wisp::detail
