// Collectives of doubles: wisp blocking, nonblocking and persistent beside MPI's, 1 to 2^18 elements.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks.hpp"
#include "blocking_tree.hpp"
#include "collective_calls.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

std::vector<const Collective*> chosen_collectives(const Options& options) {
  std::vector<const Collective*> chosen;
  std::vector<std::string_view> names;
  for (const Collective& of : collectives()) {
    names.push_back(of.name);
    if (options.op.empty() || options.op == of.name) chosen.push_back(&of);
  }
  check_choice("collective", "--op", options.op, names);
  return chosen;
}

std::vector<int> chosen_counts(const Options& options, const Collective& of) {
  if (of.name == std::string("barrier")) return {0};
  return sizes_of(options, {1, 1 << 6, 1 << 9},
                  {1, 1 << 3, 1 << 6, 1 << 9, 1 << 10, 1 << 12, 1 << 15, 1 << 18});
}

bool is_gather_or_scatter(const Collective& of) {
  return of.name == std::string("gather") || of.name == std::string("scatter");
}

/// One root's whole result must fit into memory, and an allgather has one on each rank.
bool is_too_large_to_simulate(const Collective& of, int ranks, int count) {
  const double copies = (of.blocks_in || of.blocks_out) && !is_gather_or_scatter(of) ? ranks : 1;
  return 8.0 * count * ranks * copies > 2e9;
}

/// Those that fit into memory; the report says of one that was asked for that it does not.
std::vector<int> fitting_counts(const Options& options, const Collective& of, const Report& report,
                                bool (*is_too_large)(const Collective&, int ranks, int count), int ranks) {
  std::vector<int> counts = chosen_counts(options, of);
  std::erase_if(counts, [&](int count) { return is_too_large(of, ranks, count); });
  if (counts.empty() && options.count > 0) report.leave_out(of.name, options.count);
  return counts;
}

/// Who shares its algorithms with another.
std::string table_of(const std::string& op) {
  return op == "reduce_scatter_block" ? "reduce_scatter" : op;
}

void check_algorithm(const Options& options, const Collective& of, bool is_simulated) {
  std::vector<std::string_view> names = algorithms_of(table_of(of.name));
  if (is_simulated) names.push_back("all");
  check_choice(of.name, "--algorithm", options.algorithm, names);
}

/// In a simulation: where only the root has all blocks, others have none.
Cell simulated_cell(const Comm& comm, const Collective& of, int count) {
  Cell cell = make_cell(of, comm.size(), is_gather_or_scatter(of) && comm.rank() != 0 ? 0 : count);
  if (of.name == std::string("gather")) cell.input.resize(static_cast<std::size_t>(count));
  if (of.name == std::string("scatter")) cell.output.resize(static_cast<std::size_t>(count));
  return cell;
}

/// The one that is chosen, the one that is named, or (`all`) the chosen one and every other that works there.
std::vector<std::string> simulated_algorithms(const Options& options, const Collective& of,
                                              const SimulationOptions& cluster, int count) {
  if (options.algorithm != "all") return {options.algorithm};
  std::vector<std::string> names = {""};
  for (const std::string_view name : algorithms_of(table_of(of.name))) names.emplace_back(name);
  return working_on(cluster, names, [&](const Comm& comm, std::string_view name) {
    Cell cell = simulated_cell(comm, of, count);
    static_cast<void>(of.make(comm, cell, 0, {.algorithm = name}));
  });
}

/// MPI's nonblocking form; not where SMPI simulates MPI: there it is a message from everybody to everybody,
/// which no library does.
void add_mpi_nonblocking(std::vector<Variant>& variants, const Collective& of, Cell& cell, int roots) {
  if (is_simulated_mpi()) return;
  variants.push_back({"MPI-nonblocking", [&, roots](int call) {
                        MPI_Request request = MPI_REQUEST_NULL;
                        detail::check_mpi(of.mpi_nonblocking(cell, call % roots, MPI_COMM_WORLD, &request),
                                          of.name);
                        detail::check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
                      }});
}

/// The variants of a cell, checked once. Roots move from call to call, so that nobody runs ahead.
std::vector<Variant> make_variants(const Comm& comm, const Collective& of, Cell& cell,
                                   std::vector<Request>& persistent, const CollectiveOptions& options) {
  const int most_roots = is_simulated_mpi() ? 1 : 64;  // each has a persistent request
  const int roots = std::min(comm.size(), most_roots);
  for (int root = 0; root < roots; ++root)
    persistent.push_back(of.make(comm, cell, root, options).persistent());
  std::vector<Variant> variants = {
      {"wisp", [&, roots](int call) { of.make(comm, cell, call % roots, options).run(); }},
      {"wisp-nonblocking",
       [&, roots](int call) { of.make(comm, cell, call % roots, options).start().wait(); }},
      {"wisp-persistent",
       [&, roots](int call) {
         Request& request = persistent[static_cast<std::size_t>(call % roots)];
         request.start();
         request.wait();
       }},
      {"MPI",
       [&, roots](int call) { detail::check_mpi(of.mpi(cell, call % roots, MPI_COMM_WORLD), of.name); }},
  };
  add_mpi_nonblocking(variants, of, cell, roots);
  // What a coroutine costs shows with short vectors; with long ones its copies would only disturb the others.
  constexpr int longest_of_tree = 512;
  if (has_blocking_tree(of.name) && cell.count <= longest_of_tree) {
    variants.push_back({"blocking-tree", [&, roots, scratch = TreeScratch()](int call) mutable {
                          run_blocking_tree(of.name, cell.input, cell.output, call % roots, MPI_COMM_WORLD,
                                            scratch);
                        }});
  }
  return variants;
}

