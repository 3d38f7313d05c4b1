// Collectives of two levels: among one rank of each node, and inside the nodes, each by whichever algorithm
// is cheapest there. A node's port carries what its ranks have once, and a root speaks for its node.
//
//   node A     node B          bcast      between, inside
//   a0 ──────► b0              reduce     inside, between
//   ├► a1      ├► b1           allreduce  reduce inside, allreduce between, bcast inside
//   └► a2      └► b2
//
// Cost: the sum of those of the levels. Source: Träff, Hunold 2020 (decompositions of collectives by nodes)

#include "collectives/two_level.hpp"

#include <cstring>
#include <optional>

namespace wisp::detail {

TwoLevels::TwoLevels(const Channel& channel, const Arguments& given, int member)
    : nodes(given.nodes), node(nodes->node_of(channel.rank())) {
  const int own = nodes->member_of(channel.rank());
  seat = member < 0 ? nodes->size_of(node) + member : member;
  if (given.root >= 0) {
    root_node = nodes->node_of(given.root);
    if (root_node == node) seat = nodes->member_of(given.root);
  }
  inside = channel.among(GroupNodes::inside(nodes, node), own, Level::inside);
  if (own == seat)
    between = channel.among(GroupNodes::between(nodes, member, given.root), node, Level::between);
}

NodeBlocks::NodeBlocks(const GroupNodes& nodes, const Buffer& all)
    : nodes_(nodes),
      is_users_(true),
      all_(all),
      layout_(TypeLayout::of(all.type)),
      block_(all.count / as_size(nodes.group().size())) {
  count_blocks();
}

NodeBlocks::NodeBlocks(const GroupNodes& nodes, std::size_t bytes_of_block, Room room)
    : nodes_(nodes),
      is_padded_(room == Room::even),
      scratch_(bytes_of_block * (is_padded_ ? as_size(nodes.nodes()) * as_size(nodes.shape().most)
                                            : as_size(nodes.group().size()))),
      all_{scratch_.data(), scratch_.bytes(), MPI_PACKED},
      layout_(TypeLayout::of(MPI_PACKED)),
      block_(bytes_of_block) {
  count_blocks();
}

void NodeBlocks::count_blocks() {
  counts_.reserve(as_size(nodes_.nodes()));
  for (int node = 0; node < nodes_.nodes(); ++node) {
    counts_.push_back(signed_of(block_ * as_size(nodes_.size_of(node))));
  }
}

Buffer NodeBlocks::range(std::size_t first, int blocks) const {
  return {element(all_.address, first * block_, layout_), as_size(blocks) * block_, all_.type};
}

Buffer NodeBlocks::of_rank(int rank) const {
  return range(begin(nodes_.node_of(rank)) + as_size(nodes_.member_of(rank)), 1);
}

void NodeBlocks::copy_from(const ConstBuffer& all, int ranks) const {
  const BlockList blocks = BlockList::regular(all, ranks);
  for (int rank = 0; rank < ranks; ++rank) copy_block(blocks(rank), of_rank(rank));
}

void NodeBlocks::copy_to(const Buffer& all, int ranks) const {
  const BlockList blocks = BlockList::regular(all, ranks);
  for (int rank = 0; rank < ranks; ++rank) copy_block(of_rank(rank), blocks(rank));
}

namespace {

/// Of the same vectors or blocks on another level.
Arguments arguments_of(const Arguments& given, const ConstBuffer& send, const Buffer& receive, int root) {
  Arguments of_level;
  of_level.send = send;
  of_level.receive = receive;
  of_level.op = given.op;
  of_level.kind = given.kind;
  of_level.root = root;
  of_level.bytes = given.bytes;
  return of_level;
}

/// The same of a block for each node, as large as that of the fullest.
Arguments arguments_of_nodes(const TwoLevels& at, const Arguments& given, const ConstBuffer& send,
                             const Buffer& receive) {
  Arguments between = arguments_of(given, send, receive, given.root < 0 ? -1 : at.root_node);
  between.bytes *= at.nodes->shape().most;
  return between;
}

/// The blocks of a gather or scatter between its levels: at the root those of all nodes, each with as much
/// room, at who speaks for another node those of its ranks. `users` are all blocks in the user's memory.
struct RootedBlocks {
  RootedBlocks(const TwoLevels& at, const Buffer& users, std::int64_t bytes, bool root) : is_root(root) {
    const GroupNodes& nodes = *at.nodes;
    const NodeShape& shape = nodes.shape();
    if (is_root && shape.in_order && shape.is_even) {
      all.emplace(nodes, users);
    } else if (is_root) {
      all.emplace(nodes, as_size(bytes), NodeBlocks::Room::even);
    } else if (at.is_seat()) {
      scratch = ScratchVector(as_size(bytes) * as_size(shape.most));
      if (!shape.is_even && scratch.bytes() > 0) std::memset(scratch.data(), 0, scratch.bytes());
    }
    whole = is_root ? all->whole() : Buffer{scratch.data(), scratch.bytes(), MPI_PACKED};
    if (is_root) of_node = all->of_node(at.node);
    if (!is_root && at.is_seat())
      of_node = {scratch.data(), as_size(bytes) * as_size(at.inside.size()), MPI_PACKED};
  }
  bool are_copied() const { return is_root && !all->is_users(); }

