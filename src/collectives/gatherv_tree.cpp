// Gather of irregular blocks in linear time: up an ordered binomial tree that fits the sizes, so that a rank
// with few bytes always sends to one with more, and nobody waits for large blocks to be passed on.
//
//   sizes  1 0 5 1   2 9 1 1        first the tree (ordered_tree.cpp), then the blocks
//          └►└►▲◄┘   └►▲◄┘◄┘
//              └───────►┘           3 ⌈log2 p⌉ α + Σ m_i β; root r: as if m_r = ∞
//
// Cubes that reach the threshold send straight to the root, which hears of their number with the tree and of
// each by a header. Source: Träff 2019, Theorem 1, and section 3 for the threshold.

#include "collectives/ordered_tree.hpp"

namespace wisp::detail {
namespace {

/// Messages for the root: where they go, or where they are dropped if the sizes are not as expected.
class Arrivals {
 public:
  Arrivals(const Channel& channel, const BlockList& blocks) : channel_(channel), blocks_(blocks) {}

  void expect(std::uint64_t bytes, const std::vector<int>& ranks, bool agrees, int source) {
    if (agrees) {
      places_.emplace_back(blocks_, ranks);
      posts.add(channel_.post_receive(places_.back().buffer(), source));
    } else {
      dropped_.emplace_back(bytes);
      posts.add(channel_.post_receive({dropped_.back().data(), bytes, MPI_PACKED}, source));
    }
  }

 private:
  const Channel& channel_;
  const BlockList& blocks_;
  std::vector<JoinedBlocks> places_;
  std::vector<ScratchVector> dropped_;

 public:
  Posts posts;  ///< given up before the memory that they go to
};

}  // namespace

Task<> receive_straight(Channel channel, const BlockList& blocks, OrderedRoot& at_root,
                        std::vector<OrderedMemory::Early>& early) {
  Arrivals arrivals(channel, blocks);
  co_await await_straight(channel.lane(1), at_root, early, [&](const DirectHeader& header, int source) {
    arrivals.expect(header.bytes, at_root.joined(header.cube), at_root.agrees(header.cube), source);
  });
  co_await arrivals.posts;
}

Task<> gatherv_tree(Channel channel, ConstBuffer send, BlockList blocks, int root, std::uint64_t threshold,
                    std::shared_ptr<OrderedMemory> memory) {
  const OrderedHypercube cubes(channel.size(), root);
  const bool is_root = channel.rank() == root;
  OrderedNode& node = memory->node;
  if (!node.is_known) {
    co_await construct_ordered_tree(channel, cubes, is_root ? 0 : bytes_of(send), threshold, node);
  }
  if (!is_root) {
    if (node.parent >= 0) co_await gather_subtree(channel, send, node);
    co_return;
  }
  OrderedRoot at_root(channel, cubes, blocks, threshold);
  for (const OrderedNode::Child& child : node.children) at_root.add(child.cube, child.record);
  Arrivals arrivals(channel, blocks);
  for (const OrderedNode::Child& child : node.children) {
    const CubeRecord& record = child.record;
    if (record.remaining == 0) continue;
    arrivals.expect(record.remaining, at_root.left_over(child.cube), at_root.agrees(child.cube),
                    record.gather_root);
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));
  co_await receive_straight(channel, blocks, at_root, memory->early);
  co_await arrivals.posts;
  at_root.check();
}

}  // namespace wisp::detail
