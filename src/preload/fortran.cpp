// The same for Fortran. MPICH's Fortran calls the names of C; that of Open MPI calls those of PMPI, so it has
// names here: mpif.h and the module mpi call mpi_bcast_, mpi_f08 calls ompi_bcast_f.

#include <mpi.h>

// MPI's standard ABI leaves Fortran to libraries that call the names of C.
#if defined(OPEN_MPI) || defined(MPICH_VERSION)

#include <algorithm>
#include <type_traits>
#include <vector>

#include "preload/calls.hpp"

namespace {

using namespace wisp::preload;

using Init = void(MPI_Fint* error);
using InitThread = void(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);

MPI_Fint begin_with_threads(const char* name, MPI_Fint required, MPI_Fint& provided) {
  const auto native = next_of<InitThread>(name, nullptr);
  const bool is_raised = Process::wants_threads();
  MPI_Fint level = is_raised ? MPI_THREAD_MULTIPLE : required;
  MPI_Fint code = MPI_SUCCESS;
  native(&level, &provided, &code);
  if (is_raised) provided = std::min(provided, required);
  return begun(code, provided);
}

MPI_Fint begin(const char* name, const char* name_with_threads) {
  MPI_Fint level = MPI_THREAD_SINGLE;
  if (Process::wants_threads()) return begin_with_threads(name_with_threads, level, level);
  MPI_Fint code = MPI_SUCCESS;
  next_of<Init>(name, nullptr)(&code);
  PMPI_Query_thread(&level);
  return begun(code, level);
}

}  // namespace

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

/// One for each rank, of an intercommunicator each on the other side.
class Datatypes {
 public:
  Datatypes(const MPI_Fint* given, MPI_Comm comm, void* buffer = nullptr) {
    if (address(buffer) == MPI_IN_PLACE) return;
    int size = 0;
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    (is_inter != 0 ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size);
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
  *error = begin("mpi_init_", "mpi_init_thread_");
}
WISP_SPELLINGS(init, INIT)

void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  *error = begin_with_threads("mpi_init_thread_", *required, *provided);
}
WISP_SPELLINGS(init_thread, INIT_THREAD)

}  // extern "C"

#else

extern "C" {

// A handle of mpi_f08 is a struct that holds the integer alone, which is C's; what is optional may be no
// address.
static_assert(std::is_same_v<MPI_Request, MPI_Fint>);

void mpi_init_f08_(MPI_Fint* error) {
  const MPI_Fint code = begin("mpi_init_f08_", "mpi_init_thread_f08_");
  if (error != nullptr) *error = code;
}

void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const MPI_Fint code = begin_with_threads("mpi_init_thread_f08_", *required, *provided);
  if (error != nullptr) *error = code;
}

void mpi_start_f08_(MPI_Fint* request, MPI_Fint* error) {
  const int code = MPI_Start(request);
  if (error != nullptr) *error = code;
}

void mpi_startall_f08_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* error) {
  const int code = MPI_Startall(*count, requests);
  if (error != nullptr) *error = code;
}

void mpi_request_free_f08_(MPI_Fint* request, MPI_Fint* error) {
  const int code = MPI_Request_free(request);
  if (error != nullptr) *error = code;
}

void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  const int code = MPI_Barrier(PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

}  // extern "C"

#endif

#endif
