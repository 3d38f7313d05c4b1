#pragma once

#include <mpi.h>

#include <memory>

#include "transport/mpi_attribute.hpp"

// What belongs to the process, whether the program calls MPI_Init or has sessions alone (MPI-4, chapter 11),
// which know neither MPI_COMM_WORLD nor MPI_COMM_SELF.

namespace wisp::detail {

#ifdef MPI_SESSION_NULL
constexpr bool mpi_has_sessions = true;
#else
constexpr bool mpi_has_sessions = false;
#endif

/// Between MPI_Init and MPI_Finalize.
bool has_mpi_world() noexcept;
bool is_finalized() noexcept;
/// An error of `call` before MPI_Init and after MPI_Finalize; with an MPI that has sessions, there may be
/// one.
void check_mpi_runs(const char* call);
/// An error unless MPI runs, and `comm`, which `call` has as its argument of this name, is one of one group.
void check_comm(MPI_Comm comm, const char* call, const char* name = "comm");

/// A communicator of this process alone, whose errors are returned: MPI_COMM_SELF's handler is the program's.
/// Made for the first and kept until MPI_Finalize; with sessions alone, with its session, as long as anybody
/// has one.
class SelfComm {
 public:
  SelfComm();
  MPI_Comm get() const noexcept;

 private:
  struct Own;

  std::shared_ptr<Own> own_;
};

/// The T of this process, made by `make` when there is none yet. Kept as an attribute of MPI_COMM_SELF, and
/// closed at MPI_Finalize; with sessions alone it stays, as there is no such place.
template <class T, class Make>
std::shared_ptr<T> of_process(Make make) {
  if (has_mpi_world()) return attribute_of<T>(MPI_COMM_SELF, make);
  static const auto* const kept = new std::shared_ptr<T>(make());
  return *kept;
}

}  // namespace wisp::detail
