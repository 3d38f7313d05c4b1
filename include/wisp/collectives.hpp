#pragma once

#include <string_view>
#include <vector>

#include "wisp/comm.hpp"
#include "wisp/exchange.hpp"
#include "wisp/operation.hpp"

/// Collectives as operations, to be awaited, run, started or made persistent. Each has the blocking member of
/// the same name on Comm, a nonblocking one with an i before it, and a persistent one with _init behind it.
/// All members of the communicator start its collectives in the same order; those with different `own_tag`,
/// and persistent ones, in any order.
///
/// A buffer's count is that of the whole buffer: where MPI counts per rank (gather, allgather, scatter,
/// alltoall), the side with all blocks holds size() of them. `send` may be in_place() where MPI has
/// MPI_IN_PLACE. Operators are applied in rank order.
///
/// p: ranks, n: bytes of one rank, α: latency, β: time per byte. Costs are those of small n where ranks have
/// cores of their own; for large n other algorithms are chosen (docs/collectives.md). Wrong arguments throw
/// an Error on the rank that gave them, before any message.

namespace wisp {

/// The algorithms that `CollectiveOptions::algorithm` may name for "bcast", "reduce", …; those of
/// "reduce_scatter" do "reduce_scatter_block" too, those of "alltoallv" "alltoallw".
std::vector<std::string_view> algorithms_of(std::string_view operation);

/// The largest number of ranks on which gatherv and scatterv send every block straight to or from the root;
/// on more they are led down a tree. INT_MAX: on any number. By the cost model, or the environment's
/// WISP_DIRECT_RANKS.
int direct_gatherv_ranks(const Comm& comm);

/// Ends when all have begun. ⌈log2 p⌉ α.
Operation barrier(const Comm& comm, const CollectiveOptions& options = {});

/// The root's buffer to all. ⌈log2 p⌉ (α + nβ).
Operation bcast(const Comm& comm, const Buffer& buffer, int root, const CollectiveOptions& options = {});

/// The reduction of all `send` in the root's `receive`. ⌈log2 p⌉ (α + nβ); an operator that does not commute
/// takes one message more unless the root is rank 0.
Operation reduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 int root, const CollectiveOptions& options = {});

/// The reduction of all `send` in everybody's `receive`. ⌊log2 p⌋ (α + nβ), and two messages more unless p is
/// a power of two.
Operation allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const CollectiveOptions& options = {});

/// The reduction over ranks 0 … rank(). ⌈log2 p⌉ (α + nβ).
Operation scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Operator& op,
               const CollectiveOptions& options = {});

/// The reduction over ranks 0 … rank() - 1; rank 0's `receive` stays as it is. ⌈log2 p⌉ (α + nβ).
Operation exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const CollectiveOptions& options = {});

/// The scan, and the reduction over all ranks in everybody's `total`. 2 ⌈log2 p⌉ (α + nβ). In place, the
/// input is in `scan`.
Operation scan_and_bcast(const Comm& comm, const ConstBuffer& send, const Buffer& scan, const Buffer& total,
                         const Operator& op, const CollectiveOptions& options = {});

/// The reduction of all `send`, of which rank r gets block r: p blocks of `receive.count` elements. In place,
/// `receive` holds the whole input, and the block goes to its beginning. ⌊log2 p⌋ α + nβ.
Operation reduce_scatter_block(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                               const Operator& op, const CollectiveOptions& options = {});
/// The same with counts[r] elements for rank r.
Operation reduce_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, Integers counts,
                         const Operator& op, const CollectiveOptions& options = {});

/// Everybody's block in the root's `receive`, by rank. ⌈log2 p⌉ α + (p - 1) nβ.
Operation gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                 const CollectiveOptions& options = {});
/// The same with blocks of any sizes and places, which only the root gives. Directly where p is small (see
/// direct_gatherv_ranks), (p - 1) α + Σ n_i β; else 2 ⌈log4 p⌉ α + Σ n_i β, and two messages for each block
/// where few ranks have one. Sizes that differ from the root's throw MPI_ERR_TRUNCATE. A block of nothing is
/// no message: a root that expects something from a rank that has nothing waits for ever, as in MPI.
Operation gatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive, int root,
                  const CollectiveOptions& options = {});
/// Everybody's sorted sequence, of any length, merged into one in the root's `receive`, which has room for
/// all. The datatype has no gaps. 2 ⌈log2 p⌉ α + Nβ + merging N elements ⌈log2 p⌉ times.
Operation gatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const Merge& merge, const CollectiveOptions& options = {});

/// Everybody's block in everybody's `receive`, by rank. ⌈log2 p⌉ α + (p - 1) nβ.
Operation allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                    const CollectiveOptions& options = {});
/// The same with blocks of any sizes and places, which all ranks know. ⌈log2 p⌉ α + Σ n_i β.
Operation allgatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive,
                     const CollectiveOptions& options = {});
/// Everybody's sorted sequence merged into one in everybody's `receive`. 4 ⌈log2 p⌉ α + 2 N ⌈log2 p⌉ β.
Operation allgatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                     const CollectiveOptions& options = {});

/// Block r of the root's `send` to rank r; at the root, `receive` may be in place. ⌈log2 p⌉ α + (p - 1) nβ.
Operation scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const CollectiveOptions& options = {});
/// The same with blocks of any sizes and places, which only the root gives; they may overlap. Directly where
/// p is small (see direct_gatherv_ranks), (p - 1) α + Σ n_i β; else ⌈log4 p⌉ α + Σ n_i β. Sizes that differ
/// from the root's throw MPI_ERR_TRUNCATE.
Operation scatterv(const Comm& comm, const ConstBlocks& send, const Buffer& receive, int root,
                   const CollectiveOptions& options = {});

/// Block r of `send` to rank r, where it becomes block rank() of `receive`. Over a grid of k
/// dimensions, k p^(1/k) o + k (α + p nβ), or all straight.
Operation alltoall(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                   const CollectiveOptions& options = {});
/// The same with blocks of any sizes and places. In few messages over a grid of k dimensions,
/// k p^(1/k) o + k (α + Σ n_i β), and there sizes that differ from the sender's throw MPI_ERR_TRUNCATE; large
/// blocks go straight, and on few ranks or such that share cores all do. Where most blocks are empty, the
/// algorithm "direct" sends the others alone; `exchange` needs no counts at all. `send` may be in place.
Operation alltoallv(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options = {});
/// The same with a datatype for each block.
Operation alltoallw(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options = {});

/// Blocks to any ranks, none of which knows who sends to it; what comes to this rank is in `arrivals` when
/// the operation is done, in an order that depends on nothing but the arguments. A rank may send nothing,
/// several blocks to one rank, and to itself. The list is copied; the blocks and `arrivals` must live until
/// the end. m partners: 2 m o + (2 + 2 ⌈log2 p⌉) α + n β, or over a grid k p^(1/k) o + k (α + n β), whichever
/// is faster for few small messages; no memory for each of p ranks (Hoefler, Siebert, Lumsdaine 2010).
Operation exchange(const Comm& comm, std::span<const Outgoing> messages, Arrivals& arrivals,
                   const CollectiveOptions& options = {});

}  // namespace wisp
