#include "python/request.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <coroutine>
#include <memory>
#include <span>
#include <string>

#include "async/engine.hpp"
#include "python/mpi4py.hpp"
#include "wisp/error.hpp"

namespace wisp {

detail::Engine* engine_of(std::span<Request> requests);

namespace python {
namespace {

/// Between two looks of a wait.
class Pause {
 public:
  void take() {
    if (++looks_ < looks_with_lock) return;
    {
      const nb::gil_scoped_release others;
      idle_.pause(polls_before_yield_);
    }
    if (looks_ % looks_between_signals == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  /// Most waits are over before the lock could change hands.
  static constexpr int looks_with_lock = 32;
  static constexpr int looks_between_signals = 256;

  int looks_ = 0;
  detail::IdleLoop idle_;
  int polls_before_yield_ = detail::IdleLoop::fewest_polls;
};

void check_can_wait(Request& request, const char* call) {
  if (!can_wait(request)) {
    throw Error(MPI_ERR_REQUEST,
                std::string(call) + ": a rank of a simulated cluster cannot wait; await the request instead");
  }
}

/// A coroutine that nobody waits for: it frees itself, and what it holds, at its end.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}  // there is nobody left to tell
  };
};

/// In whatever polls follow, which hold the interpreter's lock.
Detached let_run(Request request, Views) {
  co_await request;
}

nb::object test(OwnRequest& own) {
  check_can_wait(own.request, "wisp::Request::test");
  const std::optional<Status> status = own.request.test();
  return status ? own.value(*status) : nb::none();
}

}  // namespace

nb::object OwnRequest::value(const Status& status) const {
  if (result) return result(status);
  // What says nothing is the same for all.
  static const nb::object* const nothing = new nb::object(nb::cast(Status()));
  const bool is_nothing = status.source == any_source && status.tag == any_tag && status.bytes == 0;
  return is_nothing ? *nothing : nb::cast(status);
}

bool can_wait(Request& request) {
  const detail::Engine* engine = engine_of({&request, 1});
  return engine == nullptr || engine->can_wait();
}

Status wait_for(const std::function<std::optional<Status>()>& look) {
  for (Pause pause;; pause.take()) {
    if (const std::optional<Status> status = look()) return *status;
  }
}

Status wait(Request& request, Views& views) {
  check_can_wait(request, "wisp::Request::wait");
  try {
    for (Pause pause;; pause.take()) {
      if (const std::optional<Status> status = request.test()) return *status;
    }
  } catch (nb::python_error&) {
    if (request.active()) let_run(std::move(request), std::move(views));
    throw;
  }
}

OwnRequest::~OwnRequest() {
  // Not waited for, as in C++: who drops it may be about to do what it waits for.
  if (request.active()) let_run(std::move(request), std::move(views));
}

void define_requests(nb::module_& module) {
  nb::class_<Status>(module, "Status", "What is known of a message that was received or probed.")
      .def_ro("source", &Status::source, "The sender's rank in the communicator.")
      .def_ro("tag", &Status::tag)
      .def_ro("bytes", &Status::bytes)
      .def(
          "count",
          [](const Status& status, nb::handle datatype) {
            return status.count(datatype_in(datatype, "datatype"));
          },
          nb::arg("datatype"), "How many elements of an mpi4py datatype it holds.")
      .def("__repr__", [](const Status& status) {
        return "wisp.Status(source=" + std::to_string(status.source) + ", tag=" + std::to_string(status.tag) +
               ", bytes=" + std::to_string(status.bytes) + ")";
      });

  nb::class_<OwnRequest>(
      module, "Request",
      "An operation that was started, or (of a ..._init call) one that `start` starts. It "
      "holds its buffers until it ends. Dropped while active, it runs on in whatever calls follow.")
      .def_prop_ro(
          "active", [](const OwnRequest& own) { return own.request.active(); },
          "True while there is an operation whose end has not been reported.")
      .def_prop_ro("_is_simulated", [](OwnRequest& own) { return !can_wait(own.request); })
      .def(
          "start", [](OwnRequest& own) { own.request.start(); }, "Starts a persistent request.")
      .def(
          "wait", [](OwnRequest& own) { return own.value(wait(own.request, own.views)); },
          "Waits, without the interpreter's lock, and gives the status, or what the call is for.")
      .def("test", &test, "The same if the operation is done, else None.");
}

}  // namespace python
}  // namespace wisp
