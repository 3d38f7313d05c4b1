// Neighborhoods: what they know and can be asked.

#include "wisp/neighborhood.hpp"

#include <algorithm>
#include <string>

#include "collectives/agreement.hpp"
#include "comm/comm_access.hpp"
#include "neighborhood/choice.hpp"
#include "neighborhood/made_on_all.hpp"
#include "neighborhood/neighborhood_state.hpp"
#include "neighborhood/schedules.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

using namespace detail;

#ifdef NDEBUG
constexpr bool always_checks_creation = false;
#else
constexpr bool always_checks_creation = true;
#endif

std::string text_of(const std::vector<std::int64_t>& offset) {
  return formatted("({})", joined(offset, ", "));
}

/// What can be seen of lists without those of others.
void check_lists(const char* call, const Comm& comm, std::span<const int> sources,
                 std::span<const int> targets) {
  const auto check_ranks = [&](const char* list, std::span<const int> ranks) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] == MPI_PROC_NULL || (ranks[i] >= 0 && ranks[i] < comm.size())) continue;
      throw_error(MPI_ERR_RANK, "{}: {}[{}] = {} is outside 0..{}", call, list, i, ranks[i], comm.size() - 1);
    }
  };
  check_ranks("sources", sources);
  check_ranks("targets", targets);
  const auto from_oneself = std::ranges::count(sources, comm.rank());
  const auto to_oneself = std::ranges::count(targets, comm.rank());
  if (from_oneself == to_oneself) return;
  throw_error(MPI_ERR_ARG, "{}: sources name rank {} itself {} times, but targets {} times", call,
              comm.rank(), from_oneself, to_oneself);
}

constexpr const char* of_check = "wisp::Neighborhood::check";

/// What all ranks agreed on when the communicator was made, or what the environment says since.
bool checks_calls(const Comm& comm) {
  return CommAccess::world(comm).checks_calls() || environment_says_check();
}

}  // namespace

namespace detail {

bool compares_creation(const Comm& comm) {
  return CommAccess::world(comm).engine().can_wait() && (always_checks_creation || checks_calls(comm));
}

void refuse_creation(const Comm& comm, const Error& error) {
  check_usable(comm, of_check);
  if (compares_creation(comm)) comm.run(share_failure(comm.channel(of_check), error));
  throw error;
}

}  // namespace detail

Neighborhood::Neighborhood(const Comm& comm, const Stencil& stencil) {
  constexpr const char* call = "wisp::Neighborhood";
  check_usable(comm, call);
  CommAccess::world(comm).engine().check_thread(call);
  if (stencil.torus().size() != comm.size()) {
    throw_error(MPI_ERR_DIMS, "{}: the torus {} has {} ranks, but the communicator {}", call,
                joined(stencil.torus().dims(), " x "), stencil.torus().size(), comm.size());
  }
  state_ = std::make_shared<State>();
  state_->comm = comm;
  state_->stencil = stencil;
  state_->checks_operations = checks_calls(comm);
  state_->border = border_of(stencil.torus(), stencil.reduced(), comm.rank());
  const std::vector<Shift> shifts = stencil.torus().shifts(comm.rank(), stencil.reduced());
  state_->sources.reserve(shifts.size());
  state_->targets.reserve(shifts.size());
  for (const Shift& shift : shifts) {
    state_->sources.push_back(shift.source);
    state_->targets.push_back(shift.target);
  }
}

Neighborhood Neighborhood::create(const Comm& comm, const Stencil& stencil) {
  check_usable(comm, "wisp::Neighborhood::create");
  if (compares_creation(comm)) comm.run(check(comm, stencil));
  return {comm, stencil};
}

Neighborhood Neighborhood::of_cart(MPI_Comm cart, const Offsets& offsets, std::vector<int> weights) {
  const Torus torus = Torus::of_cart(cart);
  const Comm comm = Comm::duplicate(cart);
  return create(comm, made_on_all(comm, [&] { return Stencil(torus, offsets, std::move(weights)); }));
}

