// The same for Fortran. MPICH's Fortran calls the names of C; that of Open MPI calls those of PMPI, so it has
// names here: mpif.h and the module mpi call mpi_bcast_, mpi_f08 calls ompi_bcast_f.

#include <mpi.h>

#include <vector>

#include "preload/calls.hpp"

#ifdef OPEN_MPI

extern "C" {
// MPI_IN_PLACE and MPI_BOTTOM of Fortran are where these are.
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
}

namespace {

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of Fortran are passed on as they are");

void* address(void* given) {
  if (given == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (given == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return given;
}

/// One for each rank.
class Datatypes {
 public:
  Datatypes(const MPI_Fint* given, MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    for (int rank = 0; rank < size; ++rank) all_.push_back(PMPI_Type_f2c(given[rank]));
  }
  operator const MPI_Datatype*() const { return all_.data(); }  // NOLINT(google-explicit-constructor)

 private:
  std::vector<MPI_Datatype> all_;
};

}  // namespace

#define WISP_LIST(...) __VA_ARGS__
// Compilers spell a name in one of four ways; they are one function, as are those of the two modules.
#define WISP_SPELLINGS(name, NAME)                                                        \
  extern decltype(mpi_##name##_) mpi_##name __attribute__((alias("mpi_" #name "_")));     \
  extern decltype(mpi_##name##_) mpi_##name##__ __attribute__((alias("mpi_" #name "_"))); \
  extern decltype(mpi_##name##_) MPI_##NAME __attribute__((alias("mpi_" #name "_")));     \
  extern decltype(mpi_##name##_) ompi_##name##_f __attribute__((alias("mpi_" #name "_")));
#define WISP_FORTRAN(Name, name, NAME, parameters, arguments)                \
  void mpi_##name##_(WISP_LIST parameters MPI_Fint* comm, MPI_Fint* error) { \
    const MPI_Comm on = PMPI_Comm_f2c(*comm);                                \
    const int code = MPI_##Name(WISP_LIST arguments on);                     \
    if (error != nullptr) *error = code;                                     \
  }                                                                          \
  WISP_SPELLINGS(name, NAME)

extern "C" {

WISP_FORTRAN(Barrier, barrier, BARRIER, (), ())
#include "preload/fortran.inc"

void mpi_init_(MPI_Fint* error) {
  static const auto native = wisp::preload::next_of<void(MPI_Fint*)>("mpi_init_", nullptr);
  native(error);
  wisp::preload::begun(*error);
}
WISP_SPELLINGS(init, INIT)

void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  static const auto native =
      wisp::preload::next_of<void(MPI_Fint*, MPI_Fint*, MPI_Fint*)>("mpi_init_thread_", nullptr);
  native(required, provided, error);
  wisp::preload::begun(*error);
}
WISP_SPELLINGS(init_thread, INIT_THREAD)

}  // extern "C"

#elif defined(MPICH_VERSION)

extern "C" {

// A communicator of mpi_f08 is a struct that holds the integer alone; what is optional may be no address.
void mpi_init_f08_(MPI_Fint* error) {
  static const auto native = wisp::preload::next_of<void(MPI_Fint*)>("mpi_init_f08_", nullptr);
  MPI_Fint code = MPI_SUCCESS;
  native(&code);
  wisp::preload::begun(code);
  if (error != nullptr) *error = code;
}

void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  static const auto native =
      wisp::preload::next_of<void(MPI_Fint*, MPI_Fint*, MPI_Fint*)>("mpi_init_thread_f08_", nullptr);
  MPI_Fint code = MPI_SUCCESS;
  native(required, provided, &code);
  wisp::preload::begun(code);
  if (error != nullptr) *error = code;
}

void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  const int code = MPI_Barrier(PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

}  // extern "C"

#endif
