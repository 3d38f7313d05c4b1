// Scatter of irregular blocks in linear time: the gather backwards, down the same tree. The ranks find the
// tree by the sizes that they expect; the root then knows whether these are its own, before it sends a block.
//
//   3 ⌈log2 p⌉ α + Σ m_i β        Source: Träff 2019, section 2; with a threshold as in gatherv_tree.cpp

#include "collectives/ordered_tree.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

/// Sends the blocks of `ranks` as one message; an empty one says that the sizes are not as expected.
class Departures {
 public:
  Departures(const Channel& channel, const BlockList& blocks) : channel_(channel), blocks_(blocks) {}

  void send(const std::vector<int>& ranks, bool agrees, int destination) {
    places_.emplace_back(blocks_, agrees ? ranks : std::vector<int>());
    posts.add(channel_.post_send(places_.back().buffer(), destination));
  }
  Posts posts;

 private:
  const Channel& channel_;
  const BlockList& blocks_;
  std::vector<JoinedBlocks> places_;
};

}  // namespace

Task<> scatterv_tree(Channel channel, BlockList blocks, Buffer receive, int root, std::uint64_t threshold,
                     std::shared_ptr<OrderedMemory> memory) {
  const OrderedHypercube cubes(channel.size(), root);
  const bool is_root = channel.rank() == root;
  OrderedNode& node = memory->node;
  if (!node.is_known) {
    co_await construct_ordered_tree(channel, cubes, is_root ? 0 : bytes_of(receive), threshold, node);
  }
  if (!is_root) {
    if (node.parent >= 0 && !co_await scatter_subtree(channel, receive, node)) {
      throw Error(MPI_ERR_TRUNCATE,
                  std::string(channel.operation()) +
                      ": the root's counts are not what this rank and its neighbors expect; the root's error "
                      "says whose");
    }
    co_return;
  }
  OrderedRoot at_root(channel, cubes, blocks, threshold);
  for (const OrderedNode::Child& child : node.children) at_root.add(child.cube, child.record);
  Departures departures(channel, blocks);
  for (std::size_t k = node.children.size(); k-- > 0;) {
    const OrderedNode::Child& child = node.children[k];
    if (child.record.remaining == 0) continue;
    departures.send(at_root.left_over(child.cube), at_root.agrees(child.cube), child.record.gather_root);
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await await_straight(channel.lane(1), at_root, memory->early,
                          [&](const DirectHeader& header, int source) {
                            departures.send(at_root.joined(header.cube), at_root.agrees(header.cube), source);
                          });
  co_await departures.posts;
  at_root.check();
}

}  // namespace wisp::detail
