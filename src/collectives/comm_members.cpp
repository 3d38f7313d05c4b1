// Made by scripts/faces from the operations that wisp/collectives.hpp declares.
// clang-format off

#include "wisp/collectives.hpp"
#include "collectives/members.hpp"

namespace wisp {

WISP_MEMBERS(Comm, barrier, (const CollectiveOptions& options), (options))
WISP_MEMBERS(Comm, bcast, (const Buffer& buffer, int root, const CollectiveOptions& options), (buffer, root,
             options))
WISP_MEMBERS(Comm, reduce, (const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
             const CollectiveOptions& options), (send, receive, op, root, options))
WISP_MEMBERS(Comm, allreduce, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const CollectiveOptions& options), (send, receive, op, options))
WISP_MEMBERS(Comm, scan, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const CollectiveOptions& options), (send, receive, op, options))
WISP_MEMBERS(Comm, exscan, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const CollectiveOptions& options), (send, receive, op, options))
WISP_MEMBERS(Comm, scan_and_bcast, (const ConstBuffer& send, const Buffer& scan, const Buffer& total,
             const Operator& op, const CollectiveOptions& options), (send, scan, total, op, options))
WISP_MEMBERS(Comm, reduce_scatter_block, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const CollectiveOptions& options), (send, receive, op, options))
WISP_MEMBERS(Comm, reduce_scatter, (const ConstBuffer& send, const Buffer& receive, Integers counts,
             const Operator& op, const CollectiveOptions& options), (send, receive, counts, op, options))
WISP_MEMBERS(Comm, gather, (const ConstBuffer& send, const Buffer& receive, int root,
             const CollectiveOptions& options), (send, receive, root, options))
WISP_MEMBERS(Comm, gatherv, (const ConstBuffer& send, const Blocks& receive, int root,
             const CollectiveOptions& options), (send, receive, root, options))
WISP_MEMBERS(Comm, gatherm, (const ConstBuffer& send, const Buffer& receive, int root, const Merge& merge,
             const CollectiveOptions& options), (send, receive, root, merge, options))
WISP_MEMBERS(Comm, allgather, (const ConstBuffer& send, const Buffer& receive,
             const CollectiveOptions& options), (send, receive, options))
WISP_MEMBERS(Comm, allgatherv, (const ConstBuffer& send, const Blocks& receive,
             const CollectiveOptions& options), (send, receive, options))
WISP_MEMBERS(Comm, allgatherm, (const ConstBuffer& send, const Buffer& receive, const Merge& merge,
             const CollectiveOptions& options), (send, receive, merge, options))
WISP_MEMBERS(Comm, scatter, (const ConstBuffer& send, const Buffer& receive, int root,
             const CollectiveOptions& options), (send, receive, root, options))
WISP_MEMBERS(Comm, scatterv, (const ConstBlocks& send, const Buffer& receive, int root,
             const CollectiveOptions& options), (send, receive, root, options))
WISP_MEMBERS(Comm, alltoall, (const ConstBuffer& send, const Buffer& receive,
             const CollectiveOptions& options), (send, receive, options))
WISP_MEMBERS(Comm, alltoallv, (const ConstBlocks& send, const Blocks& receive,
             const CollectiveOptions& options), (send, receive, options))
WISP_MEMBERS(Comm, alltoallw, (const ConstBlocks& send, const Blocks& receive,
             const CollectiveOptions& options), (send, receive, options))
WISP_MEMBERS(Comm, exchange, (std::span<const Outgoing> messages, Arrivals& arrivals,
             const CollectiveOptions& options), (messages, arrivals, options))

}  // namespace wisp
