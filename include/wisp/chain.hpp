#pragma once

#include <mpi.h>

#include <optional>
#include <utility>

#include "wisp/comm.hpp"
#include "wisp/operation.hpp"
#include "wisp/operator.hpp"

/// Groups as chains: each process knows its rank, the size, and how to reach its two neighbors, and that is
/// all. Addresses of others travel with the messages of an operation.
///
/// Source: Moody, Ahn, de Supinski 2011, section 2.

namespace wisp {

class Label;

namespace detail {

class Link;
struct ChainAccess;

/// How a process of a chain is reached: its rank in the World, and the code of its messages if it named one.
struct Address {
  int rank = -1;
  int code = -1;

  bool exists() const noexcept { return rank >= 0; }
  friend bool operator==(const Address&, const Address&) = default;
};

/// What a process knows of a chain that it is in.
struct ChainPlace {
  int size = 0;
  int rank = -1;
  Address here;
  Address left;   ///< rank - 1
  Address right;  ///< rank + 1
};

}  // namespace detail

struct ChainOptions {
  /// Tells it from collectives that start in another order on other ranks.
  std::optional<int> own_tag = {};
};

/// Where a process is in a chain, by ranks of a communicator. MPI_PROC_NULL where there is no neighbor.
struct ChainNeighbors {
  int size = 0;
  int rank = 0;
  int left = MPI_PROC_NULL;
  int right = MPI_PROC_NULL;
};

/// A group of processes as a doubly linked list: O(1) memory for each. A value, like Comm: copies are the
/// same chain, copying is cheap, destruction is local.
///
/// Operations have the faces of those of Comm: the member blocks, the one with an i gives a Request, the one
/// with _init a persistent one, and the free function of the same name an Operation. All members start them
/// in the same order. Chains are isolated, as communicators are.
class Chain {
 public:
  /// The empty chain: no operations.
  Chain() = default;
  /// The ranks of a communicator, in its order. Local, no message; it shares the communicator's context, so
  /// that collectives of both are in one order.
  Chain(const Comm& comm);  // NOLINT(google-explicit-constructor): a communicator is a chain
  /// Those of a range of its ranks. Local; O(log p), as of Comm::range.
  Chain(const Comm& comm, int first, int last, int stride = 1) : Chain(comm.range(first, last, stride)) {}
  /// From explicit neighbors. Who is named names the other, too: else one waits for ever. Neighbors tell each
  /// other how to reach them, their ranks and sizes: where these do not fit, an error. `tag` tells creations
  /// from others in flight between the same neighbors. α.
  static Chain of_neighbors(const Comm& comm, const ChainNeighbors& neighbors, int tag = 0);

  /// MPI_UNDEFINED of the empty chain.
  int rank() const noexcept { return place_.rank < 0 ? MPI_UNDEFINED : place_.rank; }
  int size() const noexcept { return place_.size; }
  bool empty() const noexcept { return place_.size == 0; }
  /// Ranks in the MPI communicator below: the caller's own, and those of its neighbors or MPI_PROC_NULL.
  int address() const noexcept { return rank_of(place_.here); }
  int left() const noexcept { return rank_of(place_.left); }
  int right() const noexcept { return rank_of(place_.right); }

  /// A communicator with the same ranks: for messages between any two. O(p) memory, α log p + pβ. Of the
  /// empty chain, as a split gives it to who is left out, the empty communicator.
  Comm to_comm() const;
  Request ito_comm(Comm& made) const;

