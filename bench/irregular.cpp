// gatherv and scatterv of irregular blocks: wisp beside MPI, and beside what a user could do with regular
// collectives instead (Träff 2019, sections 4 and 5).
//
// Guideline 1: a regular gather of equal blocks takes no longer than gatherv of them. Guideline 2: gatherv
// takes no longer than agreeing on the largest block (allreduce) and a regular gather of blocks of that size.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "benchmarks.hpp"
#include "binomial_blocks.hpp"
#include "block_sizes.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

constexpr double slack = 1.05;  ///< of a guideline

/// The blocks of one cell. A rank that is a root has room for all of them.
struct BlocksCell {
  std::string case_name;
  std::size_t block_bytes;
  std::vector<int> counts;
  std::vector<int> displacements;
  int largest;
  int rank;
  std::vector<int> own;     ///< as long as the largest block
  std::vector<int> all;     ///< blocks of their own sizes, one behind the other
  std::vector<int> padded;  ///< blocks of the largest size

  int count() const { return counts[static_cast<std::size_t>(rank)]; }
  /// Mine of the blocks of their own sizes, and mine padded.
  ConstBuffer mine() const { return {own.data(), static_cast<std::size_t>(count()), MPI_INT}; }
  Buffer mine() { return {own.data(), static_cast<std::size_t>(count()), MPI_INT}; }
};

/// Padded blocks must fit into memory, of a simulated MPI with what its trees keep on the way.
bool can_be_padded(const BlocksCell& cell) {
  const double most_bytes = is_simulated_mpi() ? 1e9 : 16e9;
  return 4.0 * cell.largest * static_cast<double>(cell.counts.size()) < most_bytes;
}

/// The root moves; where MPI is simulated, all ranks are in one process, and only one has room for all
/// blocks.
int first_root(int ranks) {
  return ranks / 2;
}
bool is_a_root(int rank, int ranks) {
  return !is_simulated_mpi() || rank == first_root(ranks);
}

BlocksCell make_cell(const Distribution& distribution, int average, int ranks, int rank) {
  const std::vector<std::int64_t> wide = distribution.counts(ranks, average);
  BlocksCell cell;
  cell.case_name = fmt::format("{},b={}", distribution.name, average);
  cell.block_bytes = static_cast<std::size_t>(average) * sizeof(int);
  cell.counts.assign(wide.begin(), wide.end());
  cell.displacements.resize(cell.counts.size());
  std::exclusive_scan(cell.counts.begin(), cell.counts.end(), cell.displacements.begin(), 0);
  cell.largest = *std::max_element(cell.counts.begin(), cell.counts.end());
  cell.rank = rank;
  cell.own.resize(static_cast<std::size_t>(cell.largest));
  if (is_a_root(rank, ranks)) {
    cell.all.resize(static_cast<std::size_t>(std::reduce(wide.begin(), wide.end())));
    if (can_be_padded(cell)) cell.padded.resize(static_cast<std::size_t>(cell.largest) * cell.counts.size());
  }
  return cell;
}

std::vector<Distribution> chosen_distributions(std::string_view bench, const Options& options,
                                               const std::vector<std::string_view>& algorithms) {
  std::vector<Distribution> chosen;
  std::vector<std::string_view> names;
  for (const Distribution& distribution : distributions) {
    names.push_back(distribution.name);
    if (options.op.empty() || options.op == distribution.name) chosen.push_back(distribution);
  }
  check_choice(bench, "--op", options.op, names);
  check_choice(bench, "--algorithm", options.algorithm, algorithms);
  return chosen;
}

std::vector<int> chosen_averages(const Options& options) {
  return sizes_of(options, {1, 100, 10'000}, {1, 10, 100, 1'000, 10'000, 100'000});
}

/// Which of the two operations, and what MPI calls it.
struct Irregular {
  const char* bench;
  const char* mpi_irregular;
  const char* mpi_regular;
  const char* regular;
  void (*wisp)(const Comm&, BlocksCell&, int root, const CollectiveOptions&);
  void (*wisp_regular)(const Comm&, BlocksCell&, int root);
  int (*mpi)(BlocksCell&, int root);
  int (*mpi_padded)(BlocksCell&, int root);
  /// Sets what an operation reads to something that depends on the rank, and what it writes to nothing.
  void (*fill)(BlocksCell&);
  const std::vector<int>& (*result)(const BlocksCell&);
};

