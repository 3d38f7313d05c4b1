// Neighborhoods: what they know and can be asked.

#include "wisp/neighborhood.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "collectives/agreement.hpp"
#include "comm/comm_access.hpp"
#include "neighborhood/choice.hpp"
#include "neighborhood/neighborhood_state.hpp"
#include "neighborhood/schedules.hpp"
#include "transport/throw_error.hpp"
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

BlockPlaces regular_places(std::size_t bytes) {
  return {bytes, static_cast<std::ptrdiff_t>(bytes), true};
}

}  // namespace

Neighborhood::Neighborhood(const Comm& comm, const Stencil& stencil) {
  constexpr const char* call = "wisp::Neighborhood";
  check_usable(comm, call);
  if (stencil.torus().size() != comm.size()) {
    throw_error(MPI_ERR_DIMS, "{}: the torus {} has {} ranks, but the communicator {}", call,
                joined(stencil.torus().dims(), " x "), stencil.torus().size(), comm.size());
  }
  state_ = std::make_shared<State>();
  state_->comm = comm;
  state_->stencil = stencil;
  state_->checks_operations = environment_says_check();
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
  const bool can_wait = CommAccess::world(comm).engine().can_wait();
  if (can_wait && (always_checks_creation || environment_says_check())) comm.run(check(comm, stencil));
  return {comm, stencil};
}

Neighborhood Neighborhood::of_cart(MPI_Comm cart, const Offsets& offsets, std::vector<int> weights) {
  return create(Comm::duplicate(cart), Stencil(Torus::of_cart(cart), offsets, std::move(weights)));
}

const Comm& Neighborhood::comm() const {
  if (state_ == nullptr) throw Error(MPI_ERR_ARG, "wisp::Neighborhood: the neighborhood is empty");
  return state_->comm;
}
const Stencil& Neighborhood::stencil() const {
  comm();
  return state_->stencil;
}
std::span<const int> Neighborhood::sources() const {
  return state_->sources;
}
std::span<const int> Neighborhood::targets() const {
  return state_->targets;
}

int Neighborhood::find_rank(int rank) const {
  const auto found = std::find(state_->targets.begin(), state_->targets.end(), rank);
  return found == state_->targets.end() ? -1 : static_cast<int>(found - state_->targets.begin());
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
  return schedule_names()[cheapest_schedule(stencil(), pattern, 0, regular_places(bytes), machine)];
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
    const double seconds =
        modelled_time(facts, facts.phases, sent_bytes(facts, regular_places(bytes)), machine, comm().size());
    text += formatted("{:<18}{:>8}{:>8}{:>8}{:>11.2f} µs{}\n", name, facts.rounds, facts.phases, facts.volume,
                      seconds * 1e6, name == taken ? "  <- chosen" : "");
  }
  return text;
}

void Neighborhood::check_operations(bool enabled) {
  state_->checks_operations = enabled;
}

Task<> Neighborhood::check(Comm comm, Stencil stencil) {
  constexpr const char* call = "wisp::Neighborhood::check";
  const Channel channel = comm.channel(call);
  std::vector<std::int64_t> torus(stencil.torus().dims().begin(), stencil.torus().dims().end());
  torus.insert(torus.end(), stencil.torus().periods().begin(), stencil.torus().periods().end());
  std::optional<Difference> found = co_await find_difference(channel, std::move(torus), 1);
  if (found) {
    throw_error(MPI_ERR_DIMS, "{}: rank {} gives another torus than rank 0", call, found->rank);
  }
  std::vector<std::int64_t> offsets(stencil.offsets().flat().begin(), stencil.offsets().flat().end());
  if (stencil.torus().dimensions() == 0) offsets.resize(as_size(stencil.size()));
  found = co_await find_difference(channel, std::move(offsets), std::max(1, stencil.torus().dimensions()));
  if (!found) co_return;
  if (found->values.empty()) {
    throw_error(MPI_ERR_ARG,
                "{}: rank {} gives {} offsets, but rank 0 gives {}; they differ from offsets[{}] on", call,
                found->rank, found->count, found->root_count, found->entry);
  }
  throw_error(MPI_ERR_ARG, "{}: offsets[{}] of rank {} is {}, but that of rank 0 is {}", call, found->entry,
              found->rank, text_of(found->values), text_of(found->root_values));
}

}  // namespace wisp
