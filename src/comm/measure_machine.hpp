#pragma once

#include <mpi.h>

#include "pattern/cost_model.hpp"
#include "pattern/node_layout.hpp"

namespace wisp::detail {

/// Which ranks share a host, and how many a core of the fullest has, of those cores that its ranks may use;
/// the same on all ranks.
struct Hosts {
  NodeLayout nodes;
  double ranks_per_core = 1;
};
/// Collective.
Hosts learn_hosts(MPI_Comm comm);

/// What messages of `comm` cost, in nodes and between them, the same on all ranks; what the environment says
/// is not measured. Collective.
Machine measure_machine(MPI_Comm comm, const Hosts& hosts);

/// What can be known without a message: what the environment says, and how many ranks share a core where the
/// launcher has said who shares a node. Local.
Machine machine_of_launcher(const NodeLayout& nodes);

/// Throws where the environment says of messages what is no number.
void check_machine_of_environment();

/// α and β in seconds.
struct MessageCosts {
  double latency = 0;
  double seconds_per_byte = 0;
};

/// Of messages between two ranks, the same on all ranks. Collective: the others wait.
MessageCosts measure_messages(MPI_Comm comm, int first, int second);

}  // namespace wisp::detail
