#pragma once

#include <mpi.h>

#include <numeric>
#include <vector>

#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

/// The ranks in `comm` of a group's processes, MPI_UNDEFINED for those that it has not. Local, O(size).
inline std::vector<int> ranks_in(MPI_Comm comm, MPI_Group group) {
  int size = 0;
  check_mpi(MPI_Group_size(group, &size), "MPI_Group_size");
  std::vector<int> in_group(as_size(size));
  std::vector<int> in_comm(in_group.size());
  std::iota(in_group.begin(), in_group.end(), 0);
  MPI_Group all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm, &all), "MPI_Comm_group");
  const int code = MPI_Group_translate_ranks(group, size, in_group.data(), all, in_comm.data());
  check_mpi(MPI_Group_free(&all), "MPI_Group_free");
  check_mpi(code, "MPI_Group_translate_ranks");
  return in_comm;
}

}  // namespace wisp::detail
