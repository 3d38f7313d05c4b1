#include "collectives/collective.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "collectives/host_operands.hpp"
#include "collectives/operation_body.hpp"
#include "collectives/run_to_the_end.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

const Collective* const rows[] = {&barrier_row,  &bcast_row,     &reduce_row,         &allreduce_row,
                                  &scan_row,     &exscan_row,    &scan_and_bcast_row, &reduce_scatter_row,
                                  &gather_row,   &gatherv_row,   &gatherm_row,        &scatter_row,
                                  &scatterv_row, &allgather_row, &allgatherv_row,     &allgatherm_row,
                                  &alltoall_row, &alltoallv_row, &exchange_row};

std::vector<std::string_view> names_of(const Collective& row) {
  std::vector<std::string_view> names;
  for (const Algorithm& one : row.algorithms) names.push_back(one.name);
  return names;
}

bool is_allowed(const Algorithm& algorithm, const Case& of) {
  return algorithm.is_allowed == nullptr || algorithm.is_allowed(of);
}

/// Of ranks in turn: what goes over a skip that is a multiple of the number of nodes stays, unless it passes
/// the last rank of nodes that are uneven.
double leaving_over_skips(const Case& of) {
  double blocks = 0;
  for (int size = of.ranks; size > 1;) {
    const int skip = (size + 1) / 2;
    const double sent = size - skip;
    if (skip % of.nodes.nodes != 0) {
      blocks += sent;
    } else if (!of.nodes.is_even) {
      blocks += sent * skip / of.ranks;
    }
    size = skip;
  }
  return blocks / (of.ranks - 1);
}

/// The part of the bytes that leave their sender's node.
double leaving(const Cost& cost, const Case& of) {
  const double nodes = of.nodes.nodes;
  const double rounds = std::log2(of.ranks);
  const double far = std::log2(nodes);
  if (of.nodes.is_binary_turn() && cost.traffic == Traffic::rounds) return far / rounds;
  if (leaves_with_few(of, cost.traffic)) return nodes / of.ranks;
  if (of.nodes.in_order && cost.traffic == Traffic::rounds) return std::min(1.0, (far + 1) / rounds);
  if (of.nodes.in_order && cost.traffic == Traffic::tree) return (nodes - 1) / (of.ranks - 1);
  if (of.nodes.in_order && cost.traffic == Traffic::in_order_tree) {
    // Of the messages that go 2^k far, min(2^k / most, 1) pass a border: summed over all k.
    const double most = of.nodes.most;
    return std::min(1.0, (1 + std::log2(most) / 2) / most) * (1 - 1 / nodes);
  }
  if (of.nodes.in_turn && cost.traffic == Traffic::circulant) return leaving_over_skips(of);
  return (of.ranks - of.nodes.most) / (of.ranks - 1.0);
}

/// The same on the longest path: all, unless that path is all that there is.
double leaving_on_path(const Cost& cost, const Case& of) {
  return cost.startups >= cost.messages ? leaving(cost, of) : 1;
}

/// How long a node's ranks need its port longer than one rank does that has it for itself.
double wait_for_port(const Cost& cost, const Case& of, const Machine& machine) {
  // What is joined or copied counts half more, but not at the port.
  const bool counts_more = cost.traffic == Traffic::rounds || cost.traffic == Traffic::growing ||
                           cost.traffic == Traffic::circulant;
  const double bytes = counts_more ? cost.bytes / 1.5 : cost.bytes;
  const double volume = cost.traffic == Traffic::in_order_tree ? cost.volume / 1.5 : cost.volume;
  if (of.lanes > 1) return (of.lanes - 1) * bytes * machine.seconds_per_byte;
  if (!of.has_nodes()) return 0;
  const double of_node = std::min(volume * of.nodes.most / of.ranks, bytes * of.nodes.most);
  return std::max(0.0, of_node * leaving(cost, of) - bytes) * machine.seconds_per_byte;
}

double seconds_of(const Cost& cost, const Case& of, const Machine& machine) {
  if (cost.seconds >= 0) return cost.seconds;
  const double seconds = machine.shares_cores && of.has_nodes()
                             ? time_on_shared_cores(cost, machine.on_average(leaving_on_path(cost, of)),
                                                    machine.on_average(leaving(cost, of)), of.ranks)
                             : time_of(cost, machine, of.ranks);
  return seconds + wait_for_port(cost, of, machine);
}

struct Cheapest {
  std::size_t algorithm = 0;
  double seconds = -1;
};

/// Among all, or those that `may` be.
Cheapest find_cheapest(const Collective& row, const Case& of, const Machine& machine,
                       const std::function<bool(const Algorithm&)>& may = {}) {
  const Terms terms(of, machine);
  Cheapest cheapest;
  for (std::size_t i = 0; i < row.algorithms.size(); ++i) {
    const Algorithm& algorithm = row.algorithms[i];
    if (algorithm.cost == nullptr || !is_allowed(algorithm, of) || (may && !may(algorithm))) continue;
    if (is_of_nodes(algorithm.name) && !of.has_nodes()) continue;
    const double seconds = seconds_of(algorithm.cost(terms), of, machine);
    if (cheapest.seconds < 0 || seconds < cheapest.seconds) cheapest = {i, seconds};
  }
  return cheapest;
}

