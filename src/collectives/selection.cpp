#include "collectives/selection.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "collectives/cost_terms.hpp"
#include "comm/comm_access.hpp"
#include "transport/throw_error.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp {

namespace detail {
namespace {

struct Entry {
  std::string_view name;
  /// Startups, bytes, steps, messages, volume: see Cost. Without one, it is there to be named only.
  Cost (*cost)(const Terms&);
  bool (*is_allowed)(const Case&) = [](const Case&) { return true; };
};

bool commutes(const Case& of) {
  return of.commutes;
}

using T = const Terms&;

constexpr Entry barrier_table[] = {
    {"dissemination",
     [](T t) {
       return Cost{t.log2, 0, t.log2, t.p * t.log2, 0};
     }},
    {"tree", [](T t) {
       return Cost{t.siblings_32 * t.depth_32 + 3 * t.depth_4, 0, t.depth_32 + t.depth_4, 2 * (t.p - 1), 0};
     }}};

constexpr Entry bcast_table[] = {
    {"binomial",
     [](T t) {
       return Cost{t.log2, t.log2 * t.n, t.log2, t.p - 1, (t.p - 1) * t.n};
     }},
    {"radix_4",
     [](T t) {
       return Cost{3 * t.depth_4, 3 * t.depth_4 * t.n, t.depth_4, t.p - 1, (t.p - 1) * t.n};
     }},
    {"circulant", [](T t) {
       return Cost{t.log2 + 2 * (t.stream_pieces - 1), t.stream_rounds * t.n / t.stream_pieces, t.log2,
                   (t.p - 1) * t.stream_pieces, (t.p - 1) * t.n};
     }}};

// To join a byte takes about half as long as to move it: what is joined counts half more.

constexpr Entry reduce_table[] = {
    {"binomial",
     [](T t) {
       return Cost{t.log2, 1.5 * t.log2 * t.n, t.log2, t.p - 1, 1.5 * (t.p - 1) * t.n};
     }},
    {"radix_4",
     [](T t) {
       const double received = 3 * t.depth_4;
       return Cost{received, 1.5 * received * t.n, t.depth_4, t.p - 1, 1.5 * (t.p - 1) * t.n};
     }},
    {"radix_32",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return Cost{received, 1.5 * received * t.n, t.depth_32, t.p - 1, 1.5 * (t.p - 1) * t.n};
     }},
    {"ordered", nullptr},
    {"circulant",
     [](T t) {
       return Cost{t.log2 + 2 * (t.stream_pieces - 1), 1.5 * t.stream_rounds * t.n / t.stream_pieces, t.log2,
                   (t.p - 1) * t.stream_pieces, 1.5 * (t.p - 1) * t.n};
     },
     commutes}};

constexpr Entry allreduce_table[] = {
    {"recursive_doubling",
     [](T t) {
       const double steps = t.log2 + t.extra;
       return Cost{steps, 1.5 * steps * t.n, steps, t.p * t.log2, 1.5 * t.p * t.log2 * t.n};
     }},
    {"tree",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       const double sent = 3 * t.depth_4;
       // Long vectors that come all at once disturb each other.
       return Cost{received + sent, (2 * received + sent) * t.n, t.depth_32 + t.depth_4, 2 * (t.p - 1),
                   2.5 * (t.p - 1) * t.n};
     }},
    {"circulant",
     [](T t) {
       // Half of the vector is set aside and put back.
       const double steps = 2 * t.log2;
       const double bytes = (2.5 * t.others + 0.5) * t.n;
       return Cost{steps, bytes, steps, t.p * steps, t.p * bytes};
     },
     commutes},
    {"two_tree", [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return Cost{sent, sent * 3 * t.n / t.pieces, depth, 2 * (t.p - 1) * t.pieces, 3.5 * t.p * t.n};
     }}};

