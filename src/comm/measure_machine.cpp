#include "comm/measure_machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "comm/mpi_group.hpp"
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
  if (text == nullptr) return std::nullopt;
  const double number = std::strtod(text, nullptr);
  if (!(number > 0)) throw_error(MPI_ERR_ARG, "wisp: {} = {} is not a number above 0", name, text);
  return number;
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
  return microseconds && gigabytes;
}

/// The next power of two: so rough, measurements agree from run to run, and so do the algorithms chosen.
double round_to_power(double seconds) {
  return std::exp2(std::round(std::log2(seconds)));
}

/// How many ranks a core of the fullest node has, of those cores that its ranks may use. Collective.
double most_ranks_per_core([[maybe_unused]] MPI_Comm comm) {
#ifdef SMPI_H
  return 1;  // what ranks compute costs nothing there, however few cores simulate them
#else
  MPI_Comm node = MPI_COMM_NULL;
  int ranks_here = 0;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_size(node, &ranks_here), "MPI_Comm_size");
  // A container may have few of the machine's cores, and each rank be bound to few of those.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) CPU_ZERO(&cores);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof(cores), MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  const int usable = CPU_COUNT(&cores);
  const double count = usable > 0 ? usable : static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  double most = ranks_here / count;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  return most;
#endif
}

/// True if all ranks of MPI_COMM_WORLD were started on this host. Each reads the same, or none does.
bool all_are_here() {
  int size = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  // Open MPI; MPICH and Intel MPI.
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* here = std::getenv(name)) return std::atoi(here) == size;
  }
  return false;
}

/// Others may have been started by other launchers.
bool is_of_world(MPI_Comm comm) {
  MPI_Group ours = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm, &ours), "MPI_Comm_group");
  const std::vector<int> in_world = ranks_in(MPI_COMM_WORLD, ours);
  check_mpi(MPI_Group_free(&ours), "MPI_Group_free");
  return std::ranges::find(in_world, MPI_UNDEFINED) == in_world.end();
}

}  // namespace

Machine machine_of_launcher(MPI_Comm comm) {
  Machine machine;
  if (all_are_here() && is_of_world(comm)) {
    int size = 0;
    check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    // Not those that this rank may use: others may be bound to more or fewer.
    machine.ranks_per_core = size / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    machine.shares_cores = machine.ranks_per_core > 1;
  }
  read_environment(machine);
  return machine;
}

MessageCosts measure_messages(MPI_Comm comm, int first, int second) {
  constexpr int small_repeats = 20;
  constexpr int large_repeats = 10;
  constexpr std::size_t large = 256 * 1024;
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

Machine measure_machine(MPI_Comm comm) {
  Machine machine;
  machine.ranks_per_core = most_ranks_per_core(comm);
  machine.shares_cores = machine.ranks_per_core > 1;
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  // The environment may differ from rank to rank; what rank 0 has decides whether all measure.
  int is_given = read_environment(machine) ? 1 : 0;
  check_mpi(MPI_Bcast(&is_given, 1, MPI_INT, 0, comm), "MPI_Bcast");
  if (is_given == 0 && size > 1) {
    const MessageCosts costs = measure_messages(comm, 0, size - 1);
    machine.latency = round_to_power(costs.latency);
    machine.seconds_per_byte = round_to_power(costs.seconds_per_byte);
    read_environment(machine);
  }
  double agreed[] = {machine.latency, machine.seconds_per_byte, static_cast<double>(machine.direct_ranks),
                     machine.overhead};
  check_mpi(MPI_Bcast(agreed, 4, MPI_DOUBLE, 0, comm), "MPI_Bcast");
  machine.latency = agreed[0];
  machine.seconds_per_byte = agreed[1];
  machine.direct_ranks = static_cast<int>(agreed[2]);
  machine.overhead = agreed[3];
  return machine;
}

}  // namespace wisp::detail
