#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "wisp/comm.hpp"
#include "wisp/task.hpp"

namespace wisp {

/// A cluster of simulated ranks in one process and one thread, under the LogGP model (Alexandrov et al. 1995)
/// with one port per rank. The same options give the same run.
struct SimulationOptions {
  int ranks = 1;
  double latency = 2e-6;     ///< L: seconds on the wire
  double overhead = 0.5e-6;  ///< o: seconds a rank is busy for each message that it sends or receives
  double bandwidth = 10e9;   ///< 1/G: bytes per second of a port
  double joining = 0.5;      ///< how long a rank joins a byte in a reduction, in parts of its time at a port
  /// Each message takes up to `jitter` seconds longer, drawn from `seed`; messages of one pair stay in order.
  double jitter = 0;
  std::uint64_t seed = 0;
  /// Every send waits for its receive, as large messages do: what relies on buffering deadlocks.
  bool rendezvous = false;
  /// What the library is told about cores; it chooses algorithms by it. Time is modelled as if each had one.
  bool shares_cores = false;
  /// So many bytes of a message's content are carried; its size counts in full. What is cut off stays as it
  /// was at the receiver: for the time of programs whose data would not fit into one process. With none,
  /// operators of collectives are not applied either.
  std::size_t carried_bytes = ~std::size_t{0};
  /// The node of each rank; empty: each has one of its own. The ranks of a node share its port for messages
  /// between nodes, and have ports of their own for those inside.
  std::vector<int> nodes = {};
  double inside_latency = 0.5e-6;       ///< L between ranks of a node
  double inside_bandwidth = 40e9;       ///< and bytes per second of a rank's port there
  int tag_upper_bound = (1 << 30) - 1;  ///< at least 32,767, as of any MPI
  int mpi_communicators = 1;            ///< see DuplicateOptions
  bool attached = false;                ///< as Comm::attach instead of Comm::duplicate
  /// Ranks that fail: each behind so many steps (a message posted, or a wait that has ended).
  struct Stop {
    int rank;
    int steps = 0;
  };
  std::vector<Stop> stops = {};
  std::string trace = {};  ///< a file for `wisp trace`: what each rank does, and when; empty: none
};

struct SimulationReport {
  struct Rank {
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    double finished = 0;  ///< virtual seconds
    /// The most memory that its operations held at one time: coroutines, messages, scratch space. Not the
    /// program's own data.
    std::size_t peak_bytes = 0;
  };

  double seconds = 0;  ///< virtual, until the last rank is done
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages_between_nodes = 0;  ///< of these
  std::uint64_t bytes_between_nodes = 0;
  int rounds = 0;  ///< the longest chain of messages each of which waited for the one before
  std::vector<Rank> ranks;
};

/// Runs `program` on every simulated rank. Operations on its communicator are awaited, for nothing can block.
///
/// Throws what a rank throws (of several, the lowest), and an Error if no message can move (it says who waits
/// for whom, in which operation), or if messages are left unreceived at the end. MPI must be initialized, for
/// datatypes.
SimulationReport simulate(const SimulationOptions& options, const std::function<Task<>(Comm)>& program);

/// The virtual time of a rank of a simulated cluster, in seconds.
double simulated_time(const Comm& comm);
/// Lets a rank of a simulated cluster be busy; does nothing on a real one.
void simulated_work(const Comm& comm, double seconds);

}  // namespace wisp