/// Programs repeat themselves: the last choices are kept.
std::size_t choose(World& world, const Collective& row, const Case& of) {
  if (row.algorithms.size() == 1) return 0;
  World::Choice& kept = world.kept_choice(
      {&row, of.ranks, of.bytes, static_cast<int>(of.kind), of.nodes, of.level, of.lanes, -1});
  if (kept.algorithm < 0) {
    const Machine machine = of.lanes > 1 ? between_members(world.machine())
                                         : world.machine(of.nodes.is_one() ? Level::inside : of.level);
    const std::size_t chosen =
        row.pick != nullptr ? row.pick(world, of) : find_cheapest(row, of, machine).algorithm;
    kept.algorithm = static_cast<int>(chosen);
  }
  return as_size(kept.algorithm);
}

const Algorithm* find_named(const Collective& row, const Case& of, std::string_view name, const char* call) {
  const auto alias = std::ranges::find(row.aliases, name, &Alias::name);
  if (alias != row.aliases.end()) {
    // Some of them took operators that do not commute.
    if (!commutes(of)) return nullptr;
    name = alias->means;
  }
  const auto found = std::ranges::find(row.algorithms, name, &Algorithm::name);
  if (found == row.algorithms.end()) {
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} is not one of {}", call, name, joined(names_of(row), ", "));
  }
  if (!is_allowed(*found, of)) {
    Case commuting = of;
    commuting.kind = OperatorKind::commutative;
    if (!is_allowed(*found, commuting)) {
      commuting.nodes.in_order = true;
      throw_error(
          MPI_ERR_ARG, "{}: algorithm = {} does not work with nodes {}", call, name,
          is_allowed(*found, commuting) ? "whose ranks do not follow each other" : "of different sizes");
    }
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} does not work with an operator that {}", call, name,
                takes_parts(of) ? "does not commute" : "is a function of one's own");
  }
  return &*found;
}

constexpr int largest_direct = 1 << 24;  ///< of the search for where direct messages stop to pay

int find_direct_ranks(const Machine& machine) {
  if (machine.direct_ranks > 0) return machine.direct_ranks;
  const auto is_direct = [&](int ranks) {
    return find_cheapest(gatherv_row, {ranks, 0, OperatorKind::commutative}, machine).algorithm == 0;
  };
  int most = 1;
  while (most < largest_direct && is_direct(2 * most)) most *= 2;
  if (most == largest_direct) return std::numeric_limits<int>::max();
  for (int step = most / 2; step > 0; step /= 2) {
    if (is_direct(most + step)) most += step;
  }
  return most;
}

}  // namespace

double least_seconds(const Collective& row, const Case& of, const Machine& machine) {
  return find_cheapest(row, of, machine).seconds;
}

std::string_view cheapest_algorithm(const Collective& row, const Case& of, const Machine& machine) {
  return row.algorithms[find_cheapest(row, of, machine).algorithm].name;
}

/// An algorithm with its arguments. (Coroutines hold it: it has a name for all files.)
struct AlgorithmRun {
  const Algorithm* algorithm;
  Arguments given;

  [[gnu::hot]] Task<> operator()(Channel&& channel) const {
    if (given.is_nothing()) return nothing();
    if (given.nodes && given.nodes->shape().is_one())
      channel = channel.among(channel.group(), channel.rank(), Level::inside);
    const bool wants_memory = algorithm->make_memory != nullptr && given.memory == nullptr;
    const bool is_metered = given.is_metered(channel.world());
    const bool is_on_device = given.is_joined_on_device();
    const bool has_function = given.has_function();
    if (!wants_memory && !is_metered && !is_on_device && !has_function) [[likely]]
      return algorithm->run(std::move(channel), given);
    Arguments for_one_run = is_metered ? given.metered(channel.world()) : given;
    if (wants_memory) for_one_run.memory = algorithm->make_memory();
    if (has_function) return run_to_the_end(std::move(channel), for_one_run, algorithm->run);
    if (is_on_device) return run_on_host(std::move(channel), for_one_run, algorithm->run);
    return algorithm->run(std::move(channel), for_one_run);
  }
  void prepare_to_repeat() {
    if (algorithm->make_memory != nullptr) given.memory = algorithm->make_memory();
  }
  Alike alike() const { return given.alike(algorithm->name); }
  void own_arguments(KeptArguments& kept) { given.own_arguments(kept); }
};

Task<> run_cheapest(const Collective& row, Channel channel, const Arguments& given, int lanes) {
  Case of{channel.size(), as_size(std::max<std::int64_t>(given.bytes, 0)), given.kind, {}, channel.level()};
  of.shares_port = of.level == Level::between;
  of.lanes = lanes;
  const Algorithm& algorithm = row.algorithms[choose(channel.world(), row, of)];
  if (algorithm.make_memory == nullptr) return algorithm.run(std::move(channel), given);
  Arguments with_memory = given;
  with_memory.memory = algorithm.make_memory();
  return algorithm.run(std::move(channel), with_memory);
}

