#pragma once

#include <mpi.h>

#include "pattern/cost_model.hpp"
#include "pattern/node_layout.hpp"

namespace wisp::detail {

/// Which ranks share a host, the same on all ranks. Collective.
NodeLayout learn_nodes(MPI_Comm comm);

/// What messages of `comm` cost, in nodes and between them, and how many ranks share a core, the same on all
/// ranks; what the environment says is not measured. Collective.
Machine measure_machine(MPI_Comm comm, const NodeLayout& nodes);

/// What can be known without a message: what the environment says, and how many ranks share a core where the
/// launcher has said who shares a node. Local.
Machine machine_of_launcher(const NodeLayout& nodes);

/// α and β in seconds.
struct MessageCosts {
  double latency = 0;
  double seconds_per_byte = 0;
};

/// Of messages between two ranks, the same on all ranks. Collective: the others wait.
MessageCosts measure_messages(MPI_Comm comm, int first, int second);

}  // namespace wisp::detail
