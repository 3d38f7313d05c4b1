#include "neighborhood/choice.hpp"

#include "neighborhood/stencil_state.hpp"

namespace wisp::detail {

ScheduleFacts facts_of(const Schedule& schedule, NeighborPattern pattern, int ports) {
  ScheduleFacts facts;
  facts.rounds = static_cast<int>(schedule.rounds.size());
  facts.phases = static_cast<int>(phases_of(schedule, ports).size()) - 1;
  facts.volume = schedule.volume();
  if (pattern == NeighborPattern::allgather) return facts;
  facts.hops.resize(schedule.arrivals.size());
  for (const Schedule::Part& part : schedule.parts) ++facts.hops[static_cast<std::size_t>(part.block)];
  return facts;
}

double modelled_time(const ScheduleFacts& facts, const BlockPlaces& blocks, const Machine& machine,
                     int ranks) {
  double bytes = 0;
  if (facts.hops.empty() || blocks.is_regular()) {
    if (facts.volume > 0) bytes = static_cast<double>(facts.volume) * static_cast<double>(blocks[0].bytes);
  } else {
    for (std::size_t i = 0; i < facts.hops.size(); ++i) {
      bytes += facts.hops[i] * static_cast<double>(blocks[static_cast<int>(i)].bytes);
    }
  }
  // Of the messages of a phase one costs the latency, and each other one its sender's and its receiver's
  // work.
  Cost cost;
  cost.steps = facts.phases;
  cost.startups = facts.phases + 2.0 * (facts.rounds - facts.phases);
  cost.bytes = bytes;
  cost.messages = static_cast<double>(facts.rounds) * ranks;
  cost.volume = bytes * ranks;

  // Blocks that travel together are copied into a message on every hop, and out of the last.
  constexpr double seconds_per_piece = 5e-9;
  constexpr double copied_seconds_per_byte = 1e-10;
  double copying = 0;
  if (facts.volume > static_cast<std::size_t>(facts.rounds)) {
    copying =
        2.0 * static_cast<double>(facts.volume) * seconds_per_piece + 2 * bytes * copied_seconds_per_byte;
  }
  return time_of(cost, machine, ranks) + copying * machine.ranks_per_core;
}

std::size_t cheapest_schedule(const Stencil& stencil, NeighborPattern pattern, int ports,
                              const BlockPlaces& blocks, const Machine& machine) {
  std::vector<ScheduleFacts>& kept = stencil.state().facts[static_cast<std::size_t>(pattern)];
  std::size_t cheapest = 0;
  double least = 0;
  for (std::size_t k = 0; k < schedule_names().size(); ++k) {
    const bool is_kept = ports == 0 && k < kept.size();
    const ScheduleFacts made =
        is_kept ? ScheduleFacts() : facts_of(stencil.schedule(pattern, schedule_names()[k]), pattern, ports);
    const double time = modelled_time(is_kept ? kept[k] : made, blocks, machine, stencil.torus().size());
    if (k == 0 || time < least) {
      cheapest = k;
      least = time;
    }
    if (ports == 0 && !is_kept) kept.push_back(made);
  }
  return cheapest;
}

Copying copying_for(const BlockPlaces&, int) {
  return Copying::pack;
}

}  // namespace wisp::detail
