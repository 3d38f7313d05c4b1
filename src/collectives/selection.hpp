#pragma once

#include <cstddef>

#include "collectives/algorithms.hpp"
#include "comm/world.hpp"
#include "transport/type_layout.hpp"

/// Which algorithm does an operation. The choice depends only on what all ranks know: the number of ranks,
/// the size of the vectors, and whether ranks share cores.
///
///                ranks have cores of their own        ranks share cores
///   bcast        binomial tree                        tree of radix 4
///   reduce       binomial tree                        tree of radix 32
///   gather       binomial tree                        tree of radix 32
///   barrier      dissemination                        up and down these trees
///   allreduce    recursive doubling                   up and down these trees
///   allgather    dissemination                        up and down these trees; from 64 KiB on dissemination
///   scan, exscan dissemination                        chain
///
/// On cores of their own, ranks work at the same time, and what counts is the number of dependent steps.
/// Where they share cores, a dependent step waits until the rank is given a core, which takes as long as
/// dozens of messages: few steps and few messages are best.

namespace wisp::detail {

inline bool shares_cores(const Channel& channel) {
  return channel.world().shares_cores();
}

/// Of trees that messages go down, and of those that they come up: where ranks share cores, a parent sends to
/// few, but takes from as many as there are.
inline int down_radix_bits(const Channel& channel) {
  return shares_cores(channel) ? 2 : 1;
}
inline int up_radix_bits(const Channel& channel) {
  return shares_cores(channel) ? 5 : 1;
}

inline TreeRadixBits tree_radix_bits(const Channel& channel) {
  return {up_radix_bits(channel), down_radix_bits(channel)};
}

inline Task<> choose_barrier(Channel channel) {
  return shares_cores(channel) ? barrier_tree(channel, tree_radix_bits(channel))
                               : barrier_dissemination(channel);
}

inline Task<> choose_allreduce(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  return shares_cores(channel) ? allreduce_tree(channel, send, receive, op, tree_radix_bits(channel))
                               : allreduce_recursive_doubling(channel, send, receive, op);
}

inline Task<> choose_scan(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  return shares_cores(channel) ? scan_chain(channel, send, receive, op)
                               : scan_dissemination(channel, send, receive, op);
}

inline Task<> choose_exscan(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  return shares_cores(channel) ? exscan_chain(channel, send, receive, op)
                               : exscan_dissemination(channel, send, receive, op);
}

inline Task<> choose_allgather(Channel channel, ConstBuffer send, Buffer receive) {
  constexpr std::size_t largest_result = 64 * 1024;
  const bool small = receive.count * TypeLayout::of(receive.type).size <= largest_result;
  return shares_cores(channel) && small ? allgather_tree(channel, send, receive, tree_radix_bits(channel))
                                        : allgather_dissemination(channel, send, receive);
}

}  // namespace wisp::detail
