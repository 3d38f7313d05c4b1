#include "wisp/simulate.hpp"

#include <climits>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "comm/comm_access.hpp"
#include "comm/describe.hpp"
#include "transport/simulated_cluster.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

using Worlds = std::vector<std::shared_ptr<detail::World>>;

const detail::SimulatedTransport* simulated_transport(const Comm& comm) {
  const auto& context = detail::CommAccess::context(comm);
  if (context && context->world->closed())
    throw Error(MPI_ERR_COMM, "wisp::simulated_time: the simulated cluster has been freed");
  return !context ? nullptr : dynamic_cast<detail::SimulatedTransport*>(&context->world->transport().inner());
}

detail::Machine machine_of(const SimulationOptions& options, const detail::NodeLayout& nodes) {
  detail::Machine machine;
  machine.latency = options.latency + 2 * options.overhead;
  machine.overhead = options.overhead;
  machine.seconds_per_byte = 1 / options.bandwidth;
  machine.shares_cores = options.shares_cores;
  machine.ranks_per_core = options.shares_cores ? 4 : 1;
  const bool is_one_node = nodes.nodes() == 1 && nodes.ranks() > 1;
  if (nodes.is_flat() && !is_one_node) return machine;
  machine.inside = {options.inside_latency + 2 * options.overhead, options.overhead,
                    1 / options.inside_bandwidth};
  if (is_one_node) return machine.at(detail::Level::inside);
  machine.ranks_on_node = nodes.largest();
  return machine;
}

/// What ranks that have not stopped wait for, of all in one pass.
template <class Function>
void for_each_wait(const detail::SimulatedCluster& cluster, const Worlds& worlds, Function of) {
  const auto of_one = [&](detail::Message& message) {
    if (detail::is_awaited(message) && !cluster.has_stopped(message.world->rank())) of(message);
  };
  const auto pending = cluster.pending();
  const std::vector<detail::Message*> all(pending.begin(),
                                          pending.end());  // whoever is asked may ask for them
  for (detail::Message* message : all) of_one(*message);
  for (const auto& world : worlds) world->mailbox().for_each_waiting(of_one);
}

/// "rank 1 waits in wisp::bcast (call 1 on world) for a message from rank 0; …", of the first few.
std::string describe_waits(const detail::SimulatedCluster& cluster, const Worlds& worlds) {
  constexpr std::size_t most = 8;
  std::vector<std::string> waits;
  for_each_wait(cluster, worlds, [&](const detail::Message& message) {
    const detail::World& world = *message.world;
    if (waits.size() == most) {
      waits.push_back("…");
    } else if (waits.size() < most) {
      const std::string wait = detail::text_of(detail::wait_of(message, world));
      waits.push_back(detail::formatted("rank {} waits {}", world.rank(), wait));
    }
  });
  return detail::joined(waits, "; ");
}

/// When nobody can go on: ends the waits for ranks that have stopped; if there are none, those for ranks that
/// have left the communicator for that; or are elsewhere for that; and those for messages of any source,
/// which one that has stopped may have been. False if there are none of these either.
bool end_waits_for_stopped(const detail::SimulatedCluster& cluster, const Worlds& worlds) {
  const auto end_waits = [&](const auto& failed) {
    // All are found before any of them ends: who is about to hear of it does not know yet.
    std::vector<detail::Failures::Ending> endings;
    for_each_wait(cluster, worlds, [&](detail::Message& message) {
      const int rank = failed(message);
      if (rank >= 0) endings.push_back({&message, rank});
    });
    detail::Failures::end(endings);
    return !endings.empty();
  };
  std::set<int> stopped;
  for (const auto& world : worlds) {
    if (cluster.has_stopped(world->rank())) stopped.insert(world->rank());
  }
  if (stopped.empty()) return false;
  const auto told = [&](const detail::Message& message) {
    return worlds[detail::as_size(message.peer)]->failures().told_to(message.world->rank());
  };
  return end_waits([&](const detail::Message& message) {
           const bool is_for_stopped = message.peer >= 0 && cluster.has_stopped(message.peer);
           return is_for_stopped ? message.peer : message.world->failures().left_here_because_of(message);
         }) ||
         end_waits([&](const detail::Message& message) {
           return message.peer < 0 ? -1 : detail::Failures::left_because_of(message, told(message));
         }) ||
         end_waits([&](const detail::Message& message) {
           return message.peer < 0 ? -1
                                   : message.world->failures().elsewhere_because_of(message, told(message));
         }) ||
         end_waits([&](const detail::Message& message) {
           return message.world->failures().source_gone(message, stopped);
         });
}

/// Operations that were started and dropped, and cannot end any more, would hold what they have for good; but
/// for those of a program that begin again whatever happens.
void end_dropped(detail::SimulatedCluster& cluster, const Worlds& worlds) {
  constexpr int most_rounds = 100;
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<detail::Message*> pending;
    for_each_wait(cluster, worlds, [&](detail::Message& message) { pending.push_back(&message); });
    if (pending.empty()) return;
    for (detail::Message* message : pending) {
      message->error = MPI_ERR_OTHER;
      detail::end_waiting(*message);
    }
    cluster.run();
  }
}

