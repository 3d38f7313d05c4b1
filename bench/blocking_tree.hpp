#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace wisp::bench {

/// The patterns of wisp's collectives with nothing around them but MPI's blocking calls: what a coroutine
/// adds to them is the difference. Also a stand-in for other libraries over the same trees.
struct TreeScratch {
  std::vector<double> incoming;
  std::vector<double> kept;
};

bool has_blocking_tree(const std::string& op);
void run_blocking_tree(const std::string& op, const std::vector<double>& input, std::vector<double>& output,
                       int root, MPI_Comm comm, TreeScratch& scratch);

}  // namespace wisp::bench