constexpr Entry scan_table[] = {
    {"dissemination",
     [](T t) {
       return Cost{t.log2, t.log2 * t.n, t.log2, t.p * t.log2, t.p * t.log2 * t.n};
     }},
    // A rank that has told the next one is done: successive scans follow each other along the chain.
    {"chain",
     [](T t) {
       return Cost{t.p - 1, (t.p - 1) * t.n, (t.p - 1) / 8, t.p - 1, (t.p - 1) * t.n};
     }},
    {"two_tree", [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return Cost{sent, sent * 2 * t.n / t.pieces, depth, 2 * t.p * t.pieces, 3 * t.p * t.n};
     }}};

constexpr Entry scan_and_bcast_table[] = {
    {"dissemination",
     [](T t) {
       return Cost{2 * t.log2, 2 * t.log2 * t.n, 2 * t.log2, t.p * (t.log2 + 1), t.p * (t.log2 + 1) * t.n};
     }},
    {"chain",
     [](T t) {
       return Cost{t.p - 1 + t.log2, (t.p - 1 + t.log2) * t.n, (t.p - 1) / 2 + t.depth_4, 2 * t.p,
                   2 * t.p * t.n};
     }},
    {"two_tree", [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return Cost{sent, sent * 3 * t.n / t.pieces, depth, 3 * t.p * t.pieces, 4 * t.p * t.n};
     }}};

constexpr Entry reduce_scatter_table[] = {
    {"tree",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return Cost{received + t.p - 1, (1.5 * received + 1) * t.n, t.depth_32 + 1, 2 * t.p,
                   (1.5 * t.p + 1) * t.n};
     }},
    {"circulant",
     [](T t) {
       return Cost{t.log2, 1.5 * t.others * t.n, t.log2, t.p * t.log2, 1.5 * (t.p - 1) * t.n};
     },
     commutes},
    {"pairwise", [](T t) {
       return Cost{t.p - 1, 1.5 * t.others * t.n, 1, t.p * (t.p - 1), 2 * (t.p - 1) * t.n};
     }}};

constexpr Cost ordered_cost(T t) {
  const double steps = t.straight_depth + (t.straight_cubes > 1 ? 1 : 0);
  return {steps + t.straight_startups, t.p * t.n, steps, t.p - 1, (1 + t.straight_depth / 2) * t.p * t.n};
}
constexpr Cost direct_cost(T t) {
  return {t.p - 1, t.p * t.n, 1, t.p - 1, t.p * t.n};
}

// How many bytes irregular blocks have is known to nobody but the root: what is compared are the messages.

constexpr Entry gather_table[] = {
    {"binomial",
     [](T t) {
       return Cost{t.log2, t.p * t.n, t.log2, t.p - 1, (1 + t.log2 / 2) * t.p * t.n};
     }},
    {"radix_4",
     [](T t) {
       return Cost{3 * t.depth_4, t.p * t.n, t.depth_4, t.p - 1, (1 + t.depth_4 / 2) * t.p * t.n};
     }},
    {"radix_32",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return Cost{received, t.p * t.n, t.depth_32, t.p - 1, (1 + (t.depth_32 - 1)) * t.p * t.n};
     }},
    // Not chosen: what comes straight to the root comes all at once, and the root's work with it follows,
    // where a port is shared fairly; radix_4 is never more than a hundredth behind it where ports serve one
    // by one.
    {"ordered", nullptr},
    {"direct", direct_cost}};

constexpr Entry gatherv_table[] = {{"direct", direct_cost},
                                   {"led",
                                    [](T t) {
                                      return Cost{6 * t.depth_4, 0, 2 * t.depth_4, 2 * (t.p - 1), 0};
                                    }},
                                   {"tree", nullptr},
                                   {"combined", nullptr},
                                   {"binomial", nullptr}};

