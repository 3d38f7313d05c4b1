#pragma once

#include <mpi.h>

#include <string_view>
#include <vector>

#include "pattern/node_layout.hpp"

/// What can be known of nodes without a message: what the launcher has told all ranks alike.

namespace wisp::detail {

/// Ranks of each node from Slurm's short form, as in "16(x3),8"; empty: it is none.
std::vector<int> parse_tasks_per_node(std::string_view text);

/// Which ranks of `comm` share a node, if the launcher says it of all that it has started and they are all
/// among these; else nothing. From the environment: WISP_RANKS_PER_NODE (in blocks), Slurm's, or whether Open
/// MPI's, MPICH's or Intel MPI's launcher has started all of them on this host. Local.
NodeLayout nodes_of_launcher(MPI_Comm comm);

}  // namespace wisp::detail
