#pragma once

#include <cstddef>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/task.hpp"

/// Collectives on a channel, for algorithms that are one operation made of several: they follow each other on
/// the operation's own tag. Arguments are the caller's care.

namespace wisp::detail {

Task<> barrier_on(Channel channel);
Task<> bcast_on(Channel channel, Buffer buffer, int root);
/// `receive` is size() blocks.
Task<> allgather_on(Channel channel, ConstBuffer send, Buffer receive);
/// `receive` is size() blocks of any sizes, which follow each other; all ranks know the sizes.
Task<> allgatherv_on(Channel channel, ConstBuffer send, std::byte* receive, std::vector<std::size_t> sizes);
Task<> alltoall_on(Channel channel, ConstBuffer send, Buffer receive);
Task<> allreduce_on(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op);
/// An error on all ranks unless all are in the operation of this name. O(log p α)
Task<> compare_calls_on(Channel channel);

}  // namespace wisp::detail
