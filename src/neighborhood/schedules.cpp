// Schedules: a list of rounds, and for every block the rounds that take it to its target.
//
//   offset (2, 1):    torus          (1,0) (1,0) (0,1)     hops; D rounds and V blocks in all
//                     torus-direct   (2,0) (0,1)           a round for each coordinate of a dimension
//                     direct         (2,1)                 a round for each target
//                     basis          a sum of vectors of a small additive basis
//
// An alltoall moves every block along its own route. An allgather moves one block along the trie of all
// routes: what has come to a common beginning of several routes is passed on from there.
//
//   routes (1,0)          root ──(1,0)── node ──(0,1)── node        2 blocks instead of 1 + 2
//          (1,0) (0,1)
//
// Cost: O(s) steps for each round of the torus, and for each round of the longest route of the others.
// Source: Träff et al. 2016, sections 3.1, 3.2 and 5. There, the volume W of an allgather counts a block that
// goes on in one direction once for every edge of the trie that starts where it started; here it is sent once
// for every rank that it comes to.

#include "neighborhood/schedules.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "neighborhood/additive_basis.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

using Vector = std::vector<int>;

bool is_zero(std::span<const int> offset) {
  return std::all_of(offset.begin(), offset.end(), [](int c) { return c == 0; });
}

bool leads_nowhere(const Torus& torus, std::span<const int> offset) {
  for (int j = 0; j < torus.dimensions(); ++j) {
    const std::int64_t c = offset[as_size(j)];
    if (!torus.periodic(j) && std::abs(c) >= torus.dim(j)) return true;
  }
  return false;
}

Vector vector_of(std::span<const int> offset) {
  return {offset.begin(), offset.end()};
}

/// A vector in direction j.
Vector along(int dimensions, int j, int c) {
  Vector vector(as_size(dimensions));
  vector[as_size(j)] = c;
  return vector;
}

/// Rounds, and for each block those that move it, ascending.
struct Routes {
  std::vector<Vector> rounds;
  std::vector<std::vector<int>> of_block;
};

/// True if there is no message for this block.
bool stays(const Torus& torus, std::span<const int> offset) {
  return is_zero(offset) || leads_nowhere(torus, offset);
}

Schedule schedule_along(const Torus& torus, const Offsets& reduced, NeighborPattern pattern,
                        const Routes& routes) {
  double volume = 0;
  for (const std::vector<int>& route : routes.of_block) volume += static_cast<double>(route.size());
  if (volume > std::numeric_limits<int>::max()) {
    throw_error(MPI_ERR_ARG, "wisp::Stencil::schedule: {} blocks in one schedule are more than 2^31 - 1",
                volume);
  }
  struct Moved {
    Schedule::Part part;
    int round;
  };
  std::vector<Moved> moved;
  Schedule schedule;
  schedule.arrivals.reserve(routes.of_block.size());
  // Of an allgather: where a part goes on to in a round.
  std::unordered_map<std::uint64_t, int> next;
  for (int block = 0; block < reduced.size(); ++block) {
    int at = Schedule::own;
    for (const int round : routes.of_block[as_size(block)]) {
      const auto made = static_cast<int>(moved.size());
      const auto edge =
          static_cast<std::uint64_t>(at + 1) * routes.rounds.size() + static_cast<std::uint64_t>(round);
      if (pattern == NeighborPattern::allgather) {
        const auto [known, is_new] = next.emplace(edge, made);
        if (!is_new) {
          at = known->second;
          continue;
        }
      }
      moved.push_back({{block, at}, round});
      at = made;
    }
    schedule.arrivals.push_back(leads_nowhere(torus, reduced[block]) ? Schedule::nowhere : at);
  }

  // Parts by round: what was numbered as it was found is numbered anew.
  std::vector<int> counts(routes.rounds.size());
  for (const Moved& m : moved) ++counts[as_size(m.round)];
  std::vector<int> firsts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), 0);
  for (std::size_t k = 0; k < counts.size(); ++k)
    schedule.rounds.push_back({routes.rounds[k], firsts[k], counts[k]});
  std::vector<int> numbers;
  numbers.reserve(moved.size());
  for (const Moved& m : moved) numbers.push_back(firsts[as_size(m.round)]++);
  const auto renumbered = [&](int part) { return part < 0 ? part : numbers[as_size(part)]; };
  schedule.parts.resize(moved.size());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    schedule.parts[as_size(numbers[i])] = {moved[i].part.block, renumbered(moved[i].part.from)};
  }
  for (int& arrival : schedule.arrivals) arrival = renumbered(arrival);
  return schedule;
}

