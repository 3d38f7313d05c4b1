// Collectives of neighborhoods: their plans and faces.

#include "wisp/neighborhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>

#include "collectives/block_list.hpp"
#include "collectives/plan.hpp"
#include "neighborhood/agreement.hpp"
#include "neighborhood/choice.hpp"
#include "neighborhood/exchange.hpp"
#include "neighborhood/neighborhood_state.hpp"
#include "neighborhood/stencil_state.hpp"

namespace wisp {

namespace {

using namespace detail;

Neighborhood::State& usable(const Neighborhood& on, const char* call) {
  if (on.state() == nullptr) throw Error(MPI_ERR_ARG, fmt::format("{}: the neighborhood is empty", call));
  check_usable(on.state()->comm, call);
  return *on.state();
}

const Comm& comm_of(const Neighborhood& on) {
  return on.comm();
}

std::shared_ptr<const std::vector<Shift>> peers_of(Neighborhood::State& state, const Schedule& schedule) {
  for (const Neighborhood::State::Peers& known : state.peers) {
    if (known.schedule == &schedule) return known.of_round;
  }
  auto peers = std::make_shared<std::vector<Shift>>();
  peers->reserve(schedule.rounds.size());
  for (const Schedule::Round& round : schedule.rounds) {
    peers->push_back(state.stencil.torus().shift(state.comm.rank(), round.offset));
  }
  state.peers.push_back({&schedule, peers});
  return peers;
}

/// Blocks that are received are as large as those that are sent; where there is no source, nobody asks.
void check_sizes(const Neighborhood::State& state, const char* call, NeighborPattern pattern,
                 const BlockPlaces& send, const BlockPlaces& receive) {
  for (int i = 0; i < state.stencil.size(); ++i) {
    const bool exists = state.sources[static_cast<std::size_t>(i)] != MPI_PROC_NULL;
    const std::size_t due = send[pattern == NeighborPattern::alltoall ? i : 0].bytes;
    if (exists && receive[i].bytes != due) {
      throw Error(
          MPI_ERR_TRUNCATE,
          fmt::format("{}: block {} of receive has {} bytes, but {} of send has {}", call, i,
                      receive[i].bytes, pattern == NeighborPattern::alltoall ? "that" : "the block", due));
    }
    if (receive.is_regular() && send.is_regular() && exists) return;  // one for all
  }
}

/// With checking on: every rank throws if one has another size for a block.
Task<> check_same_sizes(Channel channel, std::vector<std::int64_t> sizes) {
  const char* call = channel.operation();
  const std::optional<Difference> difference =
      co_await find_difference(std::move(channel), std::move(sizes), 1);
  if (!difference) co_return;
  throw Error(MPI_ERR_TRUNCATE, fmt::format("{}: block {} of rank {} has {} bytes, but that of rank 0 has {}",
                                            call, difference->entry, difference->rank,
                                            difference->values.at(0), difference->root_values.at(0)));
}

/// What does not change from run to run.
struct Run {
  Exchange what;
  bool checks;
  std::vector<std::int64_t> sizes;  ///< of blocks, if they are to be compared

