#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <new>
#include <string>

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
  if (const std::size_t plain = detail::plain_size_of(type); plain > 0)
    return static_cast<std::int64_t>(count) * static_cast<std::int64_t>(plain);
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return -1;
  return static_cast<std::int64_t>(count) * size;
}

/// After MPI has begun with this code: agrees on the settings. The program has this level of threads.
int begun(int code, int level);

/// Tells the communicator's error handler of an error of wisp's, as MPI would of its own.
int report_error(MPI_Comm comm, int error_class, const char* sentence);

/// Runs `ours` under the lock. An error handler is called without it: it is the program's, and may use MPI.
template <class Ours>
int guarded(MPI_Comm comm, std::unique_lock<std::mutex> held, Ours ours) {
  int error_class = MPI_SUCCESS;
  std::string sentence;
  try {
    ours();
    return MPI_SUCCESS;
  } catch (const Error& error) {
    error_class = error.error_class();
    sentence = error.what();
  } catch (const std::bad_alloc&) {
    error_class = MPI_ERR_NO_MEM;
    sentence = "out of memory";
  } catch (const std::exception& error) {
    error_class = MPI_ERR_OTHER;
    sentence = error.what();
  }
  if (held) held.unlock();
  return report_error(comm, error_class, sentence.c_str());
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

/// A call: `ours(served)` if all ranks take it, else `native()`. `bytes()` is what the choice depends on.
template <Form form, class Bytes, class Ours, class Native>
int dispatch(Call call, MPI_Comm comm, Bytes bytes, Ours ours, Native native) {
  Served* served = process.may_take(form, call) ? Served::find(comm) : nullptr;
  const std::int64_t size = served == nullptr ? -1 : bytes();
  if (served == nullptr || !served->prepare(form, call, size)) {
    return counted(form, call, Fate::native, native);
  }
  auto held = progress.lock();
  if (!served->takes(form, call, size)) {
    if (held) held.unlock();
    return counted(form, call, Fate::native, native);
  }
  return counted(form, call, Fate::taken,
                 [&] { return guarded(comm, std::move(held), [&] { ours(*served); }); });
}

/// What becomes of an operation: it is run, or the program gets a request of MPI for it.
template <Form form>
void carry_out(Operation made, [[maybe_unused]] Served& served, [[maybe_unused]] MPI_Request* request) {
  if constexpr (form == Form::blocking) {
    made.run();
  } else {
    const int code = form == Form::nonblocking
                         ? progress.hand_out(made.start(), served, request)
                         : progress.hand_out_persistent(std::move(made).persistent(), served, request);
    detail::check_mpi(code, "MPI_Grequest_start");
  }
}

}  // namespace wisp::preload

#define WISP_LIST(...) __VA_ARGS__
/// A form of a call; `more` and `more_names` are its parameters behind those of the blocking one, `request`
/// is where its request goes. The last arguments are what makes it wisp's: of `served`, they give an
/// operation to `use`.
#define WISP_FORM(of_form, Name, name, parameters, more, more_names, request_or_null, bytes, ...) \
  int WISP_MPI(Name)(WISP_LIST parameters MPI_Comm comm WISP_LIST more) {                         \
    static const auto native = next_of(WISP_TEXT(Name), &WISP_PMPI(Name));                        \
    constexpr Form form = of_form;                                                                \
    return dispatch<form>(                                                                        \
        Call::name, comm, [&]() -> std::int64_t { return bytes; },                                \
        [&](Served& served) {                                                                     \
          const auto use = [&](Operation made) {                                                  \
            carry_out<form>(std::move(made), served, request_or_null);                            \
          };                                                                                      \
          __VA_ARGS__;                                                                            \
        },                                                                                        \
        [&] { return native(WISP_NAMES_##name comm WISP_LIST more_names); });                     \
  }
/// All that this MPI has.
#define WISP_FORMS(Blocking, Nonblocking, name, parameters, bytes, ...)                               \
  WISP_FORM(Form::blocking, Blocking, name, parameters, (), (), nullptr, bytes, __VA_ARGS__)          \
  WISP_FORM(Form::nonblocking, Nonblocking, name, parameters, (, MPI_Request * request), (, request), \
            request, request == nullptr ? -1 : (bytes), __VA_ARGS__)                                  \
  WISP_PERSISTENT_FORM(Blocking##_init, name, parameters, bytes, __VA_ARGS__)

#if MPI_VERSION >= 4
#define WISP_PERSISTENT_FORM(Init, name, parameters, bytes, ...)                                \
  WISP_FORM(Form::persistent, Init, name, parameters, (, MPI_Info info, MPI_Request * request), \
            (, info, request), request, request == nullptr ? -1 : (bytes), __VA_ARGS__)
#else
#define WISP_PERSISTENT_FORM(...)
#endif
