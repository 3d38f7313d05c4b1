// Gather of small irregular blocks in ⌈log2 p⌉ rounds: up the ordered binomial tree of equal blocks, which
// all ranks know, and each message carries the blocks beside their sizes. Whoever has come to the threshold
// by then sends its blocks straight to the root instead, and an empty message up the tree.
//
//   0 ─► 1 ─┐                  message: { bytes, sums, direct messages so far | blocks }
//   2 ─► 3 ─┴► 3 ─► root
//
//   ⌈log2 p⌉ (α + Tβ) + Σ m_i β, T: the threshold; without one it is the binomial tree that forgets about
//   sizes, up to ⌈log2 p⌉ (α + Σ m_i β). Source: made for wisp; the threshold from Träff 2019, section 3.

#include <cstring>
#include <deque>
#include <utility>

#include "collectives/ordered_tree.hpp"

namespace wisp::detail {

namespace {

/// A child's message.
struct Carried {
  ScratchVector message;
  CubeRecord record;

  const std::byte* blocks() const { return message.data() + sizeof(CubeRecord); }
};

/// The messages of all children, in the order in which their cubes join.
Task<> receive_carried(Channel channel, const OrderedNode& node, std::vector<Carried>& carried) {
  std::vector<Posted> probes;
  for (const OrderedNode::Child& child : node.children) {
    probes.push_back(channel.post_probe(child.record.gather_root));
  }
  carried.resize(node.children.size());
  Posts receives;
  for (std::size_t k = 0; k < probes.size(); ++k) {
    Posted& probe = probes[k];
    const std::size_t bytes = (co_await probe).bytes;
    carried[k].message = ScratchVector(bytes);
    receives.add(channel.post_receive({carried[k].message.data(), bytes, MPI_BYTE},
                                      node.children[k].record.gather_root));
  }
  co_await receives;
  for (Carried& child : carried) std::memcpy(&child.record, child.message.data(), sizeof(CubeRecord));
}

/// A message that holds a record and room for blocks.
ScratchVector message_of(const CubeRecord& record) {
  ScratchVector message(sizeof(CubeRecord) + record.remaining);
  std::memcpy(message.data(), &record, sizeof(CubeRecord));
  return message;
}

/// What a rank holds of its cube: a message to be, whose record is that of the cube.
class Collected {
 public:
  Collected(int rank, const ConstBuffer& own, const TypeLayout& layout) {
    record.remaining = own.count * layout.size;
    record.gather_root = rank;
    record.sums.add(rank, record.remaining);
    message = message_of(record);
    pack(own, layout, message.data() + sizeof(CubeRecord));
    cube = {rank, rank};
  }
  void join(const Cube& sibling, const Carried& theirs) {
    const bool is_first = cube.first < sibling.first;
    const std::uint64_t ours = record.remaining;
    record.remaining += theirs.record.remaining;
    record.direct += theirs.record.direct;
    record.sums = record.sums + theirs.record.sums;
    ScratchVector joined = message_of(record);
    std::byte* first = joined.data() + sizeof(CubeRecord);
    std::memcpy(first + (is_first ? 0 : theirs.record.remaining), message.data() + sizeof(CubeRecord), ours);
    std::memcpy(first + (is_first ? ours : 0), theirs.blocks(), theirs.record.remaining);
    message.swap(joined);
    cube = detail::join(cube, sibling);
  }
  ConstBuffer blocks() const { return {message.data() + sizeof(CubeRecord), record.remaining, MPI_PACKED}; }

  Cube cube;
  CubeRecord record;
  ScratchVector message;
};

/// What was sent straight to the root, until it is there: the root takes it only when it has heard of it up
/// the tree.
class SentStraight {
 public:
  explicit SentStraight(const Channel& channel) : channel_(channel), headers_(channel.lane(1)) {}

  void send(Collected& collected, int root) {
    Sent& sent = sent_.emplace_back();
    sent.header = {collected.cube, collected.record.remaining};
    posts.add(headers_.post_send(bytes_of_object(sent.header), root));
    posts.add(channel_.post_send(collected.blocks(), root));
    collected.record.remaining = 0;
    collected.record.direct += 1;
    sent.message = std::exchange(collected.message, message_of(collected.record));
  }

  Posts posts;

 private:
  struct Sent {
    DirectHeader header;
    ScratchVector message;
  };

  const Channel& channel_;
  Channel headers_;
  std::deque<Sent> sent_;
};

}  // namespace

Task<> gatherv_combined(Channel channel, ConstBuffer send, BlockList blocks, int root,
                        std::uint64_t threshold) {
  const OrderedNode node = node_of_equal({channel.size(), root}, channel.rank(), 1, no_threshold);
  std::vector<Carried> carried;
  const Channel carrying = channel.lane(0);
  if (channel.rank() != root) {
    Collected collected(channel.rank(), send, TypeLayout::of(send.type));
    SentStraight straight(channel);
    if (collected.record.remaining >= threshold) straight.send(collected, root);
    co_await receive_carried(carrying, node, carried);
    for (std::size_t k = 0; k < carried.size(); ++k) {
      collected.join(node.children[k].cube, carried[k]);
      if (collected.record.remaining >= threshold) straight.send(collected, root);
    }
    co_await carrying.post_send(
        {collected.message.data(), sizeof(CubeRecord) + collected.record.remaining, MPI_BYTE}, node.parent);
    co_await straight.posts;
    co_return;
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));
  co_await receive_carried(carrying, node, carried);
  const OrderedHypercube cubes(channel.size(), root);
  OrderedRoot at_root(channel, cubes, blocks, threshold);
  for (std::size_t k = 0; k < carried.size(); ++k) {
    const Cube& cube = node.children[k].cube;
    at_root.add(cube, carried[k].record);
    if (at_root.agrees(cube)) unpack_blocks(carried[k].blocks(), blocks, at_root.left_over(cube));
  }
  // Here it is not the sizes that say who gathers.
  for (StraightCube& source : at_root.straight())
    source.gather_root = cubes.gather_root_of_equal(source.cube);
  co_await receive_straight(channel, blocks, at_root);
  at_root.check();
}

}  // namespace wisp::detail
