#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

#include "comm/comm_access.hpp"
#include "python/request.hpp"
#include "python/views.hpp"
#include "wisp/operation.hpp"

// What a collective does with its arguments is written once; its three methods are made of that.

namespace wisp::python {

using Tag = std::optional<int>;
using Text = const std::string&;

/// The names of the methods: "Bcast", "Ibcast", "Bcast_init".
struct Faces {
  const char* blocking;
  const char* nonblocking;
  const char* persistent;
};

/// What reads arguments asks MPI about datatypes: it must still be there.
inline void check_alive(const Comm& comm, const char* call) {
  detail::check_member(comm, call);
}
inline void check_alive(const auto&, const char*) {}

template <class On, class... Arguments, class... Named>
void define(nb::class_<On>& in, const Faces& names, Operation (*make)(const On&, Views&, Arguments...),
            const char* text, const Named&... named) {
  in.def(
      names.blocking,
      [make, call = std::string("wisp::Comm::") + names.blocking](const On& on, Arguments... arguments) {
        check_alive(on, call.c_str());
        Views views;
        const Operation operation = make(on, views, arguments...);
        run(operation, views);
      },
      named..., text);
  in.def(
      names.nonblocking,
      [make, call = std::string("wisp::Comm::") + names.nonblocking](const On& on, Arguments... arguments) {
        check_alive(on, call.c_str());
        Views views;
        Request request = make(on, views, arguments...).start();
        return OwnRequest(std::move(request), std::move(views));
      },
      named..., "The same, started.");
  in.def(
      names.persistent,
      [make, call = std::string("wisp::Comm::") + names.persistent](const On& on, Arguments... arguments) {
        check_alive(on, call.c_str());
        Views views;
        Request request = make(on, views, arguments...).persistent();
        return OwnRequest(std::move(request), std::move(views));
      },
      named..., "The same as a request that `start` starts as often as one likes.");
}

}  // namespace wisp::python
