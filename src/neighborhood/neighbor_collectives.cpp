// Collectives of neighborhoods: how each finds its blocks, and their faces.

#include "neighborhood/neighbor_plan.hpp"

namespace wisp {
namespace {

using namespace detail;

const Comm& comm_of(const Neighborhood& on) {
  return on.comm();
}

/// Blocks of a regular collective: `blocks` of them, or one for each neighbor.
auto regular(const char* name, const ConstBuffer& all, std::optional<int> blocks = {}) {
  return [=](const char* call, int s) { return locate_regular(call, name, all, blocks.value_or(s)); };
}
auto irregular(const char* name, const ConstBlocks& given) {
  return [=](const char* call, int s) { return locate_irregular(call, name, given, s); };
}

Plan<NeighborRun> plan_neighbor_alltoall(const Neighborhood& on, const ConstBuffer& send,
                                         const Buffer& receive, const NeighborOptions& options) {
  return plan_neighbors(on, "wisp::neighbor_alltoall", NeighborPattern::alltoall, options,
                        regular("send", send), regular("receive", receive));
}

Plan<NeighborRun> plan_neighbor_alltoallv(const Neighborhood& on, const ConstBlocks& send,
                                          const Blocks& receive, const NeighborOptions& options) {
  return plan_neighbors(on, "wisp::neighbor_alltoallv", NeighborPattern::alltoall, options,
                        irregular("send", send), irregular("receive", receive));
}

Plan<NeighborRun> plan_neighbor_alltoallw(const Neighborhood& on, const ConstBlocks& send,
                                          const Blocks& receive, const NeighborOptions& options) {
  return plan_neighbors(on, "wisp::neighbor_alltoallw", NeighborPattern::alltoall, options,
                        irregular("send", send), irregular("receive", receive));
}

Plan<NeighborRun> plan_neighbor_allgather(const Neighborhood& on, const ConstBuffer& send,
                                          const Buffer& receive, const NeighborOptions& options) {
  return plan_neighbors(on, "wisp::neighbor_allgather", NeighborPattern::allgather, options,
                        regular("send", send, 1), regular("receive", receive));
}

Plan<NeighborRun> plan_neighbor_allgatherv(const Neighborhood& on, const ConstBuffer& send,
                                           const Blocks& receive, const NeighborOptions& options) {
  return plan_neighbors(on, "wisp::neighbor_allgatherv", NeighborPattern::allgather, options,
                        regular("send", send, 1), irregular("receive", receive));
}

Plan<NeighborRun> plan_neighbor_allgatherw(const Neighborhood& on, const ConstBuffer& send,
                                           const Blocks& receive, const NeighborOptions& options) {
  return plan_neighbors(on, "wisp::neighbor_allgatherw", NeighborPattern::allgather, options,
                        regular("send", send, 1), irregular("receive", receive));
}

}  // namespace

WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_alltoall,
              (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_alltoallv,
              (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_alltoallw,
              (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_allgather,
              (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_allgatherv,
              (const ConstBuffer& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_allgatherw,
              (const ConstBuffer& send, const Blocks& receive, ), (send, receive, ))

}  // namespace wisp