double promised_gain(const Comm& comm, const Collective& row, std::size_t bytes) {
  World& world = CommAccess::world(comm);
  const EngineLock lock(world.engine(), "wisp::promised_gain");
  Case of{comm.size(), bytes, OperatorKind::commutative};
  if (!world.nodes().is_flat()) of.nodes = CommAccess::nodes(comm)->shape();
  const Machine& machine = world.machine();
  const auto is_plain = [&](const Algorithm& one) {
    if (row.plain.empty()) return !is_of_nodes(one.name);
    return std::ranges::find(row.plain, one.name) != row.plain.end();
  };
  const double plain = find_cheapest(row, of, machine, is_plain).seconds;
  const Algorithm& chosen = row.algorithms[choose(world, row, of)];
  if (chosen.cost == nullptr || plain < 0) return 1;
  return plain / seconds_of(chosen.cost(Terms(of, machine)), of, machine);
}

int direct_ranks(World& world) {
  int& kept = world.kept_direct_ranks();
  if (kept == 0) kept = find_direct_ranks(world.machine());
  return kept;
}

namespace {

/// What the options name; empty: nothing.
std::string_view named_in(const CollectiveOptions& options, const Collective& row, const char* call) {
  if (!options.reproducible || row.reproducible.empty()) [[likely]]
    return options.algorithm;
  if (options.algorithm.empty()) return row.reproducible;
  throw_error(MPI_ERR_ARG, "{}: algorithm = {} beside reproducible, which is one of its own", call,
              options.algorithm);
}

/// The algorithm that is named or, remembered for the next call, the cheapest.
[[gnu::noinline]] const Algorithm* find_algorithm(const Comm& comm, const Collective& row,
                                                  std::string_view name, const Call& call,
                                                  std::size_t bytes) {
  World& world = CommAccess::world(comm);
  const MPI_Op op = call.given.op.mpi_op();
  if (op != MPI_OP_NULL && !world.knows(op, call.given.type)) {
    check_defined(call.name, op, call.given.type);
    if (is_of_mpi(op) && plain_size_of(call.given.type) > 0) world.learn(op, call.given.type);
  }
  Case of{comm.size(), bytes, call.given.kind};
  if (call.given.nodes) of.nodes = call.given.nodes->shape();
  const Algorithm* named = name.empty() ? nullptr : find_named(row, of, name, call.name);
  if (named != nullptr) return named;
  const Algorithm* chosen = &row.algorithms[choose(world, row, of)];
  if (name.empty()) {
    auto& latest = CommAccess::context(comm)->latest;
    latest[1] = latest[0];
    latest[0] = {&row, bytes, static_cast<int>(call.given.kind), op, call.given.type, chosen};
  }
  return chosen;
}

}  // namespace

[[gnu::hot]] Operation make_operation(const Comm& comm, const Collective& row,
                                      const CollectiveOptions& options, Call&& call, std::size_t bytes) {
  World& world = CommAccess::world(comm);
  const EngineLock lock(world.engine(), call.name);
  const std::string_view name = named_in(options, row, call.name);
  if (!world.nodes().is_flat() || is_of_nodes(name)) call.given.nodes = CommAccess::nodes(comm);
  const auto is_it = [&, op = call.given.op.mpi_op()](const Context::Latest& kept) {
    return kept.operation == &row && kept.bytes == bytes && kept.kind == static_cast<int>(call.given.kind) &&
           kept.op == op && (op == MPI_OP_NULL || kept.type == call.given.type);
  };
  const auto& latest = CommAccess::context(comm)->latest;
  const Context::Latest* known = !name.empty()      ? nullptr
                                 : is_it(latest[0]) ? &latest[0]
                                 : is_it(latest[1]) ? &latest[1]
                                                    : nullptr;
  const auto* algorithm = known != nullptr ? static_cast<const Algorithm*>(known->algorithm)
                                           : find_algorithm(comm, row, name, call, bytes);
  return operation_on<AlgorithmRun>(comm, call.name, options.own_tag, algorithm, std::move(call.given));
}

}  // namespace detail

int direct_gatherv_ranks(const Comm& comm) {
  detail::check_usable(comm, "wisp::direct_gatherv_ranks");
  const detail::EngineLock lock =
      detail::lock(detail::CommAccess::context(comm), "wisp::direct_gatherv_ranks");
  return detail::direct_ranks(detail::CommAccess::world(comm));
}

std::vector<std::string_view> algorithms_of(std::string_view operation) {
  std::vector<std::string_view> operations;
  for (const detail::Collective* row : detail::rows) {
    if (row->name == operation) return detail::names_of(*row);
    operations.push_back(row->name);
  }
  detail::throw_error(MPI_ERR_ARG, "wisp::algorithms_of: operation = {} is not one of {}", operation,
                      detail::joined(operations, ", "));
}

}  // namespace wisp
