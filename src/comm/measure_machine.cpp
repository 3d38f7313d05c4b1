#include "comm/measure_machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

/// Seconds of one message there and back, the least of several.
double time_ping_pong(MPI_Comm comm, bool begins, int peer, std::vector<char>& message, int repeats) {
  double least = 1;
  const int bytes = static_cast<int>(message.size());
  for (int i = 0; i < repeats; ++i) {
    const double start = MPI_Wtime();
    if (begins) check_mpi(MPI_Send(message.data(), bytes, MPI_BYTE, peer, 0, comm), "MPI_Send");
    check_mpi(MPI_Recv(message.data(), bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    if (!begins) check_mpi(MPI_Send(message.data(), bytes, MPI_BYTE, peer, 0, comm), "MPI_Send");
    least = std::min(least, MPI_Wtime() - start);
  }
  return least;
}

/// A number from the environment, if there is a positive one.
std::optional<double> number_of_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (!(number > 0 && std::isfinite(number)) || *end != '\0') {
    throw_error(MPI_ERR_ARG, "wisp: {} = {} is not a number above 0", name, text);
  }
  return number;
}

#ifdef SMPI_H
constexpr bool are_ranks_simulated = true;
#else
constexpr bool are_ranks_simulated = false;
#endif

bool are_on_one_host(const NodeLayout& nodes) {
  return nodes.nodes() == 1 && !are_ranks_simulated;
}

/// What the environment says of messages, which must be the same on all ranks. True if it says all.
bool read_environment(Machine& machine) {
  const std::optional<double> microseconds = number_of_environment("WISP_LATENCY_US");
  const std::optional<double> gigabytes = number_of_environment("WISP_BANDWIDTH_GBS");
  if (microseconds) machine.latency = *microseconds * 1e-6;
  if (gigabytes) machine.seconds_per_byte = 1e-9 / *gigabytes;
  if (const std::optional<double> ranks = number_of_environment("WISP_DIRECT_RANKS")) {
    machine.direct_ranks = static_cast<int>(std::clamp(*ranks, 1.0, 1e9));
  }
  // Most of the latency is a message's own work, or (on shared cores) the wait for a turn.
  machine.overhead = machine.latency / (machine.shares_cores ? 8 : 4);
  if (!are_ranks_simulated) {
    // There and back; on a longer way that hides behind the bytes.
    constexpr double longest_rendezvous = 1e-6;
    machine.rendezvous = std::min(2 * machine.latency, longest_rendezvous);
    machine.parcel_seconds = 6e-8;
  }
  return microseconds && gigabytes;
}

/// The same inside a node, in which messages are of another kind.
bool read_environment(Machine::Inside& inside) {
  const std::optional<double> microseconds = number_of_environment("WISP_NODE_LATENCY_US");
  const std::optional<double> gigabytes = number_of_environment("WISP_NODE_BANDWIDTH_GBS");
  if (microseconds) inside.latency = *microseconds * 1e-6;
  if (gigabytes) inside.seconds_per_byte = 1e-9 / *gigabytes;
  return microseconds && gigabytes;
}

/// Of messages inside nodes, whose latency is known.
void add_nodes(Machine& machine, const NodeLayout& nodes) {
  machine.ranks_on_node = nodes.largest();
  // Not above that of other messages, of which a rank is busy a larger part.
  machine.inside.overhead =
      std::min(machine.overhead, machine.inside.latency / (machine.shares_cores ? 4 : 2));
}

/// Two ranks that share a node, and two that do not.
struct Pairs {
  std::pair<int, int> inside;
  std::pair<int, int> between;
};
Pairs pairs_of(const NodeLayout& nodes) {
  std::vector<int> first(as_size(nodes.nodes()), -1);
  Pairs pairs;
  int found = 0;
  for (int rank = 0; rank < nodes.ranks() && found < 2; ++rank) {
    int& before = first[as_size(nodes.node_of(rank))];
    if (before >= 0 && pairs.inside.second == 0) {
      pairs.inside = {before, rank};
      ++found;
    }
    if (nodes.node_of(rank) != nodes.node_of(0) && pairs.between.second == 0) {
      pairs.between = {0, rank};
      ++found;
    }
    before = rank;
  }
  return pairs;
}

/// The next power of two: so rough, measurements agree from run to run, and so do the algorithms chosen.
double round_to_power(double seconds) {
  return std::exp2(std::round(std::log2(seconds)));
}

}  // namespace

