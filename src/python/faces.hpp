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
#include "wisp/neighborhood.hpp"
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
inline void check_alive(const Neighborhood& on, const char* call) {
  detail::check_member(on.comm(), call);
}

template <class On, class... Arguments, class... Named>
void define(nb::class_<On>& in, const Faces& names, Operation (*make)(const On&, Views&, Arguments...),
            const char* text, const Named&... named) {
  const std::string of = std::is_same_v<On, Comm> ? "wisp::Comm::" : "wisp::Neighborhood::";
  const auto face = [&](const char* name, const char* documentation, auto finish) {
    in.def(
        name,
        [make, finish, call = of + name](const On& on, Arguments... arguments) {
          check_alive(on, call.c_str());
          Views views;
          return finish(make(on, views, arguments...), views);
        },
        named..., documentation);
  };
  face(names.blocking, text, [](const Operation& made, Views& views) { run(made, views); });
  face(names.nonblocking, "The same, started.",
       [](const Operation& made, Views& views) { return OwnRequest(made.start(), std::move(views)); });
  face(names.persistent, "The same as a request that `start` starts as often as one likes.",
       [](Operation made, Views& views) {
         return OwnRequest(std::move(made).persistent(), std::move(views));
       });
}

}  // namespace wisp::python
