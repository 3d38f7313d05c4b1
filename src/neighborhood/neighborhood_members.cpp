// Made by scripts/faces from the operations that wisp/neighborhood.hpp declares.
// clang-format off

#include "wisp/neighborhood.hpp"
#include "collectives/members.hpp"

namespace wisp {

WISP_MEMBERS(Neighborhood, neighbor_alltoall, (const ConstBuffer& send, const Buffer& receive,
             const NeighborOptions& options), (send, receive, options))
WISP_MEMBERS(Neighborhood, neighbor_alltoallv, (const ConstBlocks& send, const Blocks& receive,
             const NeighborOptions& options), (send, receive, options))
WISP_MEMBERS(Neighborhood, neighbor_alltoallw, (const ConstBlocks& send, const Blocks& receive,
             const NeighborOptions& options), (send, receive, options))
WISP_MEMBERS(Neighborhood, neighbor_allgather, (const ConstBuffer& send, const Buffer& receive,
             const NeighborOptions& options), (send, receive, options))
WISP_MEMBERS(Neighborhood, neighbor_allgatherv, (const ConstBuffer& send, const Blocks& receive,
             const NeighborOptions& options), (send, receive, options))
WISP_MEMBERS(Neighborhood, neighbor_allgatherw, (const ConstBuffer& send, const Blocks& receive,
             const NeighborOptions& options), (send, receive, options))

}  // namespace wisp
