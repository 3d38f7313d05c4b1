// What a neighborhood collective does before its first message. The same call again finds what came of it the
// last time, by a comparison of what is asked for.

#include "neighborhood/neighbor_plan.hpp"

#include <algorithm>
#include <climits>

#include "collectives/agreement.hpp"
#include "collectives/block_list.hpp"
#include "neighborhood/choice.hpp"
#include "neighborhood/stencil_state.hpp"
#include "transport/device_memory.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

using Plan = Neighborhood::State::Plan;

/// The same of lists: of blocks to oneself.
void check_own_blocks(const Neighborhood::State::Lists& lists, int self, const char* call,
                      NeighborPattern pattern, const BlockPlaces& send, const BlockPlaces& receive) {
  const std::span<const int> from = lists.targets.of_rank(self);
  const std::span<const int> to = lists.sources.of_rank(self);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const int sent = sent_index(pattern, from[i]);
    if (receive[to[i]].bytes == send[sent].bytes) continue;
    throw_error(MPI_ERR_TRUNCATE,
                "{}: block {} of receive has {} bytes, but block {} of send, to oneself, {}", call, to[i],
                receive[to[i]].bytes, sent, send[sent].bytes);
  }
}

/// Blocks that are received are as large as those that are sent; where there is no source, nobody asks.
void check_sizes(const Neighborhood::State& state, const char* call, NeighborPattern pattern,
                 const BlockPlaces& send, const BlockPlaces& receive) {
  if (state.lists) return check_own_blocks(*state.lists, state.comm.rank(), call, pattern, send, receive);
  for (int i = 0; i < state.stencil.size(); ++i) {
    const bool exists = state.sources[as_size(i)] != MPI_PROC_NULL;
    const std::size_t due = send[sent_index(pattern, i)].bytes;
    if (exists && receive[i].bytes != due) {
      throw_error(MPI_ERR_TRUNCATE, "{}: block {} of receive has {} bytes, but {} of send has {}", call, i,
                  receive[i].bytes, pattern == NeighborPattern::alltoall ? "that" : "the block", due);
    }
    if (receive.is_regular() && send.is_regular() && exists) return;  // one for all
  }
}

/// Throws on every rank if one has another size for a block.
Task<> check_same_sizes(Channel channel, const OwnArguments& own) {
  const char* call = channel.operation();
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < (own.pattern == NeighborPattern::alltoall ? own.blocks : std::min(own.blocks, 1)); ++i)
    sizes.push_back(own.sent_bytes(i));
  const std::optional<Difference> found = co_await find_difference(std::move(channel), std::move(sizes), 1);
  if (!found) co_return;
  if (found->values.empty()) {
    throw_error(MPI_ERR_ARG, "{}: rank {} has {} blocks, but rank 0 has {}", call, found->rank, found->count,
                found->root_count);
  }
  throw_error(MPI_ERR_TRUNCATE, "{}: block {} of rank {} has {} bytes, but that of rank 0 has {}", call,
              found->entry, found->rank, found->values[0], found->root_values[0]);
}

/// The same between the two ranks of each message.
Task<> check_sizes_of_peers(Channel channel, const OwnArguments& own) {
  const PeerBlocks& sources = own.lists->sources;
  const PeerBlocks& targets = own.lists->targets;
  std::vector<std::vector<std::int64_t>> told(targets.ranks.size()), heard(sources.ranks.size());
  Posts messages;
  for (std::size_t k = 0; k < heard.size(); ++k) {
    heard[k].resize(sources.of(k).size());
    messages.add(channel.post_receive(Buffer(heard[k]), sources.ranks[k]));
  }
  for (std::size_t k = 0; k < told.size(); ++k) {
    for (const int block : targets.of(k)) told[k].push_back(own.sent_bytes(block));
    messages.add(channel.post_send(ConstBuffer(told[k]), targets.ranks[k]));
  }
  co_await messages;
  std::optional<Error> failure;
  for (std::size_t k = 0; k < heard.size() && !failure; ++k) {
    for (std::size_t i = 0; i < heard[k].size() && !failure; ++i) {
      const int block = sources.of(k)[i];
      const auto due = static_cast<std::int64_t>(own.receive[block].bytes);
      if (due == heard[k][i]) continue;
      failure.emplace(MPI_ERR_TRUNCATE,
                      formatted("{}: block {} of receive has {} bytes, but rank {} sends {}",
                                channel.operation(), block, due, sources.ranks[k], heard[k][i]));
    }
  }
  co_await share_failure(std::move(channel), std::move(failure));
}