  // Made by scripts/faces from the operations that wisp/chain.hpp declares.
  // clang-format off
  void barrier(const ChainOptions& options = {}) const;
  Request ibarrier(const ChainOptions& options = {}) const;
  Request barrier_init(const ChainOptions& options = {}) const;
  void bcast(const Buffer& buffer, int root, const ChainOptions& options = {}) const;
  Request ibcast(const Buffer& buffer, int root, const ChainOptions& options = {}) const;
  Request bcast_init(const Buffer& buffer, int root, const ChainOptions& options = {}) const;
  void reduce(const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
              const ChainOptions& options = {}) const;
  Request ireduce(const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
                  const ChainOptions& options = {}) const;
  Request reduce_init(const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
                      const ChainOptions& options = {}) const;
  void allreduce(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const ChainOptions& options = {}) const;
  Request iallreduce(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                     const ChainOptions& options = {}) const;
  Request allreduce_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                         const ChainOptions& options = {}) const;
  void scan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
            const ChainOptions& options = {}) const;
  Request iscan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                const ChainOptions& options = {}) const;
  Request scan_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const ChainOptions& options = {}) const;
  void exscan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
              const ChainOptions& options = {}) const;
  Request iexscan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                  const ChainOptions& options = {}) const;
  Request exscan_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                      const ChainOptions& options = {}) const;
  void double_scan(const ConstBuffer& send, const Buffer& before, const Buffer& after, const Operator& op,
                   const ChainOptions& options = {}) const;
  Request idouble_scan(const ConstBuffer& send, const Buffer& before, const Buffer& after, const Operator& op,
                       const ChainOptions& options = {}) const;
  Request double_scan_init(const ConstBuffer& send, const Buffer& before, const Buffer& after,
                           const Operator& op, const ChainOptions& options = {}) const;
  void double_exscan(const ConstBuffer& send, const Buffer& before, const Buffer& after, const Operator& op,
                     const ChainOptions& options = {}) const;
  Request idouble_exscan(const ConstBuffer& send, const Buffer& before, const Buffer& after,
                         const Operator& op, const ChainOptions& options = {}) const;
  Request double_exscan_init(const ConstBuffer& send, const Buffer& before, const Buffer& after,
                             const Operator& op, const ChainOptions& options = {}) const;
  void segmented_scan(const Label& color, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                      const ChainOptions& options = {}) const;
  Request isegmented_scan(const Label& color, const ConstBuffer& send, const Buffer& receive,
                          const Operator& op, const ChainOptions& options = {}) const;
  Request segmented_scan_init(const Label& color, const ConstBuffer& send, const Buffer& receive,
                              const Operator& op, const ChainOptions& options = {}) const;
  void segmented_exscan(const Label& color, const ConstBuffer& send, const Buffer& receive,
                        const Operator& op, const ChainOptions& options = {}) const;
  Request isegmented_exscan(const Label& color, const ConstBuffer& send, const Buffer& receive,
                            const Operator& op, const ChainOptions& options = {}) const;
  Request segmented_exscan_init(const Label& color, const ConstBuffer& send, const Buffer& receive,
                                const Operator& op, const ChainOptions& options = {}) const;
  void gather(const ConstBuffer& send, const Buffer& receive, int root,
              const ChainOptions& options = {}) const;
  Request igather(const ConstBuffer& send, const Buffer& receive, int root,
                  const ChainOptions& options = {}) const;
  Request gather_init(const ConstBuffer& send, const Buffer& receive, int root,
                      const ChainOptions& options = {}) const;
  void scatter(const ConstBuffer& send, const Buffer& receive, int root,
               const ChainOptions& options = {}) const;
  Request iscatter(const ConstBuffer& send, const Buffer& receive, int root,
                   const ChainOptions& options = {}) const;
  Request scatter_init(const ConstBuffer& send, const Buffer& receive, int root,
                       const ChainOptions& options = {}) const;
  void allgather(const ConstBuffer& send, const Buffer& receive, const ChainOptions& options = {}) const;
  Request iallgather(const ConstBuffer& send, const Buffer& receive, const ChainOptions& options = {}) const;
  Request allgather_init(const ConstBuffer& send, const Buffer& receive,
                         const ChainOptions& options = {}) const;
  // End of what is made.
  // clang-format on

  /// Runs a task of this chain to its end, and starts one, as the members do.
  void run(Task<> task) const;
  Request start(Task<> task) const { return {std::move(task), context_}; }

 private:
  friend struct detail::ChainAccess;

  static int rank_of(const detail::Address& address) noexcept {
    return address.exists() ? address.rank : MPI_PROC_NULL;
  }

  detail::ContextPtr context_;
  detail::ChainPlace place_;
};

