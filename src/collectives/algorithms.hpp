#pragma once

#include <cstdint>
#include <memory>

#include "collectives/block_list.hpp"
#include "collectives/doubling_scan.hpp"
#include "collectives/exchange_grid.hpp"
#include "comm/world.hpp"
#include "wisp/channel.hpp"
#include "wisp/comm.hpp"
#include "wisp/task.hpp"

/// One coroutine for each algorithm; arguments are checked already. A tree's radix is 2^radix_bits. `blocks`
/// are one for each rank; a `send` that is in place means that this rank's block is there already.

namespace wisp::detail {

/// Of trees that messages go down, and of those that they come up: where ranks share cores, a parent sends to
/// few, but takes from as many as there are, unless those of an allreduce are long: many of them at once
/// disturb each other.
inline int down_radix_bits(const Channel& channel) {
  return channel.machine().shares_cores ? 2 : 1;
}
constexpr bool is_narrow_up(std::size_t bytes) {
  return bytes > 16384;
}
inline int up_radix_bits(const Channel& channel, std::size_t bytes = 0) {
  return channel.machine().shares_cores && !is_narrow_up(bytes) ? 5 : 1;
}

/// Into how many pieces a vector goes over the circulant graph, if it can be cut between `units`.
inline int circulant_pieces_of(const Channel& channel, std::size_t bytes, std::size_t units) {
  return circulant_pieces(channel.machine(), bytes, ceil_log2(channel.size()), units);
}

Task<> barrier_tree(Channel channel);

Task<> bcast_tree(Channel channel, Buffer buffer, int root, int radix_bits);
Task<> bcast_circulant(Channel channel, Buffer buffer, int root, int pieces);

/// Operands meet in rank order if `root` is 0.
Task<> reduce_tree(Channel channel, Reduction given, int root, int radix_bits);
/// Operands meet in rank order for any root.
Task<> reduce_to_zero_first(Channel channel, Reduction given, int root, int radix_bits);
Task<> reduce_ordered(Channel channel, Reduction given, int root);
/// The operator commutes.
Task<> reduce_circulant(Channel channel, Reduction given, int root, int pieces);

Task<> allreduce_recursive_doubling(Channel channel, Reduction given);
Task<> allreduce_tree(Channel channel, Reduction given, int radix_bits);
/// The operator commutes.
Task<> allreduce_circulant(Channel channel, Reduction given);

/// `send` is a vector of all blocks; `block` is where this rank's goes.
Task<> reduce_scatter_pairwise(Channel channel, BlockList send, Buffer block, Operator op);
/// Blocks follow each other; the operator commutes.
Task<> reduce_scatter_circulant(Channel channel, BlockList send, Buffer block, Operator op);
Task<> reduce_scatter_tree(Channel channel, BlockList send, Buffer block, Operator op, int radix_bits);

Task<> scan_chain(Channel channel, Reduction given);
Task<> exscan_chain(Channel channel, Reduction given);
/// A scan whose last rank broadcasts the total.
Task<> scan_then_bcast(Channel channel, Task<> scan, Buffer inclusive, Buffer total);

Task<> scan_two_tree(Channel channel, ConstBuffer send, ScanResults results, Operator op);

/// `receive` is size() blocks; only the root's is looked at, where `send` may be in place.
Task<> gather_tree(Channel channel, ConstBuffer send, Buffer receive, int root, int radix_bits);
/// The root's part of the direct gather and scatter, and that of the others.
Task<> gather_direct(Channel channel, ConstBuffer send, BlockList blocks, int root);
Task<> send_block(Channel channel, ConstBuffer send, int root);
struct OrderedMemory;
struct LedMemory;
/// Of blocks whose sizes only their ranks and the root know. What comes to `threshold` bytes goes straight to
/// the root. What a run finds out, the next run of a persistent operation need not.
Task<> gatherv_tree(Channel channel, ConstBuffer send, BlockList blocks, int root, std::uint64_t threshold,
                    std::shared_ptr<OrderedMemory> memory);
Task<> gatherv_led(Channel channel, ConstBuffer send, BlockList blocks, int root, std::uint64_t threshold,
                   std::shared_ptr<LedMemory> memory);
/// Merges sorted sequences. The root's `receive` has room for all.
Task<> gather_merge(Channel channel, ConstBuffer send, Buffer receive, int root, Merge merge);
Task<> allgather_merge(Channel channel, ConstBuffer send, Buffer receive, Merge merge);

/// `send` is size() blocks; only the root's is looked at, where `receive` may be in place.
Task<> scatter_tree(Channel channel, ConstBuffer send, Buffer receive, int root, int radix_bits);
Task<> scatter_direct(Channel channel, BlockList blocks, Buffer receive, int root);
Task<> receive_block(Channel channel, Buffer receive, int root);
Task<> scatter_ordered(Channel channel, BlockList blocks, Buffer receive, int root, std::uint64_t threshold);
Task<> scatterv_tree(Channel channel, BlockList blocks, Buffer receive, int root, std::uint64_t threshold,
                     std::shared_ptr<OrderedMemory> memory);
Task<> scatterv_led(Channel channel, BlockList blocks, Buffer receive, int root, std::uint64_t threshold);

Task<> allgather_dissemination(Channel channel, ConstBuffer send, BlockList blocks);
Task<> allgather_circulant(Channel channel, ConstBuffer send, BlockList blocks);
Task<> allgather_tree(Channel channel, ConstBuffer send, Buffer receive);

/// Regular: all blocks of all ranks have one size.
Task<> alltoall_grid(Channel channel, BlockList send, BlockList receive, ExchangeGrid grid, bool is_regular);
Task<> alltoall_pairwise(Channel channel, BlockList send, BlockList receive);
Task<> alltoall_direct(Channel channel, BlockList send, BlockList receive);

}  // namespace wisp::detail
