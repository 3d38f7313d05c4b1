#include "wisp/detail/channel_collectives.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/channel_walks.hpp"
#include "collectives/collective.hpp"
#include "pattern/knomial_tree.hpp"
#include "wisp/detail/tree_neighbors.hpp"

namespace wisp::detail {

Task<> barrier_on(Channel channel) {
  if (channel.machine().shares_cores) return barrier_tree(std::move(channel));
  return doubling_barrier(RingWalk(std::move(channel)));
}

Task<> bcast_on(Channel channel, Buffer buffer, int root) {
  const int radix_bits = down_radix_bits(channel);
  return bcast_tree(std::move(channel), buffer, root, radix_bits);
}

Task<> allgather_on(Channel channel, ConstBuffer send, Buffer receive) {
  if (channel.machine().shares_cores) {
    return allgather_tree(std::move(channel), send, receive);
  }
  BlockList blocks = BlockList::regular(receive, channel.size());
  return allgather_dissemination(std::move(channel), send, std::move(blocks));
}

Task<> allgatherv_on(Channel channel, ConstBuffer send, std::byte* receive, std::vector<std::size_t> sizes) {
  const std::vector<std::int64_t> counts(sizes.begin(), sizes.end());
  BlockList blocks = BlockList::irregular(ConstBlocks(receive, counts, {}, MPI_BYTE), channel.size());
  co_await allgather_circulant(std::move(channel), send, std::move(blocks));
}

Task<> alltoall_on(Channel channel, ConstBuffer send, Buffer receive) {
  Arguments given;
  given.send = send;
  given.receive = receive;
  given.bytes = signed_of(bytes_of(receive) / as_size(channel.size()));
  return run_cheapest(alltoall_row, std::move(channel), given);
}

Task<> allreduce_on(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  if (channel.machine().shares_cores) {
    return allreduce_tree(channel, {send, receive, op}, up_radix_bits(channel, bytes_of(receive)));
  }
  return allreduce_recursive_doubling(std::move(channel), {send, receive, op});
}

TreeNeighbors tree_neighbors(const Channel& channel) {
  const KnomialTree tree(channel.rank(), channel.size(), 0, down_radix_bits(channel));
  TreeNeighbors neighbors{tree.is_root() ? -1 : tree.parent(), {}, channel.rank() + tree.subtree_size()};
  for (int k = 0; k < tree.child_count(); ++k) neighbors.children.push_back(tree.child(k));
  return neighbors;
}

}  // namespace wisp::detail