void measure_variants(const char* bench, const Collective& of, const Cell& cell,
                      const std::vector<Variant>& variants, const Method& method, Report& report) {
  const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method);
  const Row of_cell{.bench = bench,
                    .case_name = of.name,
                    .ranks = cell.ranks,
                    .bytes = static_cast<std::size_t>(cell.count) * sizeof(double)};
  report.add(rows_of(of_cell, variants, timings));
}

}  // namespace

void bench_collective(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("collective", MPI_COMM_WORLD), comm.rank() == 0);
  const Method method = method_after_check(options);
  for (const Collective* of : chosen_collectives(options)) {
    check_algorithm(options, *of, false);
    for (const int count : fitting_counts(options, *of, report, is_too_large, comm.size())) {
      Cell cell = make_cell(*of, comm.size(), count);
      std::vector<Request> persistent;
      const CollectiveOptions algorithm{{}, options.algorithm};
      const std::vector<Variant> variants = make_variants(comm, *of, cell, persistent, algorithm);
      check_variants(*of, cell, comm.rank(), variants);
      measure_variants("collective", *of, cell, variants, method, report);
    }
  }
}

void bench_algorithms(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("algorithms", MPI_COMM_WORLD), comm.rank() == 0);
  const Method method = method_of(options);
  for (const Collective* of : chosen_collectives(options)) {
    check_algorithm(options, *of, true);
    for (const int count : fitting_counts(options, *of, report, is_too_large, comm.size())) {
      Cell cell = make_cell(*of, comm.size(), count);
      std::vector<Variant> variants = {
          {"chosen", [&](int call) { of->make(comm, cell, call % comm.size(), {}).run(); }}};
      for (const std::string_view name : algorithms_of(table_of(of->name))) {
        if (!works([&] { static_cast<void>(of->make(comm, cell, 0, {.algorithm = name})); })) continue;
        variants.push_back({std::string(name), [&, name](int call) {
                              of->make(comm, cell, call % comm.size(), {.algorithm = name}).run();
                            }});
      }
      add_mpi_nonblocking(variants, *of, cell, comm.size());
      measure_variants("algorithms", *of, cell, variants, method, report);
    }
  }
}

void bench_coroutine(const Options& options) {
  const Comm comm = all_ranks();
  const Comm raw = comm.raw();
  // An isolated communicator of the same ranks, that is not the first: its codes are looked up.
  const Comm first = comm.range(0, comm.size() - 1);
  const Comm second = comm.range(0, comm.size() - 1);
  Report report(options, title_of("coroutine", MPI_COMM_WORLD), comm.rank() == 0);
  const Collective& of = collectives()[1];
  Cell cell = make_cell(of, comm.size(), 1);
  std::vector<Request> persistent;
  const CollectiveOptions chosen;
  std::vector<Variant> variants = make_variants(second, of, cell, persistent, chosen);
  variants.push_back({"wisp-raw", [&](int call) { of.make(raw, cell, call % raw.size(), chosen).run(); }});
  check_variants(of, cell, comm.rank(), variants);
  measure_variants("coroutine", of, cell, variants, {options.quick ? 20 : 60, 5, 1000}, report);
}

void simulate_collective(const Options& options, const SimulationOptions& cluster) {
  Report report(options, fmt::format("wisp simulate collective: {} ranks, virtual time", cluster.ranks),
                true);
  for (const Collective* of : chosen_collectives(options)) {
    check_algorithm(options, *of, true);
    for (const int count : fitting_counts(options, *of, report, is_too_large_to_simulate, cluster.ranks)) {
      std::vector<Row> rows;
      for (const std::string& algorithm : simulated_algorithms(options, *of, cluster, count)) {
        const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
          Cell cell = simulated_cell(comm, *of, count);
          co_await of->make(comm, cell, 0, {.algorithm = algorithm});
        });
        rows.push_back(simulated_row(
            {.bench = "collective",
             .variant = algorithm.empty() ? (options.algorithm == "all" ? "chosen" : "wisp") : algorithm,
             .case_name = of->name,
             .ranks = cluster.ranks,
             .bytes = static_cast<std::size_t>(count) * sizeof(double)},
            run));
      }
      report.add(rows);
    }
  }
}

}  // namespace wisp::bench