  bool is_root;
  std::optional<NodeBlocks> all;
  ScratchVector scratch;
  Buffer whole;    ///< of all nodes; elsewhere of one, with the room of the fullest
  Buffer of_node;  ///< of the ranks of this node
};

}  // namespace

Task<> barrier_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  co_await gather_tree(at.inside, {}, {}, at.seat, up_radix_bits(at.inside));
  const Arguments nothing_given;
  if (at.is_seat()) co_await run_cheapest(barrier_row, at.between, nothing_given);
  co_await bcast_tree(at.inside, {}, at.seat, down_radix_bits(at.inside));
}

Task<> bcast_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  const Arguments between = arguments_of(given, {}, given.receive, at.root_node);
  const Arguments inside = arguments_of(given, {}, given.receive, at.seat);
  if (at.is_seat()) co_await run_cheapest(bcast_row, at.between, between);
  co_await run_cheapest(bcast_row, at.inside, inside);
}

Task<> reduce_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  ScratchVector sum;
  Buffer of_node = given.receive;
  if (at.is_seat() && channel.rank() != given.root) {
    sum = ScratchVector(TypeLayout::of(given.send.type), given.send.count);
    of_node = {sum.data(), given.send.count, given.send.type};
  }
  const Arguments inside = arguments_of(given, given.send, of_node, at.seat);
  co_await run_cheapest(reduce_row, at.inside, inside);
  const Arguments between = arguments_of(given, of_node, given.receive, at.root_node);
  if (at.is_seat()) co_await run_cheapest(reduce_row, at.between, between);
}

Task<> allreduce_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  const Arguments inside = arguments_of(given, given.send, given.receive, at.seat);
  co_await run_cheapest(reduce_row, at.inside, inside);
  const Arguments between = arguments_of(given, given.receive, given.receive, -1);
  if (at.is_seat()) co_await run_cheapest(allreduce_row, at.between, between);
  co_await run_cheapest(bcast_row, at.inside, inside);
}

/// Each member of a node speaks for a part of the vector, so that all of them join and send at once.
Task<> allreduce_lanes(Channel channel, Arguments given) {
  const int member = given.nodes->member_of(channel.rank());
  const TwoLevels at(channel, given, member);
  const int members = at.inside.size();
  const BlockList parts = BlockList::even(given.send, members);
  const BlockList sums = BlockList::even(given.receive, members);
  co_await reduce_scatter_circulant(at.inside, parts, sums(member), given.op);
  Arguments between = arguments_of(given, sums(member), sums(member), -1);
  between.bytes = signed_of(sums.bytes(member));
  if (sums.count(member) > 0) co_await run_cheapest(allreduce_row, at.between, between, members);
  co_await allgather_circulant(at.inside, in_place(), sums);
}

namespace {

/// The last of each node has the sum of its ranks, and learns with the others what comes before them.
Task<> sum_of_nodes_before(const TwoLevels& at, const Arguments& given, ConstBuffer of_node, Buffer before) {
  const Arguments between = arguments_of(given, of_node, before, -1);
  if (at.is_seat()) co_await run_cheapest(exscan_row, at.between, between);
  const Arguments down = arguments_of(given, {}, before, at.seat);
  if (at.node > 0) co_await run_cheapest(bcast_row, at.inside, down);
}

}  // namespace

