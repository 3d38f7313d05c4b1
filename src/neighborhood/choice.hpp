#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "neighborhood/program.hpp"
#include "pattern/cost_model.hpp"
#include "wisp/stencil.hpp"

namespace wisp::detail {

/// What the cost of a schedule depends on.
struct ScheduleFacts {
  int rounds = 0;
  int phases = 0;
  std::size_t volume = 0;
  std::vector<int> hops;  ///< of each block of an alltoall
};

ScheduleFacts facts_of(const Schedule& schedule, NeighborPattern pattern, int ports);

/// Seconds, for blocks of these sizes (of an allgather: of the size of block 0).
double modelled_time(const ScheduleFacts& facts, const BlockPlaces& blocks, const Machine& machine,
                     int ranks);

/// The place in `schedule_names()` of the cheapest schedule; the same on all ranks if the block sizes are.
std::size_t cheapest_schedule(const Stencil& stencil, NeighborPattern pattern, int ports,
                              const BlockPlaces& blocks, const Machine& machine);

/// How messages are put together, by the average size of the blocks.
Copying copying_for(const BlockPlaces& blocks, int count);

}  // namespace wisp::detail
