// What schedules cost, and which one costs least.

#include "neighborhood/choice.hpp"

#include "neighborhood/schedules.hpp"
#include "neighborhood/stencil_state.hpp"
#include "transport/mpi_library.hpp"

namespace wisp::detail {
namespace {

/// Seconds for a byte that goes through a message of several blocks: by a loop, which copies it twice, and by
/// MPI's datatypes.
struct PackingCosts {
  double by_loop;
  double by_datatypes;
};
constexpr PackingCosts of_one_rank{1e-10, 1e-10};
constexpr PackingCosts of_all_on_host{3e-10, 0.6e-10};  ///< the caches are full
constexpr PackingCosts on_shared_cores{2e-10, 0.6e-10};

/// Copying of blocks into messages and out of them, of one rank.
double packing_time(const ScheduleFacts& facts, double bytes, const PackingCosts& costs, Copying copying) {
  constexpr double seconds_per_piece = 3.5e-9;
  if (facts.volume <= as_size(facts.rounds)) return 0;
  if (copying == Copying::datatypes) return bytes * costs.by_datatypes;
  return 2.0 * static_cast<double>(facts.volume) * seconds_per_piece + bytes * costs.by_loop;
}

}  // namespace

double sent_bytes(const ScheduleFacts& facts, const BlockPlaces& blocks) {
  if (facts.volume == 0) return 0;
  if (facts.hops.empty() || blocks.is_regular()) {
    return static_cast<double>(facts.volume) * static_cast<double>(blocks[0].bytes);
  }
  double bytes = 0;
  for (std::size_t i = 0; i < facts.hops.size(); ++i) {
    bytes += facts.hops[i] * static_cast<double>(blocks[static_cast<int>(i)].bytes);
  }
  return bytes;
}

Copying copying_for(const ScheduleFacts& facts, double bytes) {
  if (facts.volume == 0) return Copying::pack;
  const MpiLibrary& mpi = mpi_library();
  const bool are_long = bytes >= facts.rounds * mpi.least_typed_message &&
                        bytes >= static_cast<double>(facts.volume) * mpi.least_typed_block;
  return are_long ? Copying::datatypes : Copying::pack;
}

double modelled_time(const ScheduleFacts& facts, int phases, double bytes, const Machine& machine,
                     int ranks) {
  const double rounds = facts.rounds;
  if (!machine.shares_cores && !machine.is_one_host) {
    // Of the messages of a phase one costs the latency, and each other one its sender's and receiver's work.
    const Cost cost{phases + 2 * (rounds - phases), bytes, static_cast<double>(phases), rounds * ranks,
                    bytes * ranks};
    return time_of(cost, machine, ranks) + packing_time(facts, bytes, of_one_rank, Copying::pack);
  }
  const MpiLibrary& mpi = mpi_library();
  const bool waits_for_answer = bytes > rounds * mpi.eager_bytes;
  if (!machine.shares_cores) {
    // All ranks at work: messages take twice as long as one that is alone on its way, and so do bytes.
    const double handshakes = waits_for_answer ? rounds * machine.rendezvous : 0;
    return 2 * (phases + rounds) * machine.latency + handshakes + 2 * bytes * machine.seconds_per_byte +
           packing_time(facts, bytes, of_all_on_host, copying_for(facts, bytes));
  }
  // Where ranks share cores, a phase waits for a turn, and everything else is somebody's turn. Bytes between
  // two ranks that are alone go faster than those of many at a time, which find the caches full.
  constexpr double crowded = 3.5;
  const double turn = machine.latency;
  const double of_turn = bytes > rounds * mpi.short_bytes ? mpi.message_of_turn : mpi.short_of_turn;
  const double work = 2 * rounds * of_turn * turn + rounds * rounds * mpi.queued_seconds +
                      (waits_for_answer ? rounds * mpi.handshake_of_turn * turn : 0) +
                      crowded * bytes * machine.seconds_per_byte +
                      packing_time(facts, bytes, on_shared_cores, copying_for(facts, bytes));
  return phases * turn + work * machine.ranks_per_core;
}

double modelled_time(const Stencil& stencil, NeighborPattern pattern, std::size_t place, std::size_t bytes,
                     const Machine& machine) {
  const ScheduleFacts& facts = costed_schedule(stencil, pattern, place).facts;
  const double sent = sent_bytes(facts, BlockPlaces::regular(bytes));
  return modelled_time(facts, facts.phases, sent, machine, stencil.torus().size());
}

namespace {

/// Blocks that go far hop by hop are a schedule that is not worth making to be left out.
bool is_too_large(const Stencil& stencil, std::size_t schedule) {
  constexpr double most_hops = 64;
  return schedule_names()[schedule] == "torus" &&
         torus_volume(stencil.torus(), stencil.reduced()) > most_hops * stencil.size();
}

}  // namespace

std::size_t cheapest_schedule(const Stencil& stencil, NeighborPattern pattern, int ports,
                              const BlockPlaces& blocks, const Machine& machine) {
  std::size_t cheapest = 0;
  double least = 0;
  for (std::size_t k = 0; k < schedule_names().size(); ++k) {
    if (is_too_large(stencil, k)) continue;
    const auto& [schedule, facts] = costed_schedule(stencil, pattern, k);
    const int phases = ports == 0 ? facts.phases : static_cast<int>(phases_of(schedule, ports).size()) - 1;
    const double time =
        modelled_time(facts, phases, sent_bytes(facts, blocks), machine, stencil.torus().size());
    if (k > 0 && time >= least) continue;
    cheapest = k;
    least = time;
  }
  return cheapest;
}

}  // namespace wisp::detail
