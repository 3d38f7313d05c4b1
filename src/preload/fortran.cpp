// The same for Fortran. MPICH's Fortran calls the names of C; that of Open MPI calls those of PMPI, so it has
// names here: mpif.h and the module mpi call mpi_bcast_, mpi_f08 calls ompi_bcast_f.

#include <mpi.h>

// MPI's standard ABI leaves Fortran to libraries that call the names of C.
#if defined(OPEN_MPI) || defined(MPICH_VERSION)

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "preload/calls.hpp"

namespace {

using namespace wisp::preload;

/// A name of any other library that is loaded, also where the program has loaded it for one of its own alone.
void* find_loaded(const char* name) {
  std::vector<std::string> files;
  const auto note = [](dl_phdr_info* library, std::size_t, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &files);
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&find_loaded), &here);
  for (const std::string& file : files) {
    void* library = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* found = dlsym(library, name);
    dlclose(library);
    Dl_info there{};
    if (found != nullptr && dladdr(found, &there) != 0 && there.dli_fbase != here.dli_fbase) return found;
  }
  return nullptr;
}
/// What the program's Fortran would have called without the preload.
template <class Function>
Function* of_fortran(const char* name) {
  if (Function* next = next_of<Function>(name, nullptr)) return next;
  if (void* found = find_loaded(name)) return reinterpret_cast<Function*>(found);
  std::fprintf(stderr, "wisp preload: %s of MPI's Fortran library is not to be found\n", name);
  std::abort();
}

using Init = void(MPI_Fint* error);
using InitThread = void(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);

MPI_Fint begin_with_threads(const char* name, MPI_Fint required, MPI_Fint& provided) {
  const auto native = of_fortran<InitThread>(name);
  const bool is_raised = Process::wants_threads();
  MPI_Fint level = is_raised ? MPI_THREAD_MULTIPLE : required;
  MPI_Fint code = MPI_SUCCESS;
  native(&level, &provided, &code);
  if (is_raised) provided = std::min(provided, required);
  return begun(code, provided);
}

/// MPI_Finalize of Fortran, which clears up more than that of C.
MPI_Fint finish(const char* name) {
  process.take_no_more();
  MPI_Fint code = MPI_SUCCESS;
  of_fortran<Init>(name)(&code);
  return code;
}

MPI_Fint begin(const char* name, const char* name_with_threads) {
  MPI_Fint level = MPI_THREAD_SINGLE;
  std::optional<Process::ThreadsSetting> setting;
  const bool wants_threads = Process::wants_threads();
  if (wants_threads && !setting.emplace().exists())
    return begin_with_threads(name_with_threads, level, level);
  MPI_Fint code = MPI_SUCCESS;
  of_fortran<Init>(name)(&code);
  if (!wants_threads) PMPI_Query_thread(&level);
  return begun(code, level);
}

}  // namespace

#define WISP_LIST(...) __VA_ARGS__

#ifdef OPEN_MPI

extern "C" {
// MPI_IN_PLACE and MPI_BOTTOM of Fortran are where these are.
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
}

namespace {

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of Fortran are passed on as they are");

void* address(void* given) {
  static const void* const in_place =
      &mpi_fortran_in_place_ != nullptr ? &mpi_fortran_in_place_ : find_loaded("mpi_fortran_in_place_");
  static const void* const bottom =
      &mpi_fortran_bottom_ != nullptr ? &mpi_fortran_bottom_ : find_loaded("mpi_fortran_bottom_");
  if (given == in_place) return MPI_IN_PLACE;
  if (given == bottom) return MPI_BOTTOM;
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

#define WISP_FREES(Name, name, NAME)                       \
  void mpi_##name##_(MPI_Fint* comm, MPI_Fint* error) {    \
    MPI_Comm freed = PMPI_Comm_f2c(*comm);                 \
    const int code = MPI_##Name(&freed);                   \
    if (code == MPI_SUCCESS) *comm = PMPI_Comm_c2f(freed); \
    if (error != nullptr) *error = code;                   \
  }                                                        \
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

void mpi_finalize_(MPI_Fint* error) {
  *error = finish("mpi_finalize_");
}
WISP_SPELLINGS(finalize, FINALIZE)

WISP_FREES(Comm_free, comm_free, COMM_FREE)
WISP_FREES(Comm_disconnect, comm_disconnect, COMM_DISCONNECT)

}  // extern "C"

#else

namespace {

// A handle of mpi_f08 is a struct that holds the integer alone, which is C's, and a status has C's layout;
// what is optional may be no address.
static_assert(std::is_same_v<MPI_Request, MPI_Fint> && std::is_same_v<MPI_Comm, MPI_Fint>);
static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status));

