#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <utility>

#include "python/views.hpp"
#include "wisp/error.hpp"
#include "wisp/operation.hpp"
#include "wisp/request.hpp"
#include "wisp/task.hpp"

// Requests as Python has them, and how Python waits.
//
// The library is for one thread at a time, and the interpreter's lock (GIL) is the lock: every call and every
// poll holds it, and a wait lets go of it between polls.

namespace wisp::python {

namespace nb = nanobind;

/// A request, what it reads and writes, and what it gives at its end (if not its status).
class OwnRequest {
 public:
  using Result = std::function<nb::object(const Status&)>;

  OwnRequest(Request started, Views held, Result gives = {})
      : views_(std::move(held)), result_(std::move(gives)) {
    request_ = std::move(started);
  }
  OwnRequest(OwnRequest&&) noexcept = default;
  /// What is in flight runs on, and holds all that it has.
  ~OwnRequest();

  bool active() const noexcept { return request_.active(); }
  /// On a simulated rank, where operations are awaited.
  bool is_simulated();
  void start() { request_.start(); }
  /// What is known of the message, and what the request gives. Whatever is raised by a signal (^C) ends the
  /// wait, but not the operation.
  Status wait();
  nb::object wait_for_value(nb::handle mpi4py_status);
  /// None if it is not done. In a wait for one of several, which goes on if anything has `moved`.
  nb::object test(nb::handle mpi4py_status, bool* moved = nullptr);
  detail::Engine* engine() const { return engine_of(request_); }
  /// The same inside a coroutine.
  Task<nb::object> awaited();
  /// For the collector of cycles: what is held, and that it is let go of unless it is in use.
  int visit(visitproc visit, void* arg) const;
  void break_cycles();

 private:
  nb::object value(const Status& status);
  void check_can_wait(const char* call);
  /// Its buffers are the caller's again.
  void let_go();
  void note_failure();

  Request request_;
  Views views_;
  Result result_;
  bool is_making_ = false;        ///< `result_` runs, in which Python's threads take turns
  nb::object given_;              ///< of one that is not persistent: whoever asks again gets the same
  std::optional<Error> failure_;  ///< or that
};

/// To its end, as the blocking methods do.
inline void run(const Operation& operation, Views& views) {
  OwnRequest(operation.start(), std::move(views)).wait();
}
/// In mpi4py's status too, if one was given.
Status told(const Status& status, MPI_Status* mpi4py_status);
/// To its end; other threads of Python run meanwhile, and ^C ends the wait.
Status wait_for(Request& request);

void define_requests(nb::module_& module);

}  // namespace wisp::python