constexpr Entry scatter_table[] = {
    {"binomial",
     [](T t) {
       return Cost{t.log2, t.p * t.n, t.log2, t.p - 1, (1 + t.log2 / 2) * t.p * t.n};
     }},
    {"radix_4",
     [](T t) {
       return Cost{3 * t.depth_4, t.p * t.n, t.depth_4, t.p - 1, (1 + t.depth_4 / 2) * t.p * t.n};
     }},
    {"ordered", ordered_cost},
    {"direct", direct_cost}};

constexpr Entry scatterv_table[] = {{"direct", direct_cost},
                                    {"led",
                                     [](T t) {
                                       return Cost{3 * t.depth_4, 0, t.depth_4, t.p - 1, 0};
                                     }},
                                    {"tree", nullptr},
                                    {"binomial", nullptr}};

constexpr Cost allgather_dissemination_cost(T t) {
  return {t.log2, 1.5 * t.p * t.n, t.log2, t.p * t.log2, 2 * t.p * t.p * t.n};
}
/// Every other message passes the last rank and goes in two parts.
constexpr Cost allgather_circulant_cost(T t) {
  return {1.5 * t.log2, (t.p - 1) * t.n, t.log2, 1.5 * t.p * t.log2, t.p * (t.p - 1) * t.n};
}

constexpr Entry allgather_table[] = {{"dissemination", allgather_dissemination_cost},
                                     {"circulant", allgather_circulant_cost},
                                     {"tree", [](T t) {
                                        return Cost{t.siblings_32 * t.depth_32 + 3 * t.depth_4,
                                                    (1 + 3 * t.depth_4) * t.p * t.n, t.depth_32 + t.depth_4,
                                                    2 * (t.p - 1), t.p * t.p * t.n};
                                      }}};

constexpr Entry allgatherv_table[] = {{"dissemination", allgather_dissemination_cost},
                                      {"circulant", allgather_circulant_cost}};

constexpr Cost alltoall_direct_cost(T t) {
  return {t.p - 1, t.p * t.n, 1, t.p * (t.p - 1), t.p * t.p * t.n};
}
constexpr Cost alltoall_pairwise_cost(T t) {
  return {t.p, t.p * t.n, t.p - 1, t.p * (t.p - 1), t.p * t.p * t.n};
}

constexpr Entry alltoall_table[] = {{"bruck",
                                     [](T t) {
                                       return Cost{t.log2, (t.log2 + 2) * t.n * t.p / 2, t.log2, t.p * t.log2,
                                                   (t.log2 + 2) * t.p * t.p * t.n / 2};
                                     }},
                                    {"pairwise", alltoall_pairwise_cost},
                                    {"direct", alltoall_direct_cost}};

constexpr Entry alltoallv_table[] = {{"direct", alltoall_direct_cost}, {"pairwise", alltoall_pairwise_cost}};

struct Table {
  std::string_view operation;
  std::span<const Entry> entries;
};

/// By Operation.
constexpr Table tables[] = {{"barrier", barrier_table},
                            {"bcast", bcast_table},
                            {"reduce", reduce_table},
                            {"allreduce", allreduce_table},
                            {"scan", scan_table},
                            {"scan_and_bcast", scan_and_bcast_table},
                            {"reduce_scatter", reduce_scatter_table},
                            {"gather", gather_table},
                            {"gatherv", gatherv_table},
                            {"scatter", scatter_table},
                            {"scatterv", scatterv_table},
                            {"allgather", allgather_table},
                            {"allgatherv", allgatherv_table},
                            {"alltoall", alltoall_table},
                            {"alltoallv", alltoallv_table}};

/// Names of what there is no more, and what does the same.
struct Alias {
  Operation operation;
  std::string_view name;
  std::string_view means;
};
constexpr Alias aliases[] = {{Operation::bcast, "two_tree", "circulant"},
                             {Operation::bcast, "scatter_allgather", "circulant"},
                             {Operation::reduce, "two_tree", "circulant"},
                             {Operation::reduce, "scatter_gather", "circulant"},
                             {Operation::allreduce, "scatter_allgather", "circulant"},
                             {Operation::allreduce, "ring", "circulant"},
                             {Operation::reduce_scatter, "halving", "circulant"},
                             {Operation::allgather, "hypercube", "circulant"},
                             {Operation::allgather, "ring", "circulant"},
                             {Operation::allgatherv, "ring", "circulant"}};