const Irregular gatherv_operation = {
    "gatherv",
    "MPI_Gatherv",
    "MPI_Gather",
    "wisp-gather",
    [](const Comm& comm, BlocksCell& cell, int root, const CollectiveOptions& options) {
      comm.gatherv(std::as_const(cell).mine(), Blocks(cell.all, cell.counts, cell.displacements), root,
                   options);
    },
    [](const Comm& comm, BlocksCell& cell, int root) { comm.gather(cell.own, cell.padded, root); },
    [](BlocksCell& cell, int root) {
      return MPI_Gatherv(cell.own.data(), cell.count(), MPI_INT, cell.all.data(), cell.counts.data(),
                         cell.displacements.data(), MPI_INT, root, MPI_COMM_WORLD);
    },
    [](BlocksCell& cell, int root) {
      return MPI_Gather(cell.own.data(), cell.largest, MPI_INT, cell.padded.data(), cell.largest, MPI_INT,
                        root, MPI_COMM_WORLD);
    },
    [](BlocksCell& cell) {
      std::iota(cell.own.begin(), cell.own.end(), cell.rank);
      std::fill(cell.all.begin(), cell.all.end(), -1);
    },
    [](const BlocksCell& cell) -> const std::vector<int>& { return cell.all; }};

const Irregular scatterv_operation = {
    "scatterv",
    "MPI_Scatterv",
    "MPI_Scatter",
    "wisp-scatter",
    [](const Comm& comm, BlocksCell& cell, int root, const CollectiveOptions& options) {
      comm.scatterv(ConstBlocks(cell.all, cell.counts, cell.displacements), cell.mine(), root, options);
    },
    [](const Comm& comm, BlocksCell& cell, int root) { comm.scatter(cell.padded, cell.own, root); },
    [](BlocksCell& cell, int root) {
      return MPI_Scatterv(cell.all.data(), cell.counts.data(), cell.displacements.data(), MPI_INT,
                          cell.own.data(), cell.count(), MPI_INT, root, MPI_COMM_WORLD);
    },
    [](BlocksCell& cell, int root) {
      return MPI_Scatter(cell.padded.data(), cell.largest, MPI_INT, cell.own.data(), cell.largest, MPI_INT,
                         root, MPI_COMM_WORLD);
    },
    [](BlocksCell& cell) {
      std::iota(cell.all.begin(), cell.all.end(), cell.rank);
      std::fill(cell.own.begin(), cell.own.end(), -1);
    },
    [](const BlocksCell& cell) -> const std::vector<int>& { return cell.own; }};

/// wisp must end with what MPI ends with.
void check_result(const Comm& comm, const Irregular& of, BlocksCell& cell, int root) {
  of.fill(cell);
  detail::check_mpi(of.mpi(cell, root), of.mpi_irregular);
  const std::vector<int> expected = of.result(cell);
  of.fill(cell);
  detail::check_mpi(MPI_Barrier(MPI_COMM_WORLD),
                    "MPI_Barrier");  // or who is done first looks for messages for long
  of.wisp(comm, cell, root, {});
  if (of.result(cell) == expected) return;
  throw Error(MPI_ERR_OTHER, fmt::format("wisp bench {}: {} differs from {} on rank {}", of.bench,
                                         cell.case_name, of.mpi_irregular, comm.rank()));
}

/// Marks what breaks a guideline: an irregular operation that takes longer than the second allows, or a
/// regular one that takes longer than the irregular one of equal blocks.
void mark(std::vector<Row>& rows, const std::string& guideline_2, const char* of_any_blocks,
          const char* of_equal_blocks) {
  const auto time_of = [&](const std::string& variant) -> const Row* {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.variant == variant; });
    return row == rows.end() ? nullptr : &*row;
  };
  const Row* bound = time_of(guideline_2);
  const Row* of_equal = time_of(of_any_blocks);
  for (Row& row : rows) {
    if (bound != nullptr && row.variant == of_any_blocks && row.median_us > slack * bound->median_us)
      row.mark = "!2";
    const bool is_equal = row.case_name.starts_with("same,");
    if (is_equal && of_equal != nullptr && row.variant == of_equal_blocks &&
        row.median_us > slack * of_equal->median_us) {
      row.mark = "!1";
    }
  }
}

