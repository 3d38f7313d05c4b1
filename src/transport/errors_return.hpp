#pragma once

#include <mpi.h>

namespace wisp::detail {

/// As long as it lives, MPI returns the errors of a communicator, and the program's error handler hears
/// nothing of them.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(MPI_Comm comm);
  ~ErrorsReturn();
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace wisp::detail