Task<> scan_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given, -1);
  const ConstBuffer& like = given.send;
  const Arguments inside = arguments_of(given, given.send, given.receive, -1);
  co_await run_cheapest(scan_row, at.inside, inside);
  const ScratchVector sum(TypeLayout::of(like.type), like.count);
  const Buffer before{sum.data(), like.count, like.type};
  co_await sum_of_nodes_before(at, given, given.receive, before);
  if (at.node > 0) given.op.apply(before.address, given.receive.address, like.count, like.type);
}

Task<> exscan_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given, -1);
  const ConstBuffer& like = given.send;
  const TypeLayout layout = TypeLayout::of(like.type);
  const ScratchVector inclusive(layout, like.count);
  const Buffer of_node{inclusive.data(), like.count, like.type};
  const ScanResults results{of_node, at.inside.rank() > 0 ? given.receive : Buffer(), {}};
  co_await doubling_scan(LineWalk(at.inside), SideSum(Side::before, given.reduction(), results), NoSum());
  const ScratchVector sum(layout, like.count);
  const Buffer before{sum.data(), like.count, like.type};
  co_await sum_of_nodes_before(at, given, of_node, before);
  if (at.node == 0) co_return;
  if (at.inside.rank() > 0) {
    given.op.apply(before.address, given.receive.address, like.count, like.type);
  } else {
    copy_elements(before.address, given.receive.address, like.count, like.type, layout);
  }
}

Task<> gather_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  const bool is_root = channel.rank() == given.root;
  const RootedBlocks blocks(at, given.receive, given.bytes, is_root);
  ConstBuffer own = given.send;
  if (is_in_place(own) && blocks.are_copied())
    own = BlockList::regular(given.receive, channel.size())(given.root);
  const Arguments inside = arguments_of(given, own, blocks.of_node, at.seat);
  co_await run_cheapest(gather_row, at.inside, inside);
  if (!at.is_seat()) co_return;
  const Arguments between = is_root ? arguments_of_nodes(at, given, in_place(), blocks.whole)
                                    : arguments_of_nodes(at, given, blocks.whole, {});
  co_await run_cheapest(gather_row, at.between, between);
  if (blocks.are_copied()) blocks.all->copy_to(given.receive, channel.size());
}

Task<> scatter_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  const bool is_root = channel.rank() == given.root;
  const int ranks = channel.size();
  const Buffer users = is_root ? BlockList::regular(given.send, ranks).range(0, ranks) : Buffer();
  const RootedBlocks blocks(at, users, given.bytes, is_root);
  if (blocks.are_copied()) blocks.all->copy_from(given.send, ranks);
  if (at.is_seat()) {
    const Arguments between = is_root ? arguments_of_nodes(at, given, blocks.whole, in_place())
                                      : arguments_of_nodes(at, given, {}, blocks.whole);
    co_await run_cheapest(scatter_row, at.between, between);
  }
  const Arguments inside = arguments_of(given, blocks.of_node, given.receive, at.seat);
  co_await run_cheapest(scatter_row, at.inside, inside);
}

Task<> allgather_two_level(Channel channel, Arguments given) {
  const TwoLevels at(channel, given);
  const GroupNodes& nodes = *at.nodes;
  const NodeBlocks all = nodes.shape().in_order
                             ? NodeBlocks(nodes, given.receive)
                             : NodeBlocks(nodes, as_size(given.bytes), NodeBlocks::Room::needed);
  ConstBuffer own = given.send;
  // What is in place already where the blocks of the node are put together stays there.
  if (is_in_place(own) && !(at.is_seat() && nodes.shape().in_order))
    own = BlockList::regular(given.receive, channel.size())(channel.rank());
  const Arguments inside = arguments_of(given, own, all.of_node(at.node), at.seat);
  co_await run_cheapest(gather_row, at.inside, inside);
  if (at.is_seat()) {
    Arguments between = arguments_of_nodes(at, given, in_place(), all.whole());
    const bool is_even = nodes.shape().is_even;
    if (!is_even) between.more = std::make_shared<const Arguments::More>(all.to_receive());
    co_await run_cheapest(is_even ? allgather_row : allgatherv_row, at.between, between);
  }
  Arguments down = arguments_of(given, {}, all.whole(), at.seat);
  down.bytes *= channel.size();
  co_await run_cheapest(bcast_row, at.inside, down);
  if (!nodes.shape().in_order) all.copy_to(given.receive, channel.size());
}

}  // namespace wisp::detail
