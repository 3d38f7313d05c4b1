#pragma once

#include <mpi.h>

#include "wisp/error.hpp"

namespace wisp::cli {

/// Of this process in MPI_COMM_WORLD.
inline int world_rank() {
  int rank = 0;
  detail::check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  return rank;
}
inline int world_size() {
  int size = 0;
  detail::check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return size;
}

}  // namespace wisp::cli
