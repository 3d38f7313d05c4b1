#include "transport/process_failure.hpp"

#include "transport/mpi_group.hpp"
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
  OwnedGroup failed;
  if (MPIX_Comm_failure_ack(comm) != MPI_SUCCESS) return {};  // where mpirun was not told --with-ft
  check_mpi(MPIX_Comm_failure_get_acked(comm, failed.put()), "MPIX_Comm_failure_get_acked");
  return ranks_in(comm, failed.get());
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
