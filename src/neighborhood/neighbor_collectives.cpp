// Collectives of neighborhoods: how each finds its blocks.

#include "neighborhood/neighbor_plan.hpp"

namespace wisp {
namespace {

using namespace detail;

/// Blocks of a regular collective: `blocks` of them, or one for each neighbor.
auto regular(const char* name, const ConstBuffer& all, std::optional<int> blocks = {}) {
  return [=](const char* call, int s) {
    return locate_regular(call, name, all, s == 0 ? 0 : blocks.value_or(s));
  };
}
auto irregular(const char* name, const ConstBlocks& given) {
  return [=](const char* call, int s) { return locate_irregular(call, name, given, s); };
}

}  // namespace

Operation neighbor_alltoall(const Neighborhood& on, const ConstBuffer& send, const Buffer& receive,
                            const NeighborOptions& options) {
  return neighbor_operation(on, "wisp::neighbor_alltoall", NeighborPattern::alltoall, options,
                            regular("send", send), regular("receive", receive));
}

Operation neighbor_alltoallv(const Neighborhood& on, const ConstBlocks& send, const Blocks& receive,
                             const NeighborOptions& options) {
  return neighbor_operation(on, "wisp::neighbor_alltoallv", NeighborPattern::alltoall, options,
                            irregular("send", send), irregular("receive", receive));
}

Operation neighbor_alltoallw(const Neighborhood& on, const ConstBlocks& send, const Blocks& receive,
                             const NeighborOptions& options) {
  return neighbor_operation(on, "wisp::neighbor_alltoallw", NeighborPattern::alltoall, options,
                            irregular("send", send), irregular("receive", receive));
}

Operation neighbor_allgather(const Neighborhood& on, const ConstBuffer& send, const Buffer& receive,
                             const NeighborOptions& options) {
  return neighbor_operation(on, "wisp::neighbor_allgather", NeighborPattern::allgather, options,
                            regular("send", send, 1), regular("receive", receive));
}

Operation neighbor_allgatherv(const Neighborhood& on, const ConstBuffer& send, const Blocks& receive,
                              const NeighborOptions& options) {
  return neighbor_operation(on, "wisp::neighbor_allgatherv", NeighborPattern::allgather, options,
                            regular("send", send, 1), irregular("receive", receive));
}

Operation neighbor_allgatherw(const Neighborhood& on, const ConstBuffer& send, const Blocks& receive,
                              const NeighborOptions& options) {
  return neighbor_operation(on, "wisp::neighbor_allgatherw", NeighborPattern::allgather, options,
                            regular("send", send, 1), irregular("receive", receive));
}

}  // namespace wisp