Task<> compare_and_exchange(Channel channel, std::shared_ptr<const OwnArguments> own, Exchange what) {
  const Channel lane = channel.lane(0);
  co_await share_failure(lane, own->failure);
  if (own->lists) {
    co_await check_sizes_of_peers(lane, *own);
  } else {
    co_await check_same_sizes(lane, *own);
  }
  co_await exchange(std::move(channel), std::move(what));
}

std::size_t algorithm_named(std::string_view name, const char* call) {
  const std::vector<std::string_view>& names = schedule_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() && !name.empty()) {
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} is not one of {}", call, name, joined(names, ", "));
  }
  return as_size(found - names.begin());
}

std::shared_ptr<const std::vector<Shift>> peers_of(const Neighborhood::State& state,
                                                   const Schedule& schedule) {
  auto peers = std::make_shared<std::vector<Shift>>();
  peers->reserve(schedule.rounds.size());
  for (const Schedule::Round& round : schedule.rounds) {
    peers->push_back(state.stencil.torus().shift(state.comm.rank(), round.offset));
  }
  return peers;
}

/// MPI counts the bytes of a piece in int.
Copying copying_of(const Asked& asked, const ScheduleFacts& facts, double bytes) {
  if (bytes > INT_MAX || asked.copying == NeighborCopying::pack) return Copying::pack;
  return asked.copying == NeighborCopying::datatypes ? Copying::datatypes : copying_for(facts, bytes);
}

Plan make_plan_of_lists(const Neighborhood::State& state, const char* call, Asked asked) {
  const PeerBlocks& sources = state.lists->sources;
  const PeerBlocks& targets = state.lists->targets;
  if (asked.algorithm != schedule_names().size() || asked.ports != 0) {
    throw_error(MPI_ERR_ARG, "{}: {} is for neighborhoods of offsets, and this one was made of lists", call,
                asked.ports != 0 ? "ports" : "algorithm");
  }
  const bool is_alltoall = asked.pattern == NeighborPattern::alltoall;
  check_extent(is_alltoall ? state.targets.size() : 1, asked.send);
  check_extent(state.sources.size(), asked.receive);
  ScheduleFacts facts;
  facts.rounds = static_cast<int>(targets.ranks.size());
  facts.volume = targets.blocks.size();
  double sent = 0;
  double received = 0;
  for (const int block : targets.blocks) {
    sent += static_cast<double>(asked.send[sent_index(asked.pattern, block)].bytes);
  }
  for (const int block : sources.blocks) {
    received += static_cast<double>(asked.receive[block].bytes);
  }
  const Copying copying = received > INT_MAX ? Copying::pack : copying_of(asked, facts, sent);
  auto program =
      std::make_shared<const Program>(compile(sources, targets, state.comm.rank(), asked, copying));
  auto peers = std::make_shared<std::vector<Shift>>();
  for (const int rank : sources.ranks) peers->push_back({rank, MPI_PROC_NULL});
  for (const int rank : targets.ranks) peers->push_back({MPI_PROC_NULL, rank});
  return {std::move(asked), std::move(program), std::move(peers), copying == Copying::datatypes};
}

Plan make_plan(const Neighborhood::State& state, const char* call, Asked asked) {
  const Stencil& stencil = state.stencil;
  check_within(MPI_ERR_ARG, call, "ports", asked.ports, 0, INT_MAX);
  check_sizes(state, call, asked.pattern, asked.send, asked.receive);
  if (state.lists) return make_plan_of_lists(state, call, std::move(asked));
  std::size_t algorithm = asked.algorithm;
  if (algorithm == schedule_names().size()) {
    const Machine& machine = CommAccess::world(state.comm).machine();
    algorithm = cheapest_schedule(stencil, asked.pattern, asked.ports, asked.send, machine);
  }
  const auto& [schedule, facts] = costed_schedule(stencil, asked.pattern, algorithm);
  const double bytes = sent_bytes(facts, asked.send);
  const Copying copying = copying_of(asked, facts, bytes);
  auto program = std::make_shared<const Program>(compile(stencil, schedule, asked, copying, state.border));
  return {std::move(asked), std::move(program), peers_of(state, schedule), copying == Copying::datatypes};
}

Plan& find_or_make_plan(Neighborhood::State& state, const char* call, Asked asked) {
  constexpr std::size_t most = 16;
  for (Plan& known : state.plans) {
    if (known.asked == asked) return known;
  }
  Plan made = make_plan(state, call, std::move(asked));
  if (state.plans.size() < most) return state.plans.emplace_back(std::move(made));
  return state.plans[state.next_plan++ % most] = std::move(made);
}