constexpr int largest_direct = 1 << 24;  ///< of the search for where direct messages stop to pay

int find_named(std::span<const Entry> entries, const Case& of, std::string_view name, const char* call) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    names.push_back(entries[i].name);
    if (entries[i].name != name) continue;
    if (entries[i].is_allowed(of)) return static_cast<int>(i);
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} does not work with {} ranks{}", call, name, of.ranks,
                of.commutes ? "" : " and an operator that does not commute");
  }
  throw_error(MPI_ERR_ARG, "{}: algorithm = {} is not one of {}", call, name, joined(names, ", "));
}

int find_cheapest(std::span<const Entry> entries, const Case& of, const Machine& machine) {
  const Terms terms(of, machine);
  int cheapest = -1;
  double least = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].cost == nullptr || !entries[i].is_allowed(of)) continue;
    const double seconds = time_of(entries[i].cost(terms), machine, of.ranks);
    if (cheapest >= 0 && seconds >= least) continue;
    cheapest = static_cast<int>(i);
    least = seconds;
  }
  return cheapest;
}

int find_direct_ranks(const Machine& machine) {
  if (machine.direct_ranks > 0) return machine.direct_ranks;
  const auto is_direct = [&](int ranks) {
    return find_cheapest(gatherv_table, {ranks, 0, true}, machine) == 0;
  };
  int most = 1;
  while (most < largest_direct && is_direct(2 * most)) most *= 2;
  if (most == largest_direct) return most;
  for (int step = most / 2; step > 0; step /= 2) {
    if (is_direct(most + step)) most += step;
  }
  return most;
}

}  // namespace

int choose(World& world, Operation operation, const Case& of, std::string_view name, const char* call) {
  const std::span<const Entry> entries = tables[static_cast<std::size_t>(operation)].entries;
  if (!name.empty()) [[unlikely]] {
    const auto alias = std::ranges::find_if(
        aliases, [&](const Alias& one) { return one.operation == operation && one.name == name; });
    if (alias == std::end(aliases)) return find_named(entries, of, name, call);
    // Some of them took operators that do not commute.
    if (of.commutes) return find_named(entries, of, alias->means, call);
  }
  // Programs repeat themselves: the last choices are kept.
  World::Choice& kept =
      world.kept_choice(static_cast<std::uint32_t>(operation), of.ranks, of.bytes, of.commutes);
  if (kept.algorithm >= 0) return kept.algorithm;
  if (operation == Operation::gatherv || operation == Operation::scatterv) {
    kept.algorithm = of.ranks <= direct_ranks(world) ? 0 : 1;
  } else {
    kept.algorithm = find_cheapest(entries, of, world.machine());
  }
  return kept.algorithm;
}

int direct_ranks(World& world) {
  int& kept = world.kept_direct_ranks();
  if (kept == 0) kept = find_direct_ranks(world.machine());
  return kept;
}

}  // namespace detail

int direct_gatherv_ranks(const Comm& comm) {
  detail::check_usable(comm, "wisp::direct_gatherv_ranks");
  return detail::direct_ranks(detail::CommAccess::world(comm));
}

std::vector<std::string_view> algorithms_of(std::string_view operation) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> operations;
  for (const detail::Table& table : detail::tables) {
    operations.push_back(table.operation);
    if (table.operation != operation) continue;
    for (const detail::Entry& entry : table.entries) names.push_back(entry.name);
    return names;
  }
  detail::throw_error(MPI_ERR_ARG, "wisp::algorithms_of: operation = {} is not one of {}", operation,
                      detail::joined(operations, ", "));
}

}  // namespace wisp
