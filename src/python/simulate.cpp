// async functions of Python on the simulated cluster: each rank's is a coroutine of Python in one of C++,
// which awaits what that one awaits.

#include "wisp/simulate.hpp"

#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "python/module.hpp"
#include "python/mpi4py.hpp"
#include "python/request.hpp"

namespace wisp::python {
namespace {

/// What the request gives, and the error that it ends with; one of them None.
Task<nb::object> outcome_of(OwnRequest& own) {
  nb::object raised;
  try {
    nb::object value = co_await own.awaited();
    co_return nb::make_tuple(std::move(value), nb::none());
  } catch (const Error& error) {
    raised = as_python(error);
  } catch (const nb::python_error& error) {
    raised = nb::borrow(error.value());
  }
  co_return nb::make_tuple(nb::none(), raised);
}

Task<> drive(nb::object coroutine, nb::list results, std::size_t rank) {
  nb::object sent = nb::none();
  for (;;) {
    PyObject* given = nullptr;
    const PySendResult outcome = PyIter_Send(coroutine.ptr(), sent.ptr(), &given);
    if (outcome == PYGEN_ERROR) throw nb::python_error();
    nb::object value = nb::steal(given);
    if (outcome == PYGEN_RETURN) {
      results[rank] = value;
      co_return;
    }
    if (!nb::isinstance<OwnRequest>(value))
      throw_type_error("wisp.simulate: a simulated rank can await requests of wisp, and nothing else");
    sent = co_await outcome_of(nb::cast<OwnRequest&>(value));
  }
}

nb::object run_simulation(const nb::callable& function, const SimulationOptions& options) {
  nb::list results;
  for (int i = 0; i < options.ranks; ++i) results.append(nb::none());
  const SimulationReport report = simulate(options, [&](Comm comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    nb::object coroutine = function(std::move(comm));
    if (!nb::hasattr(coroutine, "send"))
      throw_type_error("wisp.simulate: the function is not async: it gives no coroutine");
    return drive(std::move(coroutine), results, rank);
  });
  nb::dict of;
  of["seconds"] = report.seconds;
  of["messages"] = report.messages;
  of["bytes"] = report.bytes;
  of["messages_between_nodes"] = report.messages_between_nodes;
  of["rounds"] = report.rounds;
  of["results"] = results;
  return of;
}

}  // namespace

void define_simulate(nb::module_& module) {
  module.def(
      "_simulate",
      [](const nb::callable& function, int ranks, double latency, double overhead, double bandwidth,
         double jitter, std::uint64_t seed, bool rendezvous, const std::vector<int>& nodes) {
        SimulationOptions options;
        options.ranks = ranks;
        options.latency = latency;
        options.overhead = overhead;
        options.bandwidth = bandwidth;
        options.jitter = jitter;
        options.seed = seed;
        options.rendezvous = rendezvous;
        options.nodes = nodes;
        return run_simulation(function, options);
      },
      nb::arg("function"), nb::arg("ranks"), nb::arg("latency"), nb::arg("overhead"), nb::arg("bandwidth"),
      nb::arg("jitter"), nb::arg("seed"), nb::arg("rendezvous"), nb::arg("nodes"));
  module.def("simulated_time", &simulated_time, nb::arg("comm"),
             "The virtual time of a rank of a simulated cluster, in seconds.");
  module.def("simulated_work", &simulated_work, nb::arg("comm"), nb::arg("seconds"),
             "Lets a rank of a simulated cluster be busy; does nothing on a real one.");
}

}  // namespace wisp::python
