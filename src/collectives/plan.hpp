#pragma once

#include <functional>
#include <utility>

#include "collectives/checks.hpp"
#include "collectives/selection.hpp"
#include "comm/comm_access.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

// How a collective becomes its four faces. A plan is what does not change from run to run: arguments checked,
// in-place resolved, an algorithm chosen; called with a channel, it gives the task of one run.

namespace wisp::detail {

/// `run(channel)` gives the task.
template <class Run>
struct Plan {
  const char* call;
  Run run;
};
template <class Run>
Plan(const char*, Run) -> Plan<Run>;

inline bool commutes(MPI_Op op) {
  int commutative = 0;
  check_mpi(MPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  return commutative != 0;
}

template <class Algorithm>
Algorithm choose(const Comm& comm, Operation operation, std::size_t bytes, const CollectiveOptions& options,
                 const char* call, bool op_commutes = true) {
  return static_cast<Algorithm>(choose(CommAccess::world(comm), operation,
                                       Case{comm.size(), bytes, op_commutes}, options.algorithm, call));
}

/// Pieces of a vector that goes through both trees.
inline int pieces_of(const Channel& channel, const ConstBuffer& vector) {
  const int depth = 2 * ceil_log2(channel.size());
  return pipeline_pieces(channel.world().machine(), bytes_of(vector), depth, vector.count);
}

template <class Run>
Task<> task_of(const Comm& comm, const CollectiveOptions& options, Plan<Run> plan) {
  return plan.run(comm.channel(plan.call, options.own_tag));
}

template <class Run>
Request persistent(const Comm& comm, const CollectiveOptions& options, Plan<Run> plan) {
  return {std::function<Task<>()>(
              [run = std::move(plan.run), channel = CommAccess::persistent_channel(
                                              comm, plan.call, options.own_tag)] { return run(channel); }),
          CommAccess::context(comm)};
}

}  // namespace wisp::detail

// The four faces of a collective: a task, a blocking, a nonblocking and a persistent member.
#define WISP_LIST(...) __VA_ARGS__
#define WISP_FACES(name, parameters, arguments)                                            \
  Task<> name(const Comm& comm, WISP_LIST parameters const CollectiveOptions& options) {   \
    return task_of(comm, options, plan_##name(comm, WISP_LIST arguments options));         \
  }                                                                                        \
  void Comm::name(WISP_LIST parameters const CollectiveOptions& options) const {           \
    run(wisp::name(*this, WISP_LIST arguments options));                                   \
  }                                                                                        \
  Request Comm::i##name(WISP_LIST parameters const CollectiveOptions& options) const {     \
    return start(wisp::name(*this, WISP_LIST arguments options));                          \
  }                                                                                        \
  Request Comm::name##_init(WISP_LIST parameters const CollectiveOptions& options) const { \
    return persistent(*this, options, plan_##name(*this, WISP_LIST arguments options));    \
  }
