// Made by scripts/faces from the operations that wisp/chain.hpp declares.
// clang-format off

#include "wisp/chain.hpp"
#include "collectives/members.hpp"

namespace wisp {

WISP_MEMBERS(Chain, barrier, (const ChainOptions& options), (options))
WISP_MEMBERS(Chain, bcast, (const Buffer& buffer, int root, const ChainOptions& options), (buffer, root,
             options))
WISP_MEMBERS(Chain, reduce, (const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
             const ChainOptions& options), (send, receive, op, root, options))
WISP_MEMBERS(Chain, allreduce, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const ChainOptions& options), (send, receive, op, options))
WISP_MEMBERS(Chain, scan, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const ChainOptions& options), (send, receive, op, options))
WISP_MEMBERS(Chain, exscan, (const ConstBuffer& send, const Buffer& receive, const Operator& op,
             const ChainOptions& options), (send, receive, op, options))
WISP_MEMBERS(Chain, double_scan, (const ConstBuffer& send, const Buffer& before, const Buffer& after,
             const Operator& op, const ChainOptions& options), (send, before, after, op, options))
WISP_MEMBERS(Chain, double_exscan, (const ConstBuffer& send, const Buffer& before, const Buffer& after,
             const Operator& op, const ChainOptions& options), (send, before, after, op, options))
WISP_MEMBERS(Chain, segmented_scan, (const Label& color, const ConstBuffer& send, const Buffer& receive,
             const Operator& op, const ChainOptions& options), (color, send, receive, op, options))
WISP_MEMBERS(Chain, segmented_exscan, (const Label& color, const ConstBuffer& send, const Buffer& receive,
             const Operator& op, const ChainOptions& options), (color, send, receive, op, options))
WISP_MEMBERS(Chain, gather, (const ConstBuffer& send, const Buffer& receive, int root,
             const ChainOptions& options), (send, receive, root, options))
WISP_MEMBERS(Chain, scatter, (const ConstBuffer& send, const Buffer& receive, int root,
             const ChainOptions& options), (send, receive, root, options))
WISP_MEMBERS(Chain, allgather, (const ConstBuffer& send, const Buffer& receive, const ChainOptions& options),
             (send, receive, options))

}  // namespace wisp
