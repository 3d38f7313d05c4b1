#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <vector>

// Processes that fail while others live on: MPI's extension for it (ULFM), in Open MPI. MPICH 4.0 has its
// names, but ends a program that calls it.

namespace wisp::detail {

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
constexpr int process_failure_class = MPIX_ERR_PROC_FAILED;
#else
constexpr int process_failure_class = MPI_ERR_OTHER;
#endif

/// Whether MPI says by this code that a process is gone.
bool is_process_failure(int code);

/// The ranks of a communicator that are gone, as far as this process knows. From now on messages from any
/// source are received from the others.
std::vector<int> failed_ranks(MPI_Comm comm);

}  // namespace wisp::detail
