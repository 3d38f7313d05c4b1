#include "wisp/simulate.hpp"

#include <utility>
#include <vector>

#include "comm/comm_access.hpp"
#include "transport/simulated_cluster.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

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
  if (!nodes.is_flat()) {
    machine.inside = {options.inside_latency + 2 * options.overhead, options.overhead,
                      1 / options.inside_bandwidth};
    machine.ranks_on_node = nodes.largest();
  }
  return machine;
}

}  // namespace

SimulationReport simulate(const SimulationOptions& options, const std::function<Task<>(Comm)>& program) {
  detail::check_within(MPI_ERR_ARG, "wisp::simulate", "ranks", options.ranks, 1, 1 << 24);
  if (!options.nodes.empty() && options.nodes.size() != detail::as_size(options.ranks)) {
    detail::throw_error(MPI_ERR_ARG, "wisp::simulate: nodes has {} entries, but there are {} ranks",
                        options.nodes.size(), options.ranks);
  }
  const detail::NodeLayout nodes = options.nodes.empty() ? detail::NodeLayout::blocks(options.ranks, 1)
                                                         : detail::NodeLayout::of(options.nodes);
  const detail::Machine machine = machine_of(options, nodes);
  // Where not all bytes of a message are carried, calls cannot be compared.
  constexpr std::size_t most_compared = 1024;
  detail::SimulatedCluster cluster(options, nodes);
  struct Worlds : std::vector<std::shared_ptr<detail::World>> {
    ~Worlds() {
      for (const auto& world : *this) world->close();
    }
  } worlds;  // closed when all programs are gone
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
    cluster.start(rank, programs.back().handle());
  }
  cluster.run();

  bool all_done = true;
  for (const Task<>& task : programs) {
    all_done = all_done && task.handle().done();
    if (task.handle().done()) task.handle().promise().take();
  }
  if (!all_done) {
    std::vector<std::string> waits;
    if (const std::string posted = cluster.describe_waiting(); !posted.empty()) waits.push_back(posted);
    for (const auto& world : worlds) {
      for (const std::string& whom : world->mailbox().describe_waiting()) {
        if (waits.size() < 16)
          waits.push_back(detail::formatted("rank {} waits for {}", world->rank(), whom));
      }
    }
    detail::throw_error(MPI_ERR_OTHER, "wisp::simulate: no message can move: {}; not received: {}",
                        detail::joined(waits, "; "), cluster.describe_unreceived());
  }
  if (const std::string lost = cluster.describe_unreceived(); !lost.empty()) {
    detail::throw_error(MPI_ERR_OTHER, "wisp::simulate: messages were never received: {}", lost);
  }
  if (const std::string waits = cluster.describe_waiting(); !waits.empty()) {
    detail::throw_error(MPI_ERR_OTHER, "wisp::simulate: receives were never matched: {}", waits);
  }
  return cluster.report();
}

double simulated_time(const Comm& comm) {
  const auto* transport = simulated_transport(comm);
  return transport == nullptr ? 0 : transport->cluster().now(transport->rank());
}

void simulated_work(const Comm& comm, double seconds) {
  if (!(seconds >= 0))
    detail::throw_error(MPI_ERR_ARG, "wisp::simulated_work: seconds = {} is no time", seconds);
  if (const auto* transport = simulated_transport(comm))
    transport->cluster().work(transport->rank(), seconds);
}

}  // namespace wisp
