#include "collectives/collective.hpp"

#include <algorithm>
#include <vector>

#include "collectives/operation_body.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

const Collective* const rows[] = {&barrier_row,  &bcast_row,     &reduce_row,         &allreduce_row,
                                  &scan_row,     &exscan_row,    &scan_and_bcast_row, &reduce_scatter_row,
                                  &gather_row,   &gatherv_row,   &gatherm_row,        &scatter_row,
                                  &scatterv_row, &allgather_row, &allgatherv_row,     &allgatherm_row,
                                  &alltoall_row, &alltoallv_row};

std::vector<std::string_view> names_of(const Collective& row) {
  std::vector<std::string_view> names;
  for (const Algorithm& one : row.algorithms) names.push_back(one.name);
  return names;
}

bool is_allowed(const Algorithm& algorithm, const Case& of) {
  return algorithm.is_allowed == nullptr || algorithm.is_allowed(of);
}

std::size_t find_cheapest(const Collective& row, const Case& of, const Machine& machine) {
  const Terms terms(of, machine);
  std::size_t cheapest = 0;
  double least = -1;
  for (std::size_t i = 0; i < row.algorithms.size(); ++i) {
    const Algorithm& algorithm = row.algorithms[i];
    if (algorithm.cost == nullptr || !is_allowed(algorithm, of)) continue;
    const double seconds = time_of(algorithm.cost(terms), machine, of.ranks);
    if (least >= 0 && seconds >= least) continue;
    cheapest = i;
    least = seconds;
  }
  return cheapest;
}

/// Programs repeat themselves: the last choices are kept.
std::size_t choose(World& world, const Collective& row, const Case& of) {
  if (row.algorithms.size() == 1) return 0;
  World::Choice& kept = world.kept_choice(&row, of.ranks, of.bytes, of.commutes);
  if (kept.algorithm < 0) {
    kept.algorithm =
        static_cast<int>(row.pick != nullptr ? row.pick(world, of) : find_cheapest(row, of, world.machine()));
  }
  return static_cast<std::size_t>(kept.algorithm);
}

const Algorithm* find_named(const Collective& row, const Case& of, std::string_view name, const char* call) {
  const auto alias = std::ranges::find(row.aliases, name, &Alias::name);
  if (alias != row.aliases.end()) {
    // Some of them took operators that do not commute.
    if (!of.commutes) return nullptr;
    name = alias->means;
  }
  const auto found = std::ranges::find(row.algorithms, name, &Algorithm::name);
  if (found == row.algorithms.end()) {
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} is not one of {}", call, name, joined(names_of(row), ", "));
  }
  if (!is_allowed(*found, of)) {
    throw_error(MPI_ERR_ARG, "{}: algorithm = {} does not work with {} ranks{}", call, name, of.ranks,
                of.commutes ? "" : " and an operator that does not commute");
  }
  return &*found;
}

constexpr int largest_direct = 1 << 24;  ///< of the search for where direct messages stop to pay

int find_direct_ranks(const Machine& machine) {
  if (machine.direct_ranks > 0) return machine.direct_ranks;
  const auto is_direct = [&](int ranks) {
    return find_cheapest(gatherv_row, {ranks, 0, true}, machine) == 0;
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

/// An algorithm with its arguments. (Coroutines hold it: it has a name for all files.)
struct AlgorithmRun {
  const Algorithm* algorithm;
  Arguments given;

  Task<> operator()(Channel channel) const {
    if (given.is_nothing()) return nothing();
    if (algorithm->make_memory == nullptr || given.memory != nullptr) [[likely]]
      return algorithm->run(std::move(channel), given);
    Arguments for_one_run = given;
    for_one_run.memory = algorithm->make_memory();
    return algorithm->run(std::move(channel), for_one_run);
  }
  void prepare_to_repeat() {
    if (algorithm->make_memory != nullptr) given.memory = algorithm->make_memory();
  }
  Alike alike() const { return {given.root, given.bytes, given.op}; }
  void replace_types(KeptTypes& types) {
    types.replace(given.send);
    types.replace(given.receive);
    types.replace(given.total);
  }
};

int direct_ranks(World& world) {
  int& kept = world.kept_direct_ranks();
  if (kept == 0) kept = find_direct_ranks(world.machine());
  return kept;
}

bool commutes(MPI_Op op) {
  int commutative = 0;
  check_mpi(MPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  return commutative != 0;
}

Arguments reduction_arguments(const ConstBuffer& input, const Buffer& receive, MPI_Op op) {
  Arguments arguments;
  arguments.send = ConstBlocks(input, {});
  arguments.receive = Blocks(receive, {});
  arguments.op = op;
  arguments.any_order = commutes(op);
  arguments.bytes = signed_of(bytes_of(input));
  return arguments;
}

Operation make_operation(const Comm& comm, const char* call, const Collective& row, Arguments&& arguments,
                         std::size_t bytes, const CollectiveOptions& options) {
  const Case of{comm.size(), bytes, arguments.any_order};
  const Algorithm* algorithm =
      options.algorithm.empty() ? nullptr : find_named(row, of, options.algorithm, call);
  if (algorithm == nullptr) algorithm = &row.algorithms[choose(CommAccess::world(comm), row, of)];
  return operation_on<AlgorithmRun>(comm, call, options.own_tag, algorithm, std::move(arguments));
}

}  // namespace detail

int direct_gatherv_ranks(const Comm& comm) {
  detail::check_usable(comm, "wisp::direct_gatherv_ranks");
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
