#pragma once

#include "wisp/comm.hpp"

/// Collectives as tasks to await. Each has the blocking member of the same name on Comm, and a nonblocking
/// one with an i before it. All members of the communicator start its collectives in the same order; with
/// `own_tag`, those with different tags may start in any order.
///
/// A buffer's count is that of the whole buffer: where MPI counts per rank (gather, allgather), `receive`
/// holds size() blocks. `send` may be in_place() where MPI has MPI_IN_PLACE. Operators are applied in rank
/// order. p: ranks, n: bytes of one rank, α: latency, β: time per byte. Wrong arguments throw an Error on the
/// rank that gave them, before any message.

namespace wisp {

using OwnTag = Comm::OwnTag;

/// Ends when all have begun. ⌈log2 p⌉ α.
Task<> barrier(const Comm& comm, OwnTag own_tag = {});

/// The root's buffer to all. ⌈log2 p⌉ (α + nβ).
Task<> bcast(const Comm& comm, const Buffer& buffer, int root, OwnTag own_tag = {});

/// The reduction of all `send` in the root's `receive`. ⌈log2 p⌉ (α + nβ); an operator that does not commute
/// takes one message more unless the root is rank 0.
Task<> reduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root,
              OwnTag own_tag = {});

/// The reduction of all `send` in everybody's `receive`. ⌊log2 p⌋ (α + nβ), and two messages more unless p is
/// a power of two.
Task<> allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                 OwnTag own_tag = {});

/// The reduction over ranks 0 … rank(). ⌈log2 p⌉ (α + nβ).
Task<> scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag = {});

/// The reduction over ranks 0 … rank() - 1; rank 0's `receive` stays as it is. ⌈log2 p⌉ (α + nβ).
Task<> exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
              OwnTag own_tag = {});

/// Everybody's block in the root's `receive`, by rank. ⌈log2 p⌉ α + (p - 1) nβ.
Task<> gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
              OwnTag own_tag = {});

/// Everybody's block in everybody's `receive`, by rank. ⌈log2 p⌉ α + (p - 1) nβ.
Task<> allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, OwnTag own_tag = {});

}  // namespace wisp
