// Where a preloaded program begins and ends with MPI, and what MPI is told of errors.

#include <algorithm>
#include <cstdlib>

#include "preload/calls.hpp"
#include "transport/mpi_library.hpp"

namespace wisp::preload {
namespace {

/// The library that the program has, under which no handle of another is one.
void check_library() {
#if defined(OPEN_MPI) || (defined(MPICH_VERSION) && !defined(MPI_ABI))
#ifdef OPEN_MPI
  constexpr bool is_for_open_mpi = true;
#else
  constexpr bool is_for_open_mpi = false;
#endif
  if (detail::is_open_mpi() == is_for_open_mpi) return;
  std::fprintf(stderr,
               "wisp preload: wisp was built with %s, and this program runs with another MPI: %.60s\n",
               is_for_open_mpi ? "Open MPI" : "MPICH", detail::library_version().c_str());
  std::fflush(stderr);
  std::_Exit(2);
#endif
}

/// MPI_Finalize deletes what is kept with MPI_COMM_SELF before anything else, and MPI still works then.
void begin(int level) {
  check_library();
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto end = [](MPI_Comm, int, void*, void*) -> int {
      process.end();
      return MPI_SUCCESS;
    };
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, +end, &made, nullptr);
    return made;
  }();
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  process.begin(level);
}

}  // namespace

int report_error(MPI_Comm comm, int error_class, const char* sentence) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  // Who returns errors may expect one; who does not is about to end, and should know why.
  bool is_fatal = handler == MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT
  is_fatal = is_fatal || handler == MPI_ERRORS_ABORT;
#endif
  if (is_fatal) std::fprintf(stderr, "wisp preload: %s\n", sentence);
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  PMPI_Comm_call_errhandler(comm, error_class);
  return error_class;
}

int begun(int code, int level) {
  if (code == MPI_SUCCESS) begin(level);
  return code;
}

}  // namespace wisp::preload

using namespace wisp::preload;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  static const auto native = next_of("MPI_Init", &PMPI_Init);
  static const auto native_thread = next_of("MPI_Init_thread", &PMPI_Init_thread);
  int level = MPI_THREAD_SINGLE;
  if (Process::wants_threads()) {
    const Process::ThreadsSetting setting;
    if (setting.exists()) return begun(native(argc, argv), level);
    int provided = level;
    return begun(native_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided), level);
  }
  const int code = native(argc, argv);
  PMPI_Query_thread(&level);  // the user may have told MPI to serve threads
  return begun(code, level);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  static const auto native = next_of("MPI_Init_thread", &PMPI_Init_thread);
  if (!Process::wants_threads()) {
    const int code = native(argc, argv, required, provided);
    return begun(code, *provided);
  }
  const int code = native(argc, argv, MPI_THREAD_MULTIPLE, provided);
  // The program has what it has asked for, whatever else asks for more.
  *provided = std::min(*provided, required);
  return begun(code, *provided);
}

int MPI_Finalize() {
  static const auto native = next_of("MPI_Finalize", &PMPI_Finalize);
  process.take_no_more();
  return native();
}

int MPI_Query_thread(int* provided) {
  static const auto native = next_of("MPI_Query_thread", &PMPI_Query_thread);
  const int code = native(provided);
  if (code == MPI_SUCCESS && process.has_begun()) *provided = process.level();
  return code;
}

}  // extern "C"