Machine machine_of_launcher(const NodeLayout& nodes) {
  Machine machine;
  machine.is_one_host = are_on_one_host(nodes);
  if (machine.is_one_host) {  // other hosts may have more cores, or fewer
    // Not those cores that this rank may use: others may be bound to more or fewer.
    machine.ranks_per_core = nodes.largest() / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    machine.shares_cores = machine.ranks_per_core > 1;
  }
  read_environment(machine);
  if (!nodes.is_flat()) {
    constexpr double times_faster = 4;  // where nobody says how much faster messages are inside a node
    machine.inside = {machine.latency / times_faster, 0, machine.seconds_per_byte / times_faster};
    read_environment(machine.inside);
    add_nodes(machine, nodes);
  }
  return machine;
}

void check_machine_of_environment() {
  Machine machine;
  read_environment(machine);
  read_environment(machine.inside);
}

MessageCosts measure_messages(MPI_Comm comm, int first, int second) {
  constexpr int small_repeats = 20;
  constexpr int large_repeats = 10;
  constexpr std::size_t large = std::size_t{256} * 1024;
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  double measured[2] = {0, 0};
  if (rank == first || rank == second) {
    const bool begins = rank == first;
    const int peer = begins ? second : first;
    std::vector<char> message(8);
    measured[0] = time_ping_pong(comm, begins, peer, message, small_repeats) / 2;
    message.resize(large);
    const double of_large = time_ping_pong(comm, begins, peer, message, large_repeats) / 2;
    measured[1] = std::max(of_large - measured[0], 1e-9) / static_cast<double>(large);
  }
  check_mpi(MPI_Bcast(measured, 2, MPI_DOUBLE, first, comm), "MPI_Bcast");
  return {measured[0], measured[1]};
}

Hosts learn_hosts(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  int number = rank;
  double per_core = 1;
#ifdef SMPI_H
  // There, to ask for the ranks of a host takes p² messages; and what ranks compute costs nothing, however
  // few cores simulate them.
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  number = static_cast<int>(std::hash<std::string_view>()(std::string_view(name, as_size(length))) >> 33);
#else
  MPI_Comm node = MPI_COMM_NULL;
  int ranks_here = 0;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_size(node, &ranks_here), "MPI_Comm_size");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  // A container may have few of the machine's cores, and each rank be bound to few of those.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) CPU_ZERO(&cores);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof(cores), MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  const int usable = CPU_COUNT(&cores);
  per_core = ranks_here / (usable > 0 ? usable : static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &per_core, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
#endif
  std::vector<int> numbers(as_size(size));
  check_mpi(MPI_Allgather(&number, 1, MPI_INT, numbers.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return {NodeLayout::of(numbers), per_core};
}

Machine measure_machine(MPI_Comm comm, const Hosts& hosts) {
  Machine machine;
  const NodeLayout& nodes = hosts.nodes;
  const bool has_nodes = !nodes.is_flat();
  machine.ranks_per_core = hosts.ranks_per_core;
  machine.shares_cores = machine.ranks_per_core > 1;
  machine.is_one_host = are_on_one_host(nodes);
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  // The environment may differ from rank to rank; what rank 0 has decides whether all measure.
  int is_given[] = {read_environment(machine) ? 1 : 0, read_environment(machine.inside) ? 1 : 0};
  check_mpi(MPI_Bcast(is_given, 2, MPI_INT, 0, comm), "MPI_Bcast");
  const Pairs pairs = has_nodes ? pairs_of(nodes) : Pairs{{}, {0, size - 1}};
  if (is_given[0] == 0 && size > 1) {
    const MessageCosts costs = measure_messages(comm, pairs.between.first, pairs.between.second);
    machine.latency = round_to_power(costs.latency);
    machine.seconds_per_byte = round_to_power(costs.seconds_per_byte);
    read_environment(machine);
  }
  if (is_given[1] == 0 && has_nodes) {
    const MessageCosts costs = measure_messages(comm, pairs.inside.first, pairs.inside.second);
    machine.inside.latency = round_to_power(costs.latency);
    machine.inside.seconds_per_byte = round_to_power(costs.seconds_per_byte);
    read_environment(machine.inside);
  }
  double agreed[] = {machine.latency,
                     machine.seconds_per_byte,
                     machine.inside.latency,
                     machine.inside.seconds_per_byte,
                     machine.overhead,
                     machine.rendezvous,
                     static_cast<double>(machine.direct_ranks)};
  check_mpi(MPI_Bcast(agreed, 7, MPI_DOUBLE, 0, comm), "MPI_Bcast");
  machine.latency = agreed[0];
  machine.seconds_per_byte = agreed[1];
  machine.overhead = agreed[4];
  machine.rendezvous = agreed[5];
  machine.direct_ranks = static_cast<int>(agreed[6]);
  if (has_nodes) {
    machine.inside = {agreed[2], 0, agreed[3]};
    add_nodes(machine, nodes);
  } else {
    machine.inside = {};
  }
  return machine;
}

}  // namespace wisp::detail
