#pragma once

#include <stdexcept>
#include <string>

namespace wisp::cli {

/// A wrong input, known to every rank: one of them says it, all end with exit code 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A BadInput on all ranks of MPI_COMM_WORLD, if rank 0 cannot write this file: before much time goes into
/// what shall be in it. Empty: none is wanted. Collective.
void check_writable(const std::string& command, const std::string& file);

}  // namespace wisp::cli
