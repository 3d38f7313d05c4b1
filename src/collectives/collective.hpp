#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "collectives/algorithms.hpp"
#include "collectives/call.hpp"
#include "collectives/cost_terms.hpp"
#include "comm/comm_access.hpp"

/// What a collective is made of: a function that checks its arguments, and its algorithms, each with its
/// cost.

namespace wisp::detail {

/// Those of the root; none elsewhere.
inline BlockList blocks_from_root(const Channel& channel, const Arguments& given) {
  return channel.rank() == given.root ? given.blocks_to_send(channel.size()) : BlockList();
}
inline BlockList blocks_to_root(const Channel& channel, const Arguments& given) {
  return channel.rank() == given.root ? given.blocks_to_receive(channel.size()) : BlockList();
}

struct Algorithm {
  std::string_view name;
  /// Without one, it is there to be named only.
  Cost (*cost)(const Terms&);
  Task<> (*run)(Channel&& channel, const Arguments& given);
  bool (*is_allowed)(const Case&) = nullptr;
  std::shared_ptr<void> (*make_memory)() = nullptr;
};

constexpr std::string_view two_level_name = "two_level";
constexpr std::string_view lanes_name = "lanes";
constexpr std::string_view fixed_order_name = "fixed_order";
constexpr bool is_of_nodes(std::string_view algorithm) {
  return algorithm == two_level_name || algorithm == lanes_name;
}

/// The name of what there is no more, and of what does the same.
struct Alias {
  std::string_view name;
  std::string_view means;
};

/// The row of a collective in the table of all.
struct Collective {
  std::string_view name;
  std::span<const Algorithm> algorithms;
  std::span<const Alias> aliases = {};
  /// Picks an algorithm; null: the cheapest does.
  std::size_t (*pick)(World&, const Case&) = nullptr;
  /// The algorithms that MPI libraries have too; none: all but those of nodes.
  std::span<const std::string_view> plain = {};
  /// Which one joins in an order that depends on the number of ranks alone; empty: it joins nothing.
  std::string_view reproducible = {};
};

extern const Collective barrier_row, bcast_row, reduce_row, allreduce_row, scan_row, exscan_row,
    scan_and_bcast_row, reduce_scatter_row, gather_row, gatherv_row, gatherm_row, scatter_row, scatterv_row,
    allgather_row, allgatherv_row, allgatherm_row, alltoall_row, alltoallv_row, exchange_row;

/// The name of the cheapest algorithm.
std::string_view cheapest_algorithm(const Collective& row, const Case& of, const Machine& machine);

/// The algorithm that is chosen on a channel whose ranks are all on one node, or all on different ones; then
/// one of so many that share their nodes' ports.
Task<> run_cheapest(const Collective& row, Channel channel, const Arguments& given, int lanes = 1);

/// By the cost model, the time of the best algorithm that MPI libraries have too over that of the chosen one.
double promised_gain(const Comm& comm, const Collective& row, std::size_t bytes);

int direct_ranks(World& world);
constexpr std::string_view direct_alone[] = {"direct"};
/// Of gatherv and scatterv, whose first algorithm is direct and whose second is not.
inline std::size_t pick_direct(World& world, const Case& of) {
  return of.ranks <= direct_ranks(world) ? 0 : 1;
}
inline Cost direct_cost(const Terms& t) {
  return over_tree({t.p - 1, t.p * t.n, 1, t.p - 1, t.p * t.n, t.fan_of_nodes(t.n)});
}
Task<> gather_directly(Channel&& channel, const Arguments& given);
Task<> scatter_directly(Channel&& channel, const Arguments& given);

/// Of trees in which every message straight to the root is announced by another.
inline std::uint64_t announced_threshold(const Machine& machine) {
  return 4 * straight_threshold(machine);
}

template <class Memory>
std::shared_ptr<void> make_memory() {
  return std::make_shared<Memory>();
}

/// For tables: of operators that commute, and of those that take any part of a vector.
inline bool commutes(const Case& of) {
  return of.kind == OperatorKind::commutative;
}
inline bool takes_parts(const Case& of) {
  return of.kind != OperatorKind::whole;
}

inline Call call_on(const Comm& comm, const char* name) {
  check_member(comm, name);
  return {name, comm.rank(), comm.size()};
}

/// `bytes` is what the choice of an algorithm depends on, where that are not those of the arguments.
Operation make_operation(const Comm& comm, const Collective& row, const CollectiveOptions& options,
                         Call&& call, std::size_t bytes);
inline Operation make_operation(const Comm& comm, const Collective& row, const CollectiveOptions& options,
                                Call&& call) {
  const auto bytes = as_size(std::max<std::int64_t>(call.given.bytes, 0));
  return make_operation(comm, row, options, std::move(call), bytes);
}

}  // namespace wisp::detail