void check_times(const SimulationOptions& options) {
  const auto check = [](const char* name, double value, bool is_right, const char* right) {
    if (!is_right)
      detail::throw_error(MPI_ERR_ARG, "wisp::simulate: {} = {} is no number {}", name, value, right);
  };
  for (const auto& [name, value] : {std::pair("latency", options.latency),
                                    {"overhead", options.overhead},
                                    {"joining", options.joining},
                                    {"jitter", options.jitter},
                                    {"inside_latency", options.inside_latency}})
    check(name, value, value >= 0 && std::isfinite(value), "from 0");
  for (const auto& [name, value] :
       {std::pair("bandwidth", options.bandwidth), {"inside_bandwidth", options.inside_bandwidth}})
    check(name, value, value > 0, "above 0");
}

}  // namespace

SimulationReport simulate(const SimulationOptions& options, const std::function<Task<>(Comm)>& program) {
  detail::check_within(MPI_ERR_ARG, "wisp::simulate", "ranks", options.ranks, 1, 1 << 24);
  detail::check_within(MPI_ERR_ARG, "wisp::simulate", "tag_upper_bound", options.tag_upper_bound,
                       detail::World::least_tag_upper_bound, INT_MAX);
  detail::check_within(MPI_ERR_ARG, "wisp::simulate", "mpi_communicators", options.mpi_communicators, 1,
                       detail::World::most_mpi_comms);
  check_times(options);
  if (!program) throw Error(MPI_ERR_ARG, "wisp::simulate: program is an empty function");
  if (!options.nodes.empty() && options.nodes.size() != detail::as_size(options.ranks)) {
    detail::throw_error(MPI_ERR_ARG, "wisp::simulate: nodes has {} entries, but there are {} ranks",
                        options.nodes.size(), options.ranks);
  }
  for (const SimulationOptions::Stop& stop : options.stops) {
    detail::check_within(MPI_ERR_ARG, "wisp::simulate", "stops[].rank", stop.rank, 0, options.ranks - 1);
    detail::check_within(MPI_ERR_ARG, "wisp::simulate", "stops[].steps", stop.steps, 0, INT_MAX);
  }
  const detail::NodeLayout nodes = options.nodes.empty() ? detail::NodeLayout::blocks(options.ranks, 1)
                                                         : detail::NodeLayout::of(options.nodes);
  const detail::Machine machine = machine_of(options, nodes);
  // Where not all bytes of a message are carried, calls cannot be compared.
  constexpr std::size_t most_compared = 1024;
  const auto held = std::make_shared<detail::SimulatedCluster>(options, nodes);
  detail::SimulatedCluster& cluster = *held;
  struct ClosedAtEnd {
    ~ClosedAtEnd() {
      end_dropped(cluster, all);
      for (const auto& world : all) world->close();
    }
    detail::SimulatedCluster& cluster;
    Worlds all;
  } closed_at_end{cluster, {}};  // when all programs are gone
  Worlds& worlds = closed_at_end.all;
  std::vector<Task<>> programs;
  programs.reserve(detail::as_size(options.ranks));
  for (int rank = 0; rank < options.ranks; ++rank) {
    detail::World::Facts facts{rank,
                               options.ranks,
                               options.tag_upper_bound,
                               options.mpi_communicators,
                               machine,
                               options.attached ? detail::NodeLayout() : nodes};
    if (options.carried_bytes < most_compared) facts.checks_calls = false;
    auto transport = cluster.make_transport(rank);
    if (options.attached) transport = detail::World::shared(std::move(transport), facts);
    auto world = std::make_shared<detail::World>(std::move(transport), facts);
    worlds.push_back(world);
    programs.push_back(
        program(detail::CommAccess::make_root(std::move(world), detail::TagLayout::Kind::isolated)));
    if (!programs.back().handle())
      detail::throw_error(MPI_ERR_ARG, "wisp::simulate: the task of rank {} is empty", rank);
    cluster.start(rank, programs.back().handle());
  }
  do {
    cluster.run();
  } while (!options.stops.empty() && end_waits_for_stopped(cluster, worlds));

  bool all_done = true;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const auto of_rank = programs[detail::as_size(rank)].handle();
    all_done = all_done && (of_rank.done() || cluster.has_stopped(rank));
    if (of_rank.done() && !cluster.has_stopped(rank)) of_rank.promise().take();
  }
  if (!all_done) {
    const std::string waits = describe_waits(cluster, worlds);
    const std::string lost = cluster.describe_unreceived();
    detail::throw_error(MPI_ERR_OTHER, "wisp::simulate: no message can move: {}{}{}",
                        waits.empty() ? "nobody waits for one, but not all have ended" : waits,
                        lost.empty() ? "" : "; not received: ", lost);
  }
  if (!options.stops.empty()) return cluster.report();
  if (const std::string lost = cluster.describe_unreceived(); !lost.empty()) {
    detail::throw_error(MPI_ERR_OTHER, "wisp::simulate: messages were never received: {}", lost);
  }
  if (const std::string waits = describe_waits(cluster, worlds); !waits.empty()) {
    detail::throw_error(MPI_ERR_OTHER, "wisp::simulate: receives were never matched: {}", waits);
  }
  return cluster.report();
}

double simulated_time(const Comm& comm) {
  const auto* transport = simulated_transport(comm);
  return transport == nullptr ? 0 : transport->cluster().now(transport->rank());
}

void simulated_work(const Comm& comm, double seconds) {
  if (!(seconds >= 0 && std::isfinite(seconds)))
    detail::throw_error(MPI_ERR_ARG, "wisp::simulated_work: seconds = {} is no time", seconds);
  if (const auto* transport = simulated_transport(comm))
    transport->cluster().work(transport->rank(), seconds);
}

}  // namespace wisp
