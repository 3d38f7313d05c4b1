#pragma once

#include "wisp/channel.hpp"
#include "wisp/task.hpp"

namespace wisp::bench {

/// What making a communicator costs an MPI library, on the simulated cluster: an allreduce of a 2,048-bit
/// mask of context IDs among the members, and 10 ns for each of them.
Task<> model_mpi_creation(Channel members);

}  // namespace wisp::bench
