#pragma once

#include <cstddef>
#include <vector>

#include "neighborhood/program.hpp"
#include "pattern/cost_model.hpp"
#include "wisp/stencil.hpp"

/// Which schedule an operation takes, and how its messages are put together, by modelled costs. The choice is
/// the same on all ranks if the block sizes are.

namespace wisp::detail {

/// What the cost of a schedule depends on.
struct ScheduleFacts {
  int rounds = 0;
  int phases = 0;
  std::size_t volume = 0;
  std::vector<int> hops;  ///< of each block of an alltoall
};

struct CostedSchedule {
  Schedule schedule;
  ScheduleFacts facts;  ///< without a limit on ports
};
/// The one at this place in `schedule_names()`; kept with the stencil.
const CostedSchedule& costed_schedule(const Stencil& stencil, NeighborPattern pattern, std::size_t place);

/// Bytes that a rank sends, for blocks of these sizes (of an allgather: of the size of block 0).
double sent_bytes(const ScheduleFacts& facts, const BlockPlaces& blocks);

/// Whether MPI or a loop is the faster packer of such messages.
Copying copying_for(const ScheduleFacts& facts, double bytes);

/// Seconds, in so many phases.
double modelled_time(const ScheduleFacts& facts, int phases, double bytes, const Machine& machine, int ranks);
/// Of the schedule at this place, for blocks of one size.
double modelled_time(const Stencil& stencil, NeighborPattern pattern, std::size_t place, std::size_t bytes,
                     const Machine& machine);

/// The place in `schedule_names()` of the cheapest schedule.
std::size_t cheapest_schedule(const Stencil& stencil, NeighborPattern pattern, int ports,
                              const BlockPlaces& blocks, const Machine& machine);

}  // namespace wisp::detail
