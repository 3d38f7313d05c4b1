#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <new>

#include "preload/process.hpp"
#include "preload/served.hpp"
#include "transport/type_layout.hpp"
#include "wisp/error.hpp"

// What all calls that are taken over share: how they reach MPI, and what they are counted and asked for.

namespace wisp::preload {

/// What the program would have called without the preload: the next library that defines it, which may be a
/// tool, or else MPI.
template <class Function>
Function* next_of(const char* name, Function* of_mpi) {
  void* found = dlsym(RTLD_NEXT, name);
  return found == nullptr ? of_mpi : reinterpret_cast<Function*>(found);
}

/// Bytes of so many elements; -1: MPI will refuse them.
template <class Count>
std::int64_t bytes_of(Count count, MPI_Datatype type) {
  if (count < 0 || type == MPI_DATATYPE_NULL) return -1;
  if (const auto plain = detail::plain_size_of(type))
    return static_cast<std::int64_t>(count * static_cast<Count>(*plain));
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return -1;
  return static_cast<std::int64_t>(count) * size;
}

/// After MPI has begun with this code: agrees on the settings.
int begun(int code);

/// Tells the communicator's error handler of an error of wisp's, as MPI would of its own.
int report_error(MPI_Comm comm, int error_class, const char* sentence);

template <class Ours>
int guarded(MPI_Comm comm, Ours ours) {
  try {
    ours();
    return MPI_SUCCESS;
  } catch (const Error& error) {
    return report_error(comm, error.error_class(), error.what());
  } catch (const std::bad_alloc&) {
    return report_error(comm, MPI_ERR_NO_MEM, "out of memory");
  } catch (const std::exception& error) {
    return report_error(comm, MPI_ERR_OTHER, error.what());
  }
}

template <class Run>
int counted(Call call, Fate fate, Run run) {
  if (!process.counts()) [[likely]]
    return run();
  const auto begin = std::chrono::steady_clock::now();
  const int code = run();
  process.count(call, fate, std::chrono::steady_clock::now() - begin);
  return code;
}

/// A blocking call: `ours(served)` if all ranks take it, else `native()`. `bytes()` is what it is asked for.
template <class Bytes, class Ours, class Native>
int blocking(Call call, MPI_Comm comm, Bytes bytes, Ours ours, Native native) {
  Served* served = process.may_take(call) ? Served::find(comm) : nullptr;
  if (served == nullptr || !served->takes(call, bytes())) return counted(call, Fate::native, native);
  return counted(call, Fate::taken, [&] { return guarded(comm, [&] { ours(*served); }); });
}

}  // namespace wisp::preload
