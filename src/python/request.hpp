#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <utility>

#include "python/views.hpp"
#include "wisp/operation.hpp"
#include "wisp/request.hpp"

// Requests as Python has them, and how Python waits.
//
// The library is for one thread at a time, and the interpreter's lock (GIL) is the lock: every call and every
// poll holds it, and a wait lets go of it between polls.

namespace wisp::python {

namespace nb = nanobind;

/// A request, what it reads and writes, and what it gives at its end (if not its status).
struct OwnRequest {
  using Result = std::function<nb::object(const Status&)>;

  Request request;
  Views views;
  Result result;

  OwnRequest(Request started, Views held, Result gives = {})
      : views(std::move(held)), result(std::move(gives)) {
    request = std::move(started);
  }
  OwnRequest(OwnRequest&&) noexcept = default;
  /// What is in flight runs on, and holds its buffers.
  ~OwnRequest();

  nb::object value(const Status& status) const;
};

/// False on a simulated rank, where operations are awaited.
bool can_wait(Request& request);

/// To the end of a request. A signal whose handler raises (^C) ends the wait, and the operation runs on.
Status wait(Request& request, Views& views);
inline void run(const Operation& operation, Views& views) {
  Request request = operation.start();
  wait(request, views);
}
/// Until `look` gives something.
Status wait_for(const std::function<std::optional<Status>()>& look);

void define_requests(nb::module_& module);

}  // namespace wisp::python
