#pragma once

#include <mpi.h>

namespace wisp::preload {

/// As long as it lives, MPI returns the errors of a communicator, and the program's error handler hears
/// nothing of them.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(MPI_Comm comm) : comm_(comm) {
    PMPI_Comm_get_errhandler(comm_, &handler_);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturn() {
    PMPI_Comm_set_errhandler(comm_, handler_);
    if (handler_ != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler_);
  }
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace wisp::preload