void bench_irregular(const Irregular& of, const Options& options) {
  const Comm comm = all_ranks();
  const int ranks = comm.size();
  Report report(options,
                fmt::format("{}; {}; !1, !2: breaks that guideline by more than 5 %",
                            title_of(of.bench, MPI_COMM_WORLD), text_of_direct(direct_gatherv_ranks(comm))),
                comm.rank() == 0);
  const Method method = method_of(options);
  const CollectiveOptions algorithm{{}, options.algorithm};
  for (const Distribution& distribution : chosen_distributions(of.bench, options, algorithms_of(of.bench))) {
    for (const int average : chosen_averages(options)) {
      BlocksCell cell = make_cell(distribution, average, ranks, comm.rank());
      for (const int root : {first_root(ranks), 0}) {
        if (is_a_root(root, ranks)) check_result(comm, of, cell, root);
      }
      const auto root_of = [ranks](int call) { return (first_root(ranks) + call) % ranks; };
      std::vector<Variant> variants = {
          {"wisp", [&](int call) { of.wisp(comm, cell, root_of(call), algorithm); }},
          {of.mpi_irregular,
           [&](int call) { detail::check_mpi(of.mpi(cell, root_of(call)), of.mpi_irregular); }}};
      if (can_be_padded(cell)) {
        variants.push_back({of.mpi_regular, [&](int call) {
                              detail::check_mpi(of.mpi_padded(cell, root_of(call)), of.mpi_regular);
                            }});
        variants.push_back({"guideline-2", [&](int call) {
                              int largest = cell.count();
                              detail::check_mpi(
                                  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD),
                                  "MPI_Allreduce");
                              detail::check_mpi(of.mpi_padded(cell, root_of(call)), of.mpi_regular);
                            }});
        variants.push_back({of.regular, [&](int call) { of.wisp_regular(comm, cell, root_of(call)); }});
      }
      const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method);
      std::vector<Row> rows =
          rows_of({.bench = of.bench, .case_name = cell.case_name, .ranks = ranks, .bytes = cell.block_bytes},
                  variants, timings);
      mark(rows, "guideline-2", "wisp", of.regular);
      mark(rows, "guideline-2", of.mpi_irregular, of.mpi_regular);
      report.add(rows);
    }
  }
}

/// One run of an operation on a simulated cluster. The blocks of all ranks lie in the same memory, so that
/// large ones fit: what arrives where is the tests' affair.
struct SimulatedCell {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> same_place;
  std::size_t largest;
  std::vector<int> memory;

  SimulatedCell(const Distribution& distribution, int average, int ranks)
      : counts(distribution.counts(ranks, average)),
        same_place(counts.size()),
        largest(static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()))),
        memory(largest) {}
};

/// What wisp does not do, to compare with.
constexpr std::string_view binomial = "binomial";

Task<> gatherv_simulated(Comm comm, SimulatedCell& cell, int root, CollectiveOptions options) {
  const auto count = static_cast<std::size_t>(cell.counts[static_cast<std::size_t>(comm.rank())]);
  const ConstBuffer send(cell.memory.data(), count, MPI_INT);
  const Blocks receive(cell.memory.data(), cell.counts, cell.same_place, MPI_INT);
  if (options.algorithm == binomial) {
    co_await gatherv_binomial(comm, send, receive, root);
  } else {
    co_await gatherv(comm, send, receive, root, options);
  }
}
Task<> scatterv_simulated(Comm comm, SimulatedCell& cell, int root, CollectiveOptions options) {
  const auto count = static_cast<std::size_t>(cell.counts[static_cast<std::size_t>(comm.rank())]);
  const ConstBlocks send(cell.memory.data(), cell.counts, cell.same_place, MPI_INT);
  const Buffer receive(cell.memory.data(), count, MPI_INT);
  if (options.algorithm == binomial) {
    co_await scatterv_binomial(comm, send, receive, root);
  } else {
    co_await scatterv(comm, send, receive, root, options);
  }
}