Neighborhood Neighborhood::adjacent(const Comm& comm, std::span<const int> sources,
                                    std::span<const int> targets) {
  constexpr const char* call = "wisp::Neighborhood::adjacent";
  check_usable(comm, call);
  CommAccess::world(comm).engine().check_thread(call);
  made_on_all(comm, [&] { check_lists(call, comm, sources, targets); });
  if (compares_creation(comm)) {
    comm.run(check(comm, {sources.begin(), sources.end()}, {targets.begin(), targets.end()}));
  }
  Neighborhood made;
  made.state_ = std::make_shared<State>();
  made.state_->comm = comm;
  made.state_->checks_operations = checks_calls(comm);
  made.state_->sources.assign(sources.begin(), sources.end());
  made.state_->targets.assign(targets.begin(), targets.end());
  auto lists = std::make_shared<State::Lists>();
  lists->sources = PeerBlocks(sources, comm.rank(), comm.size(), -1);
  lists->targets = PeerBlocks(targets, comm.rank(), comm.size(), 1);
  made.state_->lists = std::move(lists);
  return made;
}

Neighborhood Neighborhood::of_graph(MPI_Comm graph) {
  check_comm(graph, "wisp::Neighborhood::of_graph", "graph");
  int topology = MPI_UNDEFINED;
  check_mpi(MPI_Topo_test(graph, &topology), "MPI_Topo_test");
  if (topology != MPI_DIST_GRAPH) {
    throw Error(MPI_ERR_TOPOLOGY,
                "wisp::Neighborhood::of_graph: graph has no neighbors of MPI_Dist_graph_create or "
                "MPI_Dist_graph_create_adjacent");
  }
  int in = 0;
  int out = 0;
  int is_weighted = 0;
  check_mpi(MPI_Dist_graph_neighbors_count(graph, &in, &out, &is_weighted), "MPI_Dist_graph_neighbors_count");
  std::vector<int> sources(as_size(in)), source_weights(sources.size());
  std::vector<int> targets(as_size(out)), target_weights(targets.size());
  check_mpi(MPI_Dist_graph_neighbors(graph, in, sources.data(), source_weights.data(), out, targets.data(),
                                     target_weights.data()),
            "MPI_Dist_graph_neighbors");
  return adjacent(Comm::duplicate(graph), sources, targets);
}

namespace {

Neighborhood::State& existing(const std::shared_ptr<Neighborhood::State>& state) {
  if (state == nullptr) throw Error(MPI_ERR_ARG, "wisp::Neighborhood: the neighborhood is empty");
  return *state;
}

}  // namespace

bool Neighborhood::has_stencil() const {
  return existing(state_).lists == nullptr;
}

const Comm& Neighborhood::comm() const {
  return existing(state_).comm;
}
const Stencil& Neighborhood::stencil() const {
  if (!has_stencil()) {
    throw Error(MPI_ERR_TOPOLOGY, "wisp::Neighborhood: it was made of lists, and has no offsets");
  }
  return state_->stencil;
}
std::span<const int> Neighborhood::sources() const {
  return existing(state_).sources;
}
std::span<const int> Neighborhood::targets() const {
  return existing(state_).targets;
}