/// Datatypes of messages, made once for buffers that are used again; unless they are made of the caller's
/// own, which may be others by then.
std::shared_ptr<const MessageTypes> types_of(Plan& plan, const Exchange& what) {
  if (!what.send.blocks.empty() || !what.receive.blocks.empty())
    return std::make_shared<const MessageTypes>(what);
  for (const Plan::BoundTypes& kept : plan.types) {
    const bool is_same = kept.send == what.send.address && kept.receive == what.receive.address;
    // An operation in flight has the scratch buffer for itself.
    if (is_same && kept.types.use_count() == 1) return kept.types;
  }
  constexpr std::size_t most = 4;
  if (plan.types.size() == most) plan.types.erase(plan.types.begin());
  plan.types.push_back({what.send.address, what.receive.address, std::make_shared<const MessageTypes>(what)});
  return plan.types.back().types;
}

std::byte* bytes_at(const BlockList& list) {
  return static_cast<std::byte*>(list.address());
}

/// Wherever the address of all is, which may be none.
bool has_block_on_device(const BlockList& list, int blocks) {
  for (int i = 0; i < blocks && knows_devices(); ++i) {
    if (are_on_device(list(i))) return true;
  }
  return false;
}

void bind_each(BoundBlocks& bound, const BlockList& list, int blocks) {
  for (int i = 0; i < blocks; ++i) bound.blocks.push_back(list(i));
}

}  // namespace

Task<> NeighborRun::operator()(Channel channel) const {
  return compared ? compare_and_exchange(std::move(channel), compared, what)
                  : exchange(std::move(channel), what);
}

Neighborhood::State& usable_state(const Neighborhood& on, const char* call) {
  if (on.state() == nullptr) throw_error(MPI_ERR_ARG, "{}: the neighborhood is empty", call);
  check_usable(on.state()->comm, call);
  return *on.state();
}

Located locate_regular(const char* call, const char* name, const ConstBuffer& all, int blocks) {
  if (blocks == 0) return {};  // of lists: there are some on the other side
  check_buffer(call, name, all);
  if (all.count % as_size(blocks) != 0) {
    throw_error(MPI_ERR_COUNT, "{}: {} has {} elements, not a multiple of {} neighbors", call, name,
                all.count, blocks);
  }
  const BlockList list = BlockList::regular(all, blocks);
  const TypeLayout layout = list.layout(0);
  const auto stride = static_cast<std::ptrdiff_t>(list.count(0)) * layout.extent;
  Located located{{bytes_at(list), {}, are_on_device(all)}, {list.bytes(0), stride, layout.contiguous}};
  if (!layout.contiguous) bind_each(located.bound, list, blocks);
  return located;
}

Located locate_irregular(const char* call, const char* name, const ConstBlocks& given, int blocks) {
  if (blocks == 0) return {};
  check_irregular(blocks, "neighbors", call, name, given);
  const BlockList list = BlockList::irregular(given, blocks);
  std::vector<BlockPlaces::Place> places(as_size(blocks));
  bool are_contiguous = true;
  for (int i = 0; i < blocks; ++i) {
    if (list.count(i) == 0) continue;
    const TypeLayout layout = list.layout(i);
    places[as_size(i)] = {list.offset(i), list.count(i) * layout.size, layout.contiguous};
    are_contiguous = are_contiguous && layout.contiguous;
  }
  Located located{{bytes_at(list), {}, has_block_on_device(list, blocks)}, BlockPlaces(std::move(places))};
  if (!are_contiguous) bind_each(located.bound, list, blocks);
  return located;
}

Exchange exchange_of_nothing() {
  return {std::make_shared<const Program>(), std::make_shared<const std::vector<Shift>>(), {}, {}, nullptr};
}

Exchange bind_exchange(Neighborhood::State& state, const char* call, NeighborPattern pattern, Located send,
                       Located receive, const NeighborOptions& options) {
  // No datatype is of a device's memory and of the host's.
  const bool is_on_device = send.bound.is_on_device || receive.bound.is_on_device;
  Plan& plan = find_or_make_plan(state, call,
                                 {pattern, algorithm_named(options.algorithm, call), options.ports,
                                  is_on_device ? NeighborCopying::pack : options.copying,
                                  std::move(send.places), std::move(receive.places)});
  Exchange what{plan.program, plan.peers, std::move(send.bound), std::move(receive.bound), nullptr};
  if (plan.uses_datatypes) what.types = types_of(plan, what);
  return what;
}

}  // namespace wisp::detail