struct SimulatedOperation {
  const char* bench;
  const char* regular;
  Task<> (*irregular)(Comm, SimulatedCell&, int root, CollectiveOptions);
  /// Of blocks of the largest size; `all` are the root's.
  Operation (*padded)(const Comm&, SimulatedCell&, std::vector<int>& all, int root);
};

/// The regular operation on blocks of the largest size, on which the ranks may have to agree first.
Task<> run_padded(Comm comm, const SimulatedOperation& of, SimulatedCell& cell, int root, bool agrees_first) {
  const auto count = cell.counts[static_cast<std::size_t>(comm.rank())];
  std::int64_t largest = 0;
  if (agrees_first) co_await allreduce(comm, buffer_of(count), buffer_of(largest), MPI_MAX);
  std::vector<int> all(comm.rank() == root ? cell.largest * cell.counts.size() : 0);
  co_await of.padded(comm, cell, all, root);
}

void simulate_irregular(const SimulatedOperation& of, const Options& options,
                        const SimulationOptions& cluster) {
  // One look tells where messages are direct.
  int most = 0;
  SimulationOptions untraced = cluster;
  untraced.trace.clear();
  simulate(untraced, [&](Comm comm) -> Task<> {
    if (comm.rank() == 0) most = direct_gatherv_ranks(comm);
    co_return;
  });
  Report report(
      options,
      fmt::format("wisp simulate {}: {} ranks, virtual time; {}; !1, !2: breaks that guideline by more "
                  "than 5 %",
                  of.bench, cluster.ranks, text_of_direct(most)),
      true);
  const int root = cluster.ranks / 2;
  std::vector<std::string_view> named = algorithms_of(of.bench);
  named.push_back(binomial);
  for (const Distribution& distribution : chosen_distributions(of.bench, options, named)) {
    for (const int average : chosen_averages(options)) {
      SimulatedCell cell(distribution, average, cluster.ranks);
      std::vector<Row> rows;
      const auto run = [&](const std::string& variant, const std::function<Task<>(Comm)>& program) {
        rows.push_back(simulated_row({.bench = of.bench,
                                      .variant = variant,
                                      .case_name = fmt::format("{},b={}", distribution.name, average),
                                      .ranks = cluster.ranks,
                                      .bytes = static_cast<std::size_t>(average) * sizeof(int)},
                                     simulate(cluster, program)));
      };
      run("wisp", [&](Comm comm) { return of.irregular(comm, cell, root, {{}, options.algorithm}); });
      for (const std::string_view name : named) {
        run(std::string(name), [&](Comm comm) { return of.irregular(comm, cell, root, {{}, name}); });
      }
      // Padded blocks must fit into memory.
      constexpr double most_bytes = 2e9;
      if (4.0 * static_cast<double>(cell.largest) * cluster.ranks < most_bytes) {
        run(of.regular, [&](Comm comm) { return run_padded(comm, of, cell, root, false); });
        run("guideline-2", [&](Comm comm) { return run_padded(comm, of, cell, root, true); });
        mark(rows, "guideline-2", "wisp", of.regular);
      }
      report.add(rows);
    }
  }
}

}  // namespace

void bench_gatherv(const Options& options) {
  bench_irregular(gatherv_operation, options);
}
void bench_scatterv(const Options& options) {
  bench_irregular(scatterv_operation, options);
}

void simulate_gatherv(const Options& options, const SimulationOptions& cluster) {
  const auto padded = [](const Comm& comm, SimulatedCell& cell, std::vector<int>& all, int root) {
    return gather(comm, cell.memory, all, root);
  };
  simulate_irregular({"gatherv", "wisp-gather", gatherv_simulated, padded}, options, cluster);
}
void simulate_scatterv(const Options& options, const SimulationOptions& cluster) {
  const auto padded = [](const Comm& comm, SimulatedCell& cell, std::vector<int>& all, int root) {
    return scatter(comm, all, cell.memory, root);
  };
  simulate_irregular({"scatterv", "wisp-scatter", scatterv_simulated, padded}, options, cluster);
}

}  // namespace wisp::bench
