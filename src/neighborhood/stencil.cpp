// Stencils: a table of schedules by name, each made once.

#include "wisp/stencil.hpp"

#include <algorithm>

#include "neighborhood/schedules.hpp"
#include "neighborhood/stencil_state.hpp"
#include "transport/throw_error.hpp"

namespace wisp {
namespace {

struct NamedSchedule {
  std::string_view name;
  Schedule (*make)(const Torus&, const Offsets&, NeighborPattern);
};

constexpr NamedSchedule table[] = {{"straightforward", detail::straightforward_schedule},
                                   {"direct", detail::direct_schedule},
                                   {"torus", detail::torus_schedule},
                                   {"torus-direct", detail::torus_direct_schedule},
                                   {"basis", detail::basis_schedule}};

}  // namespace

const std::vector<std::string_view>& schedule_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const NamedSchedule& named : table) all.push_back(named.name);
    return all;
  }();
  return names;
}

std::vector<int> phases_of(const Schedule& schedule, int ports) {
  std::vector<int> firsts;
  int phase_begin = 0;
  for (std::size_t k = 0; k < schedule.rounds.size(); ++k) {
    const Schedule::Round& round = schedule.rounds[k];
    const auto parts = schedule.parts.begin() + round.first_part;
    const int first_of_phase = firsts.empty() ? 0 : schedule.rounds[detail::as_size(phase_begin)].first_part;
    const bool depends = std::any_of(parts, parts + round.parts,
                                     [&](const Schedule::Part& part) { return part.from >= first_of_phase; });
    const bool is_full = ports > 0 && static_cast<int>(k) - phase_begin >= ports;
    if (firsts.empty() || depends || is_full) {
      phase_begin = static_cast<int>(k);
      firsts.push_back(phase_begin);
    }
  }
  firsts.push_back(static_cast<int>(schedule.rounds.size()));
  return firsts;
}

Stencil::Stencil() : Stencil(Torus(), Offsets()) {}

Stencil::Stencil(Torus torus, Offsets offsets, std::vector<int> weights) : state_(std::make_shared<State>()) {
  constexpr const char* call = "wisp::Stencil";
  if (offsets.size() > 0 && offsets.dimensions() != torus.dimensions()) {
    detail::throw_error(MPI_ERR_DIMS, "{}: offsets have {} coordinates, but the torus has {} dimensions",
                        call, offsets.dimensions(), torus.dimensions());
  }
  if (!weights.empty() && weights.size() != detail::as_size(offsets.size())) {
    detail::throw_error(MPI_ERR_ARG, "{}: {} weights for {} offsets", call, weights.size(), offsets.size());
  }
  state_->torus = std::move(torus);
  state_->offsets = offsets.size() > 0 ? std::move(offsets) : Offsets(state_->torus.dimensions());
  state_->weights = std::move(weights);
  state_->reduced = detail::reduce_offsets(state_->torus, state_->offsets);
  for (auto& of_pattern : state_->schedules) of_pattern.resize(std::size(table));
}

const Torus& Stencil::torus() const {
  return state_->torus;
}
const Offsets& Stencil::offsets() const {
  return state_->offsets;
}
const std::vector<int>& Stencil::weights() const {
  return state_->weights;
}
const Offsets& Stencil::reduced() const {
  return state_->reduced;
}

const Schedule& Stencil::schedule(NeighborPattern pattern, std::string_view name) const {
  const auto named = std::find_if(std::begin(table), std::end(table),
                                  [&](const NamedSchedule& one) { return one.name == name; });
  if (named == std::end(table)) {
    detail::throw_error(MPI_ERR_ARG, "wisp::Stencil::schedule: there is no schedule '{}'; there are {}", name,
                        detail::joined(schedule_names(), ", "));
  }
  return detail::costed_schedule(*this, pattern, detail::as_size(named - std::begin(table))).schedule;
}

const detail::CostedSchedule& detail::costed_schedule(const Stencil& stencil, NeighborPattern pattern,
                                                      std::size_t place) {
  Stencil::State& state = stencil.state();
  const std::lock_guard lock(state.making);
  std::unique_ptr<const CostedSchedule>& kept = state.schedules[as_size(pattern)][place];
  if (kept != nullptr) return *kept;
  Schedule schedule = table[place].make(stencil.torus(), stencil.reduced(), pattern);
  ScheduleFacts facts;
  facts.rounds = static_cast<int>(schedule.rounds.size());
  facts.phases = static_cast<int>(phases_of(schedule, 0).size()) - 1;
  facts.volume = schedule.volume();
  if (pattern == NeighborPattern::alltoall) {
    facts.hops.resize(schedule.arrivals.size());
    for (const Schedule::Part& part : schedule.parts) ++facts.hops[as_size(part.block)];
  }
  kept = std::make_unique<const CostedSchedule>(std::move(schedule), std::move(facts));
  return *kept;
}

}  // namespace wisp