// p: ranks of the chain, n: bytes of one rank, α: latency, β: time per byte. Buffers as in
// wisp/collectives.hpp: where MPI counts per rank, the side with all blocks holds size() of them; `send` may
// be in_place() where MPI has MPI_IN_PLACE. Wrong arguments throw an Error before any message.

Task<Chain> chain_of_neighbors(Comm comm, ChainNeighbors neighbors, int tag = 0);
Task<Comm> to_comm(Chain chain);

/// Ends when all have begun. ⌈log2 p⌉ α.
Operation barrier(const Chain& chain, const ChainOptions& options = {});

/// The root's buffer to all. ⌈log2 p⌉ (α + nβ) from an end, up to 2 ⌈log2 p⌉ nβ from a rank between; the data
/// once to each.
Operation bcast(const Chain& chain, const Buffer& buffer, int root, const ChainOptions& options = {});

/// The sum of all `send` in the root's `receive`. ⌈log2 p⌉ (α + nβ), two messages a rank (of more than
/// 4 KiB, three: addresses go alone then).
Operation reduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 int root, const ChainOptions& options = {});

/// The sum of all `send` in everybody's `receive`, the same bits on all ranks. 2 ⌈log2 p⌉ (α + nβ).
Operation allreduce(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const ChainOptions& options = {});

/// The sum over ranks 0 … rank(). ⌈log2 p⌉ (α + nβ).
Operation scan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
               const ChainOptions& options = {});

/// The sum over ranks 0 … rank() - 1; rank 0's `receive` stays as it is. ⌈log2 p⌉ (α + nβ).
Operation exscan(const Chain& chain, const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const ChainOptions& options = {});

/// The sums over ranks 0 … rank() and over rank() … p - 1, at once. ⌈log2 p⌉ (α + 3nβ). Not in place.
Operation double_scan(const Chain& chain, const ConstBuffer& send, const Buffer& before, const Buffer& after,
                      const Operator& op, const ChainOptions& options = {});
/// Those without this rank's own; rank 0's `before` and rank p - 1's `after` stay as they are.
Operation double_exscan(const Chain& chain, const ConstBuffer& send, const Buffer& before,
                        const Buffer& after, const Operator& op, const ChainOptions& options = {});

/// A scan that begins anew wherever a rank's color is not that of its left neighbor.
/// ⌈log2 p⌉ (α + nβ), and one message of a color.
Operation segmented_scan(const Chain& chain, const Label& color, const ConstBuffer& send,
                         const Buffer& receive, const Operator& op, const ChainOptions& options = {});
/// Without this rank's own; `receive` stays as it is where a segment begins.
Operation segmented_exscan(const Chain& chain, const Label& color, const ConstBuffer& send,
                           const Buffer& receive, const Operator& op, const ChainOptions& options = {});

/// All blocks to the root, in rank order. ⌈log2 p⌉ α + p nβ, two messages a rank.
Operation gather(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                 const ChainOptions& options = {});

/// Block r of the root to rank r. 2 ⌈log2 p⌉ α + p nβ.
Operation scatter(const Chain& chain, const ConstBuffer& send, const Buffer& receive, int root,
                  const ChainOptions& options = {});

/// All blocks to all, in rank order. ⌈log2 p⌉ α + 1.6 p nβ: inner ranks serve both sides through one port.
Operation allgather(const Chain& chain, const ConstBuffer& send, const Buffer& receive,
                    const ChainOptions& options = {});

}  // namespace wisp
