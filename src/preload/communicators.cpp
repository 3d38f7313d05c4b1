// Where a program frees communicators: delete callbacks of its attributes may still call collectives on them.

#include "preload/calls.hpp"

using namespace wisp::preload;

namespace {

template <class Native>
int without_service(MPI_Comm* comm, Native native) {
  const BeingFreed guard(comm == nullptr ? MPI_COMM_NULL : *comm);
  return native(comm);
}

}  // namespace

extern "C" {

int MPI_Comm_free(MPI_Comm* comm) {
  static const auto native = next_of("MPI_Comm_free", &PMPI_Comm_free);
  return without_service(comm, native);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  static const auto native = next_of("MPI_Comm_disconnect", &PMPI_Comm_disconnect);
  return without_service(comm, native);
}

}  // extern "C"
