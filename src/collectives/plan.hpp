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

inline const Comm& comm_of(const Comm& comm) {
  return comm;
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

template <class Options, class Run>
Task<> task_of(const Comm& comm, const Options& options, Plan<Run> plan) {
  return plan.run(comm.channel(plan.call, options.own_tag));
}

template <class Options, class Run>
Request persistent(const Comm& comm, const Options& options, Plan<Run> plan) {
  return {std::function<Task<>()>(
              [run = std::move(plan.run), channel = CommAccess::persistent_channel(
                                              comm, plan.call, options.own_tag)] { return run(channel); }),
          CommAccess::context(comm)};
}

}  // namespace wisp::detail

// The four faces of a collective: a task, and a blocking, a nonblocking and a persistent member of `Class`,
// whose communicator `comm_of` gives.
#define WISP_LIST(...) __VA_ARGS__
#define WISP_FACES_OF(Class, Options, name, parameters, arguments)                \
  Task<> name(const Class& on, WISP_LIST parameters const Options& options) {     \
    auto plan = plan_##name(on, WISP_LIST arguments options);                     \
    return task_of(comm_of(on), options, std::move(plan));                        \
  }                                                                               \
  void Class::name(WISP_LIST parameters const Options& options) const {           \
    Task<> task = wisp::name(*this, WISP_LIST arguments options);                 \
    comm_of(*this).run(std::move(task));                                          \
  }                                                                               \
  Request Class::i##name(WISP_LIST parameters const Options& options) const {     \
    Task<> task = wisp::name(*this, WISP_LIST arguments options);                 \
    return comm_of(*this).start(std::move(task));                                 \
  }                                                                               \
  Request Class::name##_init(WISP_LIST parameters const Options& options) const { \
    auto plan = plan_##name(*this, WISP_LIST arguments options);                  \
    return persistent(comm_of(*this), options, std::move(plan));                  \
  }
#define WISP_FACES(name, parameters, arguments) \
  WISP_FACES_OF(Comm, CollectiveOptions, name, parameters, arguments)
