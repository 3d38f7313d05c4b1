#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <new>

#include "comm/comm_access.hpp"
#include "preload/process.hpp"
#include "preload/progress.hpp"
#include "preload/served.hpp"
#include "transport/type_layout.hpp"
#include "wisp/error.hpp"
#include "wisp/operation.hpp"

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

/// After MPI has begun with this code: agrees on the settings. The program has this level of threads.
int begun(int code, int level);

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
int counted(Form form, Call call, Fate fate, Run run) {
  if (!process.counts()) [[likely]]
    return run();
  const auto begin = std::chrono::steady_clock::now();
  const int code = run();
  process.count(form, call, fate, std::chrono::steady_clock::now() - begin);
  return code;
}

/// A call: if all ranks take it, `make(served, use)` makes an operation and has it used, else `native()` does
/// it all. `bytes()` is what the choice depends on.
template <class Bytes, class Make, class Native>
int blocking(Call call, MPI_Comm comm, Bytes bytes, Make make, Native native) {
  constexpr Form form = Form::blocking;
  Served* served = process.may_take(form, call) ? Served::find(comm) : nullptr;
  if (served == nullptr) return counted(form, call, Fate::native, native);
  auto held = progress.lock();
  if (!served->takes(form, call, bytes())) {
    if (held) held.unlock();
    return counted(form, call, Fate::native, native);
  }
  return counted(form, call, Fate::taken, [&] {
    return guarded(comm, [&] { make(*served, [](const Operation& made) { made.run(); }); });
  });
}

template <class Bytes, class Make, class Native>
int nonblocking(Call call, MPI_Comm comm, MPI_Request* request, Bytes bytes, Make make, Native native) {
  constexpr Form form = Form::nonblocking;
  Served* served = process.may_take(form, call) && request != nullptr ? Served::find(comm) : nullptr;
  if (served == nullptr) return counted(form, call, Fate::native, native);
  auto held = progress.lock();
  if (!served->takes(form, call, bytes())) {
    if (held) held.unlock();
    return counted(form, call, Fate::native, native);
  }
  return counted(form, call, Fate::taken, [&] {
    return guarded(comm, [&] {
      detail::Engine& engine = detail::CommAccess::world(served->comm()).engine();
      make(*served, [&](const Operation& made) {
        detail::check_mpi(progress.hand_out(made.start(), engine, request), "MPI_Grequest_start");
      });
    });
  });
}

/// A persistent one.
template <class Bytes, class Make, class Native>
int persistent(Call call, MPI_Comm comm, MPI_Request* request, Bytes bytes, Make make, Native native) {
  constexpr Form form = Form::persistent;
  Served* served = process.may_take(form, call) && request != nullptr ? Served::find(comm) : nullptr;
  if (served == nullptr) return counted(form, call, Fate::native, native);
  auto held = progress.lock();
  if (!served->takes(form, call, bytes())) {
    if (held) held.unlock();
    return counted(form, call, Fate::native, native);
  }
  return counted(form, call, Fate::taken, [&] {
    return guarded(comm, [&] {
      detail::Engine& engine = detail::CommAccess::world(served->comm()).engine();
      make(*served, [&](Operation made) {
        detail::check_mpi(progress.hand_out_persistent(std::move(made).persistent(), comm, engine, request),
                          "MPI_Recv_init");
      });
    });
  });
}

}  // namespace wisp::preload

#define WISP_LIST(...) __VA_ARGS__
/// The blocking and the nonblocking form of a call; the last arguments are what makes it wisp's, of `served`
/// and `use`.
#define WISP_FORMS(Blocking, Nonblocking, name, parameters, bytes, bytes_started, ...)   \
  int WISP_MPI(Blocking)(WISP_LIST parameters MPI_Comm comm) {                           \
    static const auto native = next_of(WISP_TEXT(Blocking), &WISP_PMPI(Blocking));       \
    return blocking(                                                                     \
        Call::name, comm, [&]() -> std::int64_t { return bytes; },                       \
        [&](Served& served, auto use) {                                                  \
          [[maybe_unused]] constexpr Form form = Form::blocking;                         \
          __VA_ARGS__;                                                                   \
        },                                                                               \
        [&] { return native(WISP_NAMES_##name comm); });                                 \
  }                                                                                      \
  int WISP_MPI(Nonblocking)(WISP_LIST parameters MPI_Comm comm, MPI_Request * request) { \
    static const auto native = next_of(WISP_TEXT(Nonblocking), &WISP_PMPI(Nonblocking)); \
    return nonblocking(                                                                  \
        Call::name, comm, request, [&]() -> std::int64_t { return bytes_started; },      \
        [&](Served& served, auto use) {                                                  \
          [[maybe_unused]] constexpr Form form = Form::nonblocking;                      \
          __VA_ARGS__;                                                                   \
        },                                                                               \
        [&] { return native(WISP_NAMES_##name comm, request); });                        \
  }                                                                                      \
  WISP_PERSISTENT_FORM(Blocking##_init, name, parameters, bytes_started, __VA_ARGS__)

#if MPI_VERSION >= 4
#define WISP_PERSISTENT_FORM(Init, name, parameters, bytes, ...)                                 \
  int WISP_MPI(Init)(WISP_LIST parameters MPI_Comm comm, MPI_Info info, MPI_Request * request) { \
    static const auto native = next_of(WISP_TEXT(Init), &WISP_PMPI(Init));                       \
    return persistent(                                                                           \
        Call::name, comm, request, [&]() -> std::int64_t { return bytes; },                      \
        [&](Served& served, auto use) {                                                          \
          [[maybe_unused]] constexpr Form form = Form::persistent;                               \
          __VA_ARGS__;                                                                           \
        },                                                                                       \
        [&] { return native(WISP_NAMES_##name comm, info, request); });                          \
  }
#else
#define WISP_PERSISTENT_FORM(...)
#endif
