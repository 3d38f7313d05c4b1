#pragma once

#include "wisp/channel.hpp"
#include "wisp/task.hpp"

/// One coroutine for each algorithm; arguments are checked already. A tree's radix is 2^radix_bits.

namespace wisp::detail {

struct TreeRadixBits {
  int up;
  int down;
};

Task<> barrier_dissemination(Channel channel);
Task<> barrier_tree(Channel channel, TreeRadixBits radix_bits);

Task<> bcast_tree(Channel channel, Buffer buffer, int root, int radix_bits);

/// Operands meet in rank order if `root` is 0.
Task<> reduce_tree(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op, int root, int radix_bits);
/// Operands meet in rank order for any root.
Task<> reduce_ordered(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op, int root, int radix_bits);

Task<> allreduce_recursive_doubling(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op);
Task<> allreduce_tree(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op, TreeRadixBits radix_bits);

Task<> scan_dissemination(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op);
Task<> exscan_dissemination(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op);
Task<> scan_chain(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op);
Task<> exscan_chain(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op);

/// `receive` is size() blocks; only the root's is looked at, where `send` may be in place.
Task<> gather_tree(Channel channel, ConstBuffer send, Buffer receive, int root, int radix_bits);

/// `send` may be in place.
Task<> allgather_dissemination(Channel channel, ConstBuffer send, Buffer receive);
Task<> allgather_tree(Channel channel, ConstBuffer send, Buffer receive, TreeRadixBits radix_bits);

}  // namespace wisp::detail
