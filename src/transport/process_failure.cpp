#include "transport/process_failure.hpp"

#include <numeric>

#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

#ifdef OMPI_HAVE_MPI_EXT_FTMPI

bool is_process_failure(int code) {
  if (code == MPI_SUCCESS) return false;
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING;
}

std::vector<int> failed_ranks(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  if (MPIX_Comm_failure_ack(comm) != MPI_SUCCESS) return {};  // where mpirun was not told --with-ft
  check_mpi(MPIX_Comm_failure_get_acked(comm, &failed), "MPIX_Comm_failure_get_acked");
  check_mpi(MPI_Comm_group(comm, &all), "MPI_Comm_group");
  int count = 0;
  check_mpi(MPI_Group_size(failed, &count), "MPI_Group_size");
  std::vector<int> among(as_size(count));
  std::iota(among.begin(), among.end(), 0);
  std::vector<int> ranks(as_size(count));
  check_mpi(MPI_Group_translate_ranks(failed, count, among.data(), all, ranks.data()),
            "MPI_Group_translate_ranks");
  if (failed != MPI_GROUP_EMPTY) check_mpi(MPI_Group_free(&failed), "MPI_Group_free");
  check_mpi(MPI_Group_free(&all), "MPI_Group_free");
  return ranks;
}

#else

bool is_process_failure(int) {
  return false;
}
std::vector<int> failed_ranks(MPI_Comm) {
  return {};
}

#endif

}  // namespace wisp::detail