  Task<> operator()(Channel channel) const {
    return checks ? checked(std::move(channel), sizes, what) : exchange(std::move(channel), what);
  }
  static Task<> checked(Channel channel, std::vector<std::int64_t> sizes, Exchange what) {
    co_await check_same_sizes(channel.lane(0), std::move(sizes));
    co_await exchange(std::move(channel), std::move(what));
  }
};

/// No neighbors: nothing is looked at, and buffers may be null.
Plan<Run> plan_nothing(const char* call) {
  return {call,
          {{std::make_shared<const Program>(), std::make_shared<const std::vector<Shift>>(), {}, {}, nullptr},
           false,
           {}}};
}

Copying resolve_copying(const NeighborOptions& options, const BlockPlaces& send, int count) {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += send[i].bytes;
  // MPI counts the bytes of a piece in int.
  if (options.copying == NeighborCopying::pack || bytes > INT_MAX) return Copying::pack;
  if (options.copying == NeighborCopying::datatypes) return Copying::datatypes;
  return copying_for(send, count);
}

const Schedule& resolve_schedule(const Neighborhood::State& state, const char* call, NeighborPattern pattern,
                                 const NeighborOptions& options, const BlockPlaces& send) {
  std::string_view name = options.algorithm;
  if (name.empty()) {
    const Machine& machine = CommAccess::world(state.comm).machine();
    name = schedule_names()[cheapest_schedule(state.stencil, pattern, options.ports, send, machine)];
  } else if (std::find(schedule_names().begin(), schedule_names().end(), name) == schedule_names().end()) {
    throw Error(MPI_ERR_ARG, fmt::format("{}: algorithm = {} is not one of {}", call, name,
                                         fmt::join(schedule_names(), ", ")));
  }
  return state.stencil.schedule(pattern, name);
}

/// Blocks of one operation, and where they lie. The caller's arrays are not needed any more.
struct Located {
  BoundBlocks bound;
  BlockPlaces places;
};

std::byte* bytes_at(const BlockList& list) {
  return static_cast<std::byte*>(list.address());
}

void bind_each(BoundBlocks& bound, const BlockList& list, int blocks) {
  for (int i = 0; i < blocks; ++i) bound.blocks.push_back(list(i));
}

Located locate_regular(const char* call, const char* name, const ConstBuffer& all, int blocks) {
  check_buffer(call, name, all);
  if (all.count % static_cast<std::size_t>(blocks) != 0) {
    throw Error(MPI_ERR_COUNT, fmt::format("{}: {} has {} elements, not a multiple of {} neighbors", call,
                                           name, all.count, blocks));
  }
  const BlockList list = BlockList::regular(all, blocks);
  const TypeLayout layout = list.layout(0);
  const auto stride = static_cast<std::ptrdiff_t>(list.count(0)) * layout.extent;
  Located located{{bytes_at(list), {}}, {list.bytes(0), stride, layout.contiguous}};
  if (!layout.contiguous) bind_each(located.bound, list, blocks);
  return located;
}

Located locate_irregular(const char* call, const char* name, const ConstBlocks& given, int blocks) {
  if (is_in_place(given)) {
    throw Error(MPI_ERR_BUFFER, fmt::format("{}: {} cannot be MPI_IN_PLACE", call, name));
  }
  check_irregular(static_cast<std::size_t>(blocks), "neighbors", call, name, given);
  const BlockList list = BlockList::irregular(given, blocks);
  std::vector<BlockPlaces::Place> places(static_cast<std::size_t>(blocks));
  bool are_contiguous = true;
  for (int i = 0; i < blocks; ++i) {
    if (list.count(i) == 0) continue;
    const TypeLayout layout = list.layout(i);
    places[static_cast<std::size_t>(i)] = {list.offset(i), list.count(i) * layout.size, layout.contiguous};
    are_contiguous = are_contiguous && layout.contiguous;
  }
  Located located{{bytes_at(list), {}}, BlockPlaces(std::move(places))};
  if (!are_contiguous) bind_each(located.bound, list, blocks);
  return located;
}

/// What all six collectives do once they know where their blocks lie.
Plan<Run> plan_exchange(Neighborhood::State& state, const char* call, NeighborPattern pattern, Located send,
                        Located receive, const NeighborOptions& options) {
  const Stencil& stencil = state.stencil;
  const int sent = pattern == NeighborPattern::alltoall ? stencil.size() : 1;
  check_within(MPI_ERR_ARG, call, "ports", options.ports, 0, INT_MAX);
  check_sizes(state, call, pattern, send.places, receive.places);
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < sent && state.checks_operations; ++i) {
    sizes.push_back(static_cast<std::int64_t>(send.places[i].bytes));
  }
  const Schedule& schedule = resolve_schedule(state, call, pattern, options, send.places);
  const Copying copying = resolve_copying(options, send.places, sent);
  ProgramKey key{
      &schedule,   pattern, copying, options.ports, std::move(send.places), std::move(receive.places),
      state.border};
  Exchange what{stencil.state().programs.find_or_compile(stencil, std::move(key)), peers_of(state, schedule),
                std::move(send.bound), std::move(receive.bound), nullptr};
  if (copying == Copying::datatypes) what.types = std::make_shared<const MessageTypes>(what);
  return {call, {std::move(what), state.checks_operations, std::move(sizes)}};
}

Plan<Run> plan_neighbor_alltoall(const Neighborhood& on, const ConstBuffer& send, const Buffer& receive,
                                 const NeighborOptions& options) {
  constexpr const char* call = "wisp::neighbor_alltoall";
  Neighborhood::State& state = usable(on, call);
  const int s = state.stencil.size();
  if (s == 0) return plan_nothing(call);
  Located sent = locate_regular(call, "send", send, s);
  Located received = locate_regular(call, "receive", receive, s);
  return plan_exchange(state, call, NeighborPattern::alltoall, std::move(sent), std::move(received), options);
}

Plan<Run> plan_irregular_alltoall(const Neighborhood& on, const char* call, const ConstBlocks& send,
                                  const Blocks& receive, const NeighborOptions& options) {
  Neighborhood::State& state = usable(on, call);
  const int s = state.stencil.size();
  if (s == 0) return plan_nothing(call);
  Located sent = locate_irregular(call, "send", send, s);
  Located received = locate_irregular(call, "receive", receive, s);
  return plan_exchange(state, call, NeighborPattern::alltoall, std::move(sent), std::move(received), options);
}

Plan<Run> plan_neighbor_alltoallv(const Neighborhood& on, const ConstBlocks& send, const Blocks& receive,
                                  const NeighborOptions& options) {
  return plan_irregular_alltoall(on, "wisp::neighbor_alltoallv", send, receive, options);
}

Plan<Run> plan_neighbor_alltoallw(const Neighborhood& on, const ConstBlocks& send, const Blocks& receive,
                                  const NeighborOptions& options) {
  return plan_irregular_alltoall(on, "wisp::neighbor_alltoallw", send, receive, options);
}

Plan<Run> plan_neighbor_allgather(const Neighborhood& on, const ConstBuffer& send, const Buffer& receive,
                                  const NeighborOptions& options) {
  constexpr const char* call = "wisp::neighbor_allgather";
  Neighborhood::State& state = usable(on, call);
  const int s = state.stencil.size();
  if (s == 0) return plan_nothing(call);
  Located sent = locate_regular(call, "send", send, 1);
  Located received = locate_regular(call, "receive", receive, s);
  return plan_exchange(state, call, NeighborPattern::allgather, std::move(sent), std::move(received),
                       options);
}

Plan<Run> plan_irregular_allgather(const Neighborhood& on, const char* call, const ConstBuffer& send,
                                   const Blocks& receive, const NeighborOptions& options) {
  Neighborhood::State& state = usable(on, call);
  const int s = state.stencil.size();
  if (s == 0) return plan_nothing(call);
  Located sent = locate_regular(call, "send", send, 1);
  Located received = locate_irregular(call, "receive", receive, s);
  return plan_exchange(state, call, NeighborPattern::allgather, std::move(sent), std::move(received),
                       options);
}

Plan<Run> plan_neighbor_allgatherv(const Neighborhood& on, const ConstBuffer& send, const Blocks& receive,
                                   const NeighborOptions& options) {
  return plan_irregular_allgather(on, "wisp::neighbor_allgatherv", send, receive, options);
}

Plan<Run> plan_neighbor_allgatherw(const Neighborhood& on, const ConstBuffer& send, const Blocks& receive,
                                   const NeighborOptions& options) {
  return plan_irregular_allgather(on, "wisp::neighbor_allgatherw", send, receive, options);
}

}  // namespace

WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_alltoall,
              (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_alltoallv,
              (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_alltoallw,
              (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_allgather,
              (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_allgatherv,
              (const ConstBuffer& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES_OF(Neighborhood, NeighborOptions, neighbor_allgatherw,
              (const ConstBuffer& send, const Blocks& receive, ), (send, receive, ))

}  // namespace wisp
