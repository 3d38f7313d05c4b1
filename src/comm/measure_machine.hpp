#pragma once

#include <mpi.h>

#include "pattern/cost_model.hpp"

namespace wisp::detail {

/// What messages of `comm` cost and how many ranks share a core, the same on all ranks; what the environment
/// says is not measured. Collective.
Machine measure_machine(MPI_Comm comm);

/// What can be known without a message: what the environment says, and how many ranks share a core if the
/// launcher says that it has started all of MPI_COMM_WORLD here, which it tells all of them alike. Local.
Machine machine_of_launcher(MPI_Comm comm);

/// α and β in seconds.
struct MessageCosts {
  double latency = 0;
  double seconds_per_byte = 0;
};

/// Of messages between two ranks, the same on all ranks. Collective: the others wait.
MessageCosts measure_messages(MPI_Comm comm, int first, int second);

}  // namespace wisp::detail
