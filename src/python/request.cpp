#include "python/request.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "async/detached.hpp"
#include "async/engine.hpp"
#include "python/mpi4py.hpp"
#include "wisp/error.hpp"

namespace wisp {

detail::Engine* engine_of(const Request& request);

namespace python {
namespace {

/// Where the interpreter ends, that ends the thread, for which C++ has no way: it stays here.
void take_lock_back(PyThreadState* own) {
  try {
    PyEval_RestoreThread(own);
  } catch (...) {
    for (;;) pause();
  }
}

/// Between two looks of a wait.
class Pause {
 public:
  /// Returns for how long nothing has moved, if that is long.
  detail::IdleLoop::Duration take(bool moved) {
    if (moved) idle_.moved();
    if (++looks_ < looks_with_lock) return {};
    PyThreadState* const own = PyEval_SaveThread();
    const auto idle_for = idle_.pause(polls_before_yield_);
    take_lock_back(own);
    if (looks_ % looks_between_signals == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    return idle_for;
  }

 private:
  /// Most waits are over before the lock could change hands.
  static constexpr std::uint64_t looks_with_lock = 32;
  static constexpr std::uint64_t looks_between_signals = 256;

  std::uint64_t looks_ = 0;
  detail::IdleLoop idle_;
  int polls_before_yield_ = detail::IdleLoop::fewest_polls;
};

/// In whatever polls follow, which hold the interpreter's lock.
detail::Detached let_run(Request request, Views, OwnRequest::Result) {
  co_await request;
}

}  // namespace

Status wait_for(Request& request) {
  for (Pause pause;;) {
    bool moved = false;
    if (const std::optional<Status> status = detail::test_in_wait(request, moved)) return *status;
    const auto idle_for = pause.take(moved);
    if (idle_for <= detail::Engine::fast_wait) continue;
    if (detail::Engine* const engine = engine_of(request)) engine->attend_wait(idle_for, nullptr);
  }
}

OwnRequest::~OwnRequest() {
  // Not waited for, as in C++: who drops it may be about to do what it waits for.
  if (active()) let_run(std::move(request_), std::move(views_), std::move(result_));
}

bool OwnRequest::is_simulated() {
  const detail::Engine* engine = engine_of(request_);
  return engine != nullptr && !engine->can_wait();
}

void OwnRequest::check_can_wait(const char* call) {
  if (is_simulated()) {
    throw Error(MPI_ERR_REQUEST,
                std::string(call) + ": a rank of a simulated cluster cannot wait; await the request instead");
  }
}

void OwnRequest::let_go() {
  if (!active() && !request_.is_persistent()) views_.clear();
}

void OwnRequest::note_failure() {
  if (active()) return;  // it was the wait that failed
  result_ = {};
  if (!request_.is_persistent()) {
    try {
      throw;
    } catch (const Error& error) {
      failure_ = error;
    } catch (const std::exception& error) {
      failure_ = Error(MPI_ERR_OTHER, error.what());
    }
  }
  let_go();
}

nb::object OwnRequest::value(const Status& status) {
  if (failure_) throw *failure_;
  let_go();
  if (Result making = std::exchange(result_, {})) {
    is_making_ = true;
    try {
      given_ = making(status);
    } catch (...) {
      is_making_ = false;
      result_ = std::move(making);  // to be raised again
      throw;
    }
    is_making_ = false;
  }
  if (given_.is_valid()) return given_;
  // What says nothing is the same for all.
  static const nb::object* const nothing = new nb::object(nb::cast(Status()));
  const bool is_nothing = status.source == any_source && status.tag == any_tag && status.bytes == 0;
  nb::object told = is_nothing ? *nothing : nb::cast(status);
  if (!request_.is_persistent()) given_ = told;
  return told;
}

Status OwnRequest::wait() {
  check_can_wait("wisp::Request::wait");
  Status status;
  try {
    status = wait_for(request_);
  } catch (...) {
    note_failure();
    throw;
  }
  for (Pause pause; is_making_;) pause.take(false);  // of another thread
  return status;
}

Status told(const Status& status, MPI_Status* mpi4py_status) {
  if (mpi4py_status != nullptr) status.copy_to(mpi4py_status);
  return status;
}

nb::object OwnRequest::wait_for_value(nb::handle into) {
  MPI_Status* const to_tell = status_in(into);
  return value(told(wait(), to_tell));
}

nb::object OwnRequest::test(nb::handle into, bool* moved) {
  MPI_Status* const to_tell = status_in(into);
  check_can_wait("wisp::Request::test");
  std::optional<Status> status;
  try {
    bool has_moved = false;
    status = moved != nullptr ? detail::test_in_wait(request_, has_moved) : request_.test();
    if (has_moved) *moved = true;
  } catch (...) {
    note_failure();
    throw;
  }
  return status && !is_making_ ? value(told(*status, to_tell)) : nb::none();
}

Task<nb::object> OwnRequest::awaited() {
  Status status;
  try {
    status = co_await request_;
  } catch (...) {
    note_failure();
    throw;
  }
  co_return value(status);
}

int OwnRequest::visit(visitproc visit, void* arg) const {
  Py_VISIT(given_.ptr());
  // What is in flight holds them, too: a collector that knew of all holders would take them apart.
  return active() ? 0 : views_.visit(visit, arg);
}

void OwnRequest::break_cycles() {
  if (active()) return;
  request_ = {};
  given_.reset();
  views_.clear();
}

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<OwnRequest>(self)->visit(visit, arg) : 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<OwnRequest>(self)->break_cycles();
  return 0;
}

PyType_Slot request_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                               {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                               {0, nullptr}};

/// The index of one that is active and ends, and what it gives; None once none is active.
nb::object wait_any(const nb::list& requests) {
  for (const nb::handle one : requests) {
    if (!nb::isinstance<OwnRequest>(one))
      throw_type_error("wisp.wait_any: a request is expected, not " +
                       nb::cast<std::string>(nb::str(one.type())));
  }
  for (Pause pause;;) {
    const OwnRequest* active = nullptr;
    bool moved = false;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto& request = nb::cast<OwnRequest&>(requests[i]);
      if (!request.active()) continue;
      nb::object value = request.test(nb::none(), &moved);
      if (!request.active()) return nb::make_tuple(i, std::move(value));
      active = &request;
    }
    if (active == nullptr) return nb::none();
    const auto idle_for = pause.take(moved);
    if (idle_for <= detail::Engine::fast_wait) continue;
    if (detail::Engine* const engine = active->engine()) engine->attend_wait(idle_for, nullptr);
  }
}

}  // namespace

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
      module, "Request", nb::type_slots(request_slots), nb::is_generic(),
      "An operation that was started, or (of a ..._init call) one that `start` starts. It "
      "holds its buffers until it ends. Dropped while active, it runs on in whatever calls follow.")
      .def_prop_ro("active", &OwnRequest::active,
                   "True while there is an operation whose end has not been reported.")
      .def_prop_ro("_is_simulated", &OwnRequest::is_simulated)
      .def("start", &OwnRequest::start, "Starts a persistent request.")
      .def("wait", &OwnRequest::wait_for_value, nb::arg("status") = nb::none(),
           "Waits, letting go of the interpreter's lock between looks, and gives the status, or what the "
           "call is for.")
      .def(
          "test", [](OwnRequest& request, nb::handle into) { return request.test(into); },
          nb::arg("status") = nb::none(), "The same if the operation is done, else None.");
  module.def("_wait_any", &wait_any);
}

}  // namespace python
}  // namespace wisp