/// The order of dimensions in which an allgather shares most: next is always the one that leaves the fewest
/// different beginnings of routes.
std::vector<int> sharing_order(const Torus& torus, const Offsets& reduced) {
  std::vector<int> order;
  std::vector<int> rest(as_size(reduced.dimensions()));
  std::iota(rest.begin(), rest.end(), 0);
  std::vector<int> beginnings(as_size(reduced.size()));
  while (rest.size() > 1) {
    std::size_t best_size = 0;
    std::vector<int> best_beginnings;
    auto best = rest.end();
    for (auto j = rest.begin(); j != rest.end(); ++j) {
      std::unordered_map<std::uint64_t, int> numbers;
      std::vector<int> numbered(beginnings.size());
      for (int i = 0; i < reduced.size(); ++i) {
        if (stays(torus, reduced[i])) continue;
        const auto c = static_cast<std::uint32_t>(reduced[i][as_size(*j)]);
        const auto place = as_size(i);
        const std::uint64_t key = static_cast<std::uint64_t>(beginnings[place]) << 32 | c;
        numbered[place] = numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
      }
      if (best == rest.end() || numbers.size() < best_size) {
        best = j;
        best_size = numbers.size();
        best_beginnings = std::move(numbered);
      }
    }
    order.push_back(*best);
    rest.erase(best);
    beginnings = std::move(best_beginnings);
  }
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

std::vector<int> dimension_order(const Torus& torus, const Offsets& reduced, NeighborPattern pattern) {
  if (pattern == NeighborPattern::allgather) return sharing_order(torus, reduced);
  std::vector<int> order(as_size(reduced.dimensions()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Offsets reduce_offsets(const Torus& torus, const Offsets& offsets) {
  const auto d = as_size(torus.dimensions());
  std::vector<int> flat = offsets.flat();
  for (std::size_t j = 0; j < d; ++j) {
    const int n = torus.dim(static_cast<int>(j));
    if (!torus.periodic(static_cast<int>(j))) continue;
    int farthest = 0;
    int farthest_back = 0;
    int first_tie = 0;
    for (std::size_t i = j; i < flat.size(); i += d) {
      const int given = flat[i];
      int c = given % n;
      if (2 * std::int64_t{c} > n) c -= n;
      if (2 * std::int64_t{c} < -n) c += n;
      if (2 * std::int64_t{std::abs(c)} == n) {
        if (first_tie == 0) first_tie = given < 0 ? -1 : 1;
        c = n / 2;
      } else {
        farthest = std::max(farthest, c);
        farthest_back = std::max(farthest_back, -c);
      }
      flat[i] = c;
    }
    const bool ties_go_back = farthest != farthest_back ? farthest < farthest_back : first_tie < 0;
    for (std::size_t i = j; i < flat.size() && n % 2 == 0 && ties_go_back; i += d) {
      if (flat[i] == n / 2) flat[i] = -n / 2;
    }
  }
  return d == 0 ? offsets : Offsets(offsets.dimensions(), flat);
}

double torus_volume(const Torus& torus, const Offsets& reduced) {
  double volume = 0;
  for (int i = 0; i < reduced.size(); ++i) {
    if (stays(torus, reduced[i])) continue;
    for (const int c : reduced[i]) volume += std::abs(c);
  }
  return volume;
}

Schedule straightforward_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern) {
  Routes routes;
  routes.of_block.resize(as_size(reduced.size()));
  for (int i = 0; i < reduced.size(); ++i) {
    if (stays(torus, reduced[i])) continue;
    routes.of_block[as_size(i)].push_back(static_cast<int>(routes.rounds.size()));
    routes.rounds.push_back(vector_of(reduced[i]));
  }
  return schedule_along(torus, reduced, pattern, routes);
}

Schedule direct_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern) {
  Routes routes;
  routes.of_block.resize(as_size(reduced.size()));
  std::map<Vector, int> round_to;
  for (int i = 0; i < reduced.size(); ++i) {
    if (stays(torus, reduced[i])) continue;
    const auto [round, is_new] = round_to.emplace(vector_of(reduced[i]), static_cast<int>(round_to.size()));
    if (is_new) routes.rounds.push_back(round->first);
    routes.of_block[as_size(i)].push_back(round->second);
  }
  return schedule_along(torus, reduced, pattern, routes);
}

Schedule torus_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern) {
  Routes routes;
  routes.of_block.resize(as_size(reduced.size()));
  for (const int j : dimension_order(torus, reduced, pattern)) {
    const auto place = as_size(j);
    int farthest[2] = {0, 0};
    for (int i = 0; i < reduced.size(); ++i) {
      if (stays(torus, reduced[i])) continue;
      const int c = reduced[i][place];
      farthest[c < 0] = std::max(farthest[c < 0], std::abs(c));
    }
    // Forth and back in turn, for these rounds can be in flight together.
    for (int hop = 1; hop <= std::max(farthest[0], farthest[1]); ++hop) {
      for (const int sign : {1, -1}) {
        if (hop > farthest[sign < 0]) continue;
        const auto round = static_cast<int>(routes.rounds.size());
        routes.rounds.push_back(along(reduced.dimensions(), j, sign));
        for (int i = 0; i < reduced.size(); ++i) {
          if (!stays(torus, reduced[i]) && sign * reduced[i][place] >= hop) {
            routes.of_block[as_size(i)].push_back(round);
          }
        }
      }
    }
  }
  return schedule_along(torus, reduced, pattern, routes);
}

Schedule torus_direct_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern) {
  Routes routes;
  routes.of_block.resize(as_size(reduced.size()));
  for (const int j : dimension_order(torus, reduced, pattern)) {
    std::map<int, int> round_of;
    for (int i = 0; i < reduced.size(); ++i) {
      const int c = reduced[i][as_size(j)];
      if (c == 0 || stays(torus, reduced[i])) continue;
      const auto [round, is_new] = round_of.emplace(c, static_cast<int>(routes.rounds.size()));
      if (is_new) routes.rounds.push_back(along(reduced.dimensions(), j, c));
      routes.of_block[as_size(i)].push_back(round->second);
    }
  }
  return schedule_along(torus, reduced, pattern, routes);
}

Schedule basis_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern) {
  Offsets targets(reduced.dimensions());
  std::map<Vector, std::size_t> places;
  for (int i = 0; i < reduced.size(); ++i) {
    if (!stays(torus, reduced[i]) && places.emplace(vector_of(reduced[i]), places.size()).second)
      targets.add(reduced[i]);
  }
  Routes routes;
  routes.of_block.resize(as_size(reduced.size()));
  if (targets.size() > 0) {
    AdditiveBasis basis = find_basis(torus, targets);
    routes.rounds = std::move(basis.vectors);
    for (int i = 0; i < reduced.size(); ++i) {
      if (stays(torus, reduced[i])) continue;
      routes.of_block[as_size(i)] = basis.routes[places.at(vector_of(reduced[i]))];
    }
  }
  return schedule_along(torus, reduced, pattern, routes);
}

}  // namespace wisp::detail