MPI_Status* status_of(MPI_F08_status* given) {
  return given == MPI_F08_STATUS_IGNORE ? MPI_STATUS_IGNORE : reinterpret_cast<MPI_Status*>(given);
}
MPI_Status* statuses_of(MPI_F08_status* given) {
  return given == MPI_F08_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : reinterpret_cast<MPI_Status*>(given);
}
/// Of the first of an array, as the library itself answers: MPICH 4.0's counts from zero.
MPI_Fint first_index() {
  using TestAny = void(MPI_Fint * count, MPI_Fint * requests, MPI_Fint * index, MPI_Fint * flag,
                       MPI_F08_status * status, MPI_Fint * error);
  static const MPI_Fint first = [] {
    MPI_Fint one = 1;
    MPI_Fint index = 1;
    MPI_Fint flag = 0;
    MPI_Fint code = MPI_SUCCESS;
    MPI_Request sent = MPI_REQUEST_NULL;
    PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &sent);
    of_fortran<TestAny>("mpi_testany_f08_")(&one, &sent, &index, &flag, MPI_F08_STATUS_IGNORE, &code);
    return index;
  }();
  return first;
}

/// Where a call has said which: of none, `count` is below zero.
MPI_Fint from_first(int code, MPI_Fint* indices, const MPI_Fint& count) {
  for (MPI_Fint i = 0; i < count; ++i) {
    if (indices[i] != MPI_UNDEFINED) indices[i] += first_index();
  }
  return code;
}

}  // namespace

// MPICH's mpi_f08 calls the names of PMPI where there are no buffers.
#define WISP_F08(name, parameters, call)                         \
  void mpi_##name##_f08_(WISP_LIST parameters MPI_Fint* error) { \
    const MPI_Fint code = call;                                  \
    if (error != nullptr) *error = code;                         \
  }

extern "C" {

WISP_F08(init, (), begin("mpi_init_f08_", "mpi_init_thread_f08_"))
WISP_F08(init_thread, (MPI_Fint * required, MPI_Fint* provided, ),
         begin_with_threads("mpi_init_thread_f08_", *required, *provided))
WISP_F08(finalize, (), finish("mpi_finalize_f08_"))
WISP_F08(query_thread, (MPI_Fint * provided, ), MPI_Query_thread(provided))
WISP_F08(comm_free, (MPI_Fint * comm, ), MPI_Comm_free(comm))
WISP_F08(comm_disconnect, (MPI_Fint * comm, ), MPI_Comm_disconnect(comm))
WISP_F08(barrier, (MPI_Fint * comm, ), MPI_Barrier(*comm))
WISP_F08(ibarrier, (MPI_Fint * comm, MPI_Fint* request, ), MPI_Ibarrier(*comm, request))
#if MPI_VERSION >= 4
WISP_F08(barrier_init, (MPI_Fint * comm, MPI_Fint* info, MPI_Fint* request, ),
         MPI_Barrier_init(*comm, *info, request))
#endif
WISP_F08(start, (MPI_Fint * request, ), MPI_Start(request))
WISP_F08(startall, (MPI_Fint * count, MPI_Fint* requests, ), MPI_Startall(*count, requests))
WISP_F08(request_free, (MPI_Fint * request, ), MPI_Request_free(request))
WISP_F08(request_get_status, (MPI_Fint * request, MPI_Fint* flag, MPI_F08_status* status, ),
         MPI_Request_get_status(*request, flag, status_of(status)))
WISP_F08(wait, (MPI_Fint * request, MPI_F08_status* status, ), MPI_Wait(request, status_of(status)))
WISP_F08(waitall, (MPI_Fint * count, MPI_Fint* requests, MPI_F08_status* statuses, ),
         MPI_Waitall(*count, requests, statuses_of(statuses)))
WISP_F08(test, (MPI_Fint * request, MPI_Fint* flag, MPI_F08_status* status, ),
         MPI_Test(request, flag, status_of(status)))
WISP_F08(testall, (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* flag, MPI_F08_status* statuses, ),
         MPI_Testall(*count, requests, flag, statuses_of(statuses)))

WISP_F08(waitany, (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* index, MPI_F08_status* status, ),
         from_first(MPI_Waitany(*count, requests, index, status_of(status)), index, 1))
WISP_F08(testany,
         (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag, MPI_F08_status* status, ),
         from_first(MPI_Testany(*count, requests, index, flag, status_of(status)), index, *flag))
WISP_F08(waitsome,
         (MPI_Fint * incount, MPI_Fint* requests, MPI_Fint* outcount, MPI_Fint* indices,
          MPI_F08_status* statuses, ),
         from_first(MPI_Waitsome(*incount, requests, outcount, indices, statuses_of(statuses)), indices,
                    *outcount))
WISP_F08(testsome,
         (MPI_Fint * incount, MPI_Fint* requests, MPI_Fint* outcount, MPI_Fint* indices,
          MPI_F08_status* statuses, ),
         from_first(MPI_Testsome(*incount, requests, outcount, indices, statuses_of(statuses)), indices,
                    *outcount))

}  // extern "C"

#endif

#endif
