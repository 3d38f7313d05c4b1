#pragma once

#include <vector>

#include "chain/scans.hpp"
#include "collectives/reduction.hpp"

/// One coroutine for each collective on a chain. Arguments are the caller's care; buffers and operators are
/// needed until the task is done.

namespace wisp::detail {

/// A communicator of the ranks of a link. O(p) memory.
Task<Comm> comm_over(Link link);
Task<> chain_barrier(Link link);
Task<> chain_bcast(Link link, Buffer buffer, int root);
/// `receive` is the root's.
Task<> chain_reduce(Link link, Reduction given, int root);
Task<> chain_allreduce(Link link, Reduction given);

// By the names that what is written for a Channel too calls them.
inline Task<> bcast_on(Link link, Buffer buffer, int root) {
  return chain_bcast(std::move(link), buffer, root);
}
inline Task<> allreduce_on(Link link, ConstBuffer send, Buffer receive, MPI_Op op) {
  return chain_allreduce(std::move(link), {send, receive, op});
}
Task<> chain_scan(Link link, const Reduction& given, bool is_inclusive);
/// `after` is for the sums over higher ranks.
Task<> chain_double_scan(Link link, const Reduction& given, const Buffer& after, bool is_inclusive);
/// The bytes of the left neighbor, of any number; none on rank 0.
Task<ScratchVector> from_left(Link link, ConstBuffer mine);
/// `color` is compared with the neighbors', byte by byte.
Task<> chain_segmented_scan(Link link, std::vector<std::byte> color, Reduction given, bool is_inclusive);
/// Blocks in rank order; the side with size() of them is the root's.
Task<> chain_gather(Link link, ConstBuffer send, Buffer receive, int root);
Task<> chain_scatter(Link link, ConstBuffer send, Buffer receive, int root);
/// Without a `send` (in place), block rank() of `receive` is this rank's own already.
Task<> chain_allgather(Link link, ConstBuffer send, Buffer receive);

}  // namespace wisp::detail
