#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "collectives/alike.hpp"
#include "collectives/checks.hpp"
#include "collectives/selection.hpp"
#include "comm/comm_access.hpp"
#include "transport/kept_types.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

// How a collective becomes its four faces. A plan is what does not change from run to run: arguments checked,
// in-place resolved, an algorithm chosen; called with a channel, it gives the task of one run.

namespace wisp::detail {

/// `run(channel)` gives the task.
template <class Run>
struct Plan {
  Plan(const char* of, Run how) : call(of), run(std::move(how)) {}
  Plan(const char* of, const Alike& what, Run how) : call(of), alike(what), run(std::move(how)) {}

  const char* call;
  Alike alike;
  Run run;
  std::shared_ptr<const KeptTypes> types;  ///< of a persistent operation
};

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
  return pipeline_pieces(channel.world().machine(), bytes_of(vector), 2 * ceil_log2(channel.size()),
                         vector.count);
}

/// Of one that goes over the circulant graph, and can be cut between `units`.
inline int circulant_pieces_of(const Channel& channel, std::size_t bytes, std::size_t units) {
  return circulant_pieces(channel.world().machine(), bytes, ceil_log2(channel.size()), units);
}

/// On a Channel or a Link.
template <class On, class Run>
Task<> run_checked(On on, const char* call, Alike alike, Run run) {
  co_await check_alike(on, call, alike);
  co_await run(std::move(on));
}

template <class Options, class Run>
Task<> task_of(const Comm& comm, const Options& options, Plan<Run> plan) {
  Channel channel = comm.channel(plan.call, options.own_tag);
  if (channel.world().checks_calls()) [[unlikely]]
    return run_checked(std::move(channel), plan.call, plan.alike, std::move(plan.run));
  return plan.run(std::move(channel));
}

template <class Options, class Run>
Request persistent(const Comm& comm, const Options& options, Plan<Run> plan) {
  return {std::function<Task<>()>([channel = CommAccess::persistent_channel(comm, plan.call, options.own_tag),
                                   plan = std::move(plan)] {
            if (channel.world().checks_calls()) [[unlikely]]
              return run_checked(channel, plan.call, plan.alike, plan.run);
            return plan.run(channel);
          }),
          CommAccess::context(comm)};
}

/// `task`, which holds datatypes of its own if it needs them.
inline Task<> with(KeptTypes types, Task<> task) {
  return types.empty() ? std::move(task) : holding(std::move(task), std::move(types));
}

inline std::shared_ptr<const KeptTypes> shared(KeptTypes types) {
  return types.empty() ? nullptr : std::make_shared<const KeptTypes>(std::move(types));
}

}  // namespace wisp::detail

// The four faces of a collective: a task, and a blocking, a nonblocking and a persistent member of `Class`,
// whose communicator `comm_of` gives. All but the blocking one have datatypes of their own.
#define WISP_LIST(...) __VA_ARGS__
#define WISP_FACES_OF(Class, Options, name, parameters, arguments)                             \
  Task<> name(const Class& on, WISP_LIST parameters const Options& options) {                  \
    KeptTypes types;                                                                           \
    auto plan = types.call([&](const auto&... given) { return plan_##name(on, given...); },    \
                           WISP_LIST arguments options);                                       \
    return with(std::move(types), task_of(comm_of(on), options, std::move(plan)));             \
  }                                                                                            \
  void Class::name(WISP_LIST parameters const Options& options) const {                        \
    auto plan = plan_##name(*this, WISP_LIST arguments options);                               \
    comm_of(*this).run(task_of(comm_of(*this), options, std::move(plan)));                     \
  }                                                                                            \
  Request Class::i##name(WISP_LIST parameters const Options& options) const {                  \
    Task<> task = wisp::name(*this, WISP_LIST arguments options);                              \
    return comm_of(*this).start(std::move(task));                                              \
  }                                                                                            \
  Request Class::name##_init(WISP_LIST parameters const Options& options) const {              \
    KeptTypes types;                                                                           \
    auto plan = types.call([&](const auto&... given) { return plan_##name(*this, given...); }, \
                           WISP_LIST arguments options);                                       \
    plan.types = shared(std::move(types));                                                     \
    return persistent(comm_of(*this), options, std::move(plan));                               \
  }
#define WISP_FACES(name, parameters, arguments) \
  WISP_FACES_OF(Comm, CollectiveOptions, name, parameters, arguments)