int Neighborhood::find_rank(int rank) const {
  const std::vector<int>& ranks = existing(state_).targets;
  const auto found = std::ranges::find(ranks, rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

int Neighborhood::find_offset(std::span<const int> offset) const {
  Offsets given(torus().dimensions());
  given.add(offset);
  const Offsets wanted = reduce_offsets(torus(), given);
  // Half-way around is the same place from both sides.
  const auto is_same = [&](std::span<const int> other) {
    for (int j = 0; j < torus().dimensions(); ++j) {
      const auto place = as_size(j);
      const std::int64_t apart = std::int64_t{other[place]} - wanted[0][place];
      if (torus().periodic(j) ? apart % torus().dim(j) != 0 : apart != 0) return false;
    }
    return true;
  };
  for (int i = 0; i < size(); ++i) {
    if (is_same(stencil().reduced()[i])) return i;
  }
  return -1;
}

std::string_view Neighborhood::chosen(NeighborPattern pattern, std::size_t bytes) const {
  const Machine& machine = CommAccess::world(comm()).machine();
  return schedule_names()[cheapest_schedule(stencil(), pattern, 0, BlockPlaces::regular(bytes), machine)];
}

std::string Neighborhood::describe(NeighborPattern pattern, std::size_t bytes) const {
  const Machine& machine = CommAccess::world(comm()).machine();
  const std::string_view taken = chosen(pattern, bytes);
  std::string text =
      formatted("{} of {} blocks of {} bytes on {}: {}\n{:<18}{:>8}{:>8}{:>8}{:>14}\n",
                pattern == NeighborPattern::alltoall ? "alltoall" : "allgather", size(), bytes,
                joined(torus().dims(), " x "), taken, "schedule", "rounds", "phases", "blocks", "modelled");
  for (std::size_t k = 0; k < schedule_names().size(); ++k) {
    const std::string_view name = schedule_names()[k];
    const ScheduleFacts& facts = costed_schedule(stencil(), pattern, k).facts;
    const double seconds = modelled_time(stencil(), pattern, k, bytes, machine);
    text += formatted("{:<18}{:>8}{:>8}{:>8}{:>11.2f} µs{}\n", name, facts.rounds, facts.phases, facts.volume,
                      seconds * 1e6, name == taken ? "  <- chosen" : "");
  }
  return text;
}

void Neighborhood::check_operations(bool enabled) {
  existing(state_).checks_operations = enabled;
}

/// Every rank tells its targets how many blocks it has for them.
Task<> Neighborhood::check(Comm comm, std::vector<int> sources, std::vector<int> targets) {
  const Channel channel = comm.channel(of_check);
  co_await share_failure(channel, std::nullopt);
  const PeerBlocks from(sources, comm.rank(), comm.size(), -1);
  const PeerBlocks to(targets, comm.rank(), comm.size(), 1);
  std::vector<std::int64_t> counts;
  counts.reserve(to.ranks.size());
  std::vector<Outgoing> messages;
  for (std::size_t k = 0; k < to.ranks.size(); ++k) {
    counts.push_back(static_cast<std::int64_t>(to.of(k).size()));
    messages.push_back({to.ranks[k], buffer_of(counts.back())});
  }
  Arrivals arrivals;
  co_await exchange(comm, messages, arrivals);
  std::optional<Error> failure;
  const auto compare = [&](int source, std::int64_t sent, std::int64_t named) {
    if (sent == named || failure) return;
    failure.emplace(MPI_ERR_ARG,
                    formatted("{}: sources name rank {} {} times, but it names this rank {} times", of_check,
                              source, named, sent));
  };
  std::size_t told = 0;
  for (const Arrivals::Block& block : arrivals) {
    const auto named = static_cast<std::int64_t>(from.of_rank(block.source).size());
    if (named > 0) ++told;
    compare(block.source, block.as<std::int64_t>().at(0), named);
  }
  for (std::size_t k = 0; k < from.ranks.size() && told < from.ranks.size() && !failure; ++k) {
    const auto is_it = [&](const Arrivals::Block& block) { return block.source == from.ranks[k]; };
    if (std::ranges::none_of(arrivals, is_it))
      compare(from.ranks[k], 0, static_cast<std::int64_t>(from.of(k).size()));
  }
  co_await share_failure(channel, std::move(failure));
}

Task<> Neighborhood::check(Comm comm, Stencil stencil) {
  const Channel channel = comm.channel(of_check);
  co_await share_failure(channel, std::nullopt);
  std::vector<std::int64_t> torus(stencil.torus().dims().begin(), stencil.torus().dims().end());
  torus.insert(torus.end(), stencil.torus().periods().begin(), stencil.torus().periods().end());
  std::optional<Difference> found = co_await find_difference(channel, std::move(torus), 1);
  if (found) {
    throw_error(MPI_ERR_DIMS, "{}: rank {} gives another torus than rank 0", of_check, found->rank);
  }
  std::vector<std::int64_t> offsets(stencil.offsets().flat().begin(), stencil.offsets().flat().end());
  if (stencil.torus().dimensions() == 0) offsets.resize(as_size(stencil.size()));
  found = co_await find_difference(channel, std::move(offsets), std::max(1, stencil.torus().dimensions()));
  if (!found) co_return;
  if (found->values.empty()) {
    throw_error(MPI_ERR_ARG,
                "{}: rank {} gives {} offsets, but rank 0 gives {}; they differ from offsets[{}] on",
                of_check, found->rank, found->count, found->root_count, found->entry);
  }
  throw_error(MPI_ERR_ARG, "{}: offsets[{}] of rank {} is {}, but that of rank 0 is {}", of_check,
              found->entry, found->rank, text_of(found->values), text_of(found->root_values));
}

}  // namespace wisp
