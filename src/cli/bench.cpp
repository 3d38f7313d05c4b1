#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

#include "benchmarks.hpp"
#include "cli/bad_input.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/world_rank.hpp"

// wisp bench NAME and wisp simulate NAME.

namespace wisp::cli {
namespace {

struct Arguments {
  std::string name;
  bench::Options options;
  SimulationOptions cluster;
  int ranks_per_node = 1;
  bool in_turn = false;
};

void place_ranks(Arguments& arguments) {
  const int ranks = arguments.cluster.ranks;
  const int on_node = arguments.ranks_per_node;
  if (on_node == 1) return;
  const int nodes = (ranks + on_node - 1) / on_node;
  for (int rank = 0; rank < ranks; ++rank) {
    arguments.cluster.nodes.push_back(arguments.in_turn ? rank % nodes : rank / on_node);
  }
}

void add_common(CLI::App& command, Arguments& arguments, const std::vector<std::string>& names) {
  command.add_option("name", arguments.name, "The benchmark")->required()->check(one_of(names));
  command.add_option(
      "--op", arguments.options.op,
      "Only this collective, distribution of sort, gatherv or scatterv, or case of neighborhood or "
      "split-by");
  command.add_option("--algorithm", arguments.options.algorithm,
                     "Its algorithm (simulated collective and split-by: 'all' for each of them); without it, "
                     "the one that is chosen");
  command
      .add_option("--count", arguments.options.count,
                  "Elements (adjacent, exchange, neighborhood: bytes of a block); without it, several")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command.add_flag("--quick", arguments.options.quick, "Fewer cases and samples");
  command.add_option("--json", arguments.options.json_file, "Write JSON lines to this file");
}

/// Options that not every benchmark looks at.
enum Takes : unsigned { op = 1, algorithm = 2, count = 4, cold = 8 };

/// On the ranks of this run, and on a simulated cluster, where there is such a form.
struct Benchmark {
  void (*run)(const bench::Options&);
  void (*simulate)(const bench::Options&, const SimulationOptions&);
  unsigned takes;
};

const std::map<std::string, Benchmark> benchmarks = {
    {"adjacent", {bench::bench_adjacent, bench::simulate_adjacent, count | cold}},
    {"algorithms", {bench::bench_algorithms, nullptr, op | count | cold}},
    {"collective", {bench::bench_collective, bench::simulate_collective, op | algorithm | count | cold}},
    {"coroutine", {bench::bench_coroutine, nullptr, 0}},
    {"exchange", {bench::bench_exchange, bench::simulate_exchange, count | cold}},
    {"gatherv", {bench::bench_gatherv, bench::simulate_gatherv, op | algorithm | count | cold}},
    {"neighborhood", {bench::bench_neighborhood, bench::simulate_neighborhood, op | count | cold}},
    {"neighborhood-setup", {bench::bench_neighborhood_setup, nullptr, 0}},
    {"overlap", {bench::bench_overlap, bench::simulate_overlap, cold}},
    {"range-bcast", {bench::bench_range_bcast, bench::simulate_range_bcast, count | cold}},
    {"scatterv", {bench::bench_scatterv, bench::simulate_scatterv, op | algorithm | count | cold}},
    {"sort", {bench::bench_sort, bench::simulate_sort, op | algorithm | count | cold}},
    {"sort-strings", {bench::bench_sort_strings, bench::simulate_sort_strings, op | count | cold}},
    {"split", {bench::bench_split, bench::simulate_split, cold}},
    {"split-by", {bench::bench_split_by, bench::simulate_split_by, op | algorithm | cold}},
    {"temporaries", {bench::bench_temporaries, bench::simulate_temporaries, 0}},
    {"threads", {bench::bench_threads, nullptr, 0}},
    {"trace", {bench::bench_trace, nullptr, op | count}}};

/// What a benchmark would not look at is an error.
const Benchmark& benchmark_for(const char* program, const Arguments& arguments) {
  const Benchmark& benchmark = benchmarks.at(arguments.name);
  const bench::Options& options = arguments.options;
  const auto check = [&](const char* option, bool is_given, Takes what) {
    if (!is_given || (benchmark.takes & what) != 0) return;
    throw BadInput(fmt::format("wisp {} {}: {} is not for this benchmark", program, arguments.name, option));
  };
  check("--op", !options.op.empty(), op);
  check("--algorithm", !options.algorithm.empty(), algorithm);
  check("--count", options.count > 0, count);
  check("--cold", options.cold, cold);
  return benchmark;
}

std::vector<std::string> names_of_benchmarks(bool simulated) {
  std::vector<std::string> names;
  for (const auto& [name, benchmark] : benchmarks) {
    if (!simulated || benchmark.simulate != nullptr) names.push_back(name);
  }
  return names;
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("bench", "Measure wisp beside MPI on the ranks of this run");
  add_common(*command, *arguments, names_of_benchmarks(false));
  command->add_flag("--cold", arguments->options.cold,
                    "Each call after 16 MB of other memory, as in a program that computes (on one machine)");
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 wisp bench collective --op bcast\n"
      "  mpirun -n 4 wisp bench gatherv --quick --json rows.json");
  return {command, [arguments] {
            const Benchmark& benchmark = benchmark_for("bench", *arguments);
            check_writable("bench", arguments->options.json_file);
            benchmark.run(arguments->options);
            return 0;
          }};
}

Command add_tune(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "tune",
      "Measure which collectives are faster than MPI's on the ranks of this run, for wisp run --table");
  command->add_option("FILE", *file, "The table to write")->required()->check([](const std::string& name) {
    return name.empty() ? "FILE is empty" : "";
  });
  command->footer(
      "  mpirun -n 64 wisp tune cluster.table\n  mpirun -n 64 wisp run --table cluster.table -- "
      "./simulation");
  return {command, [file] {
            if (world_size() < 2)
              throw BadInput("wisp tune: one rank has no collectives to measure: mpirun -n P");
            check_writable("tune", *file);
            bench::tune(*file);
            return 0;
          }};
}

Command add_simulate(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("simulate", "Run a benchmark on a simulated cluster, in this process");
  add_common(*command, *arguments, names_of_benchmarks(true));
  command->add_option("--ranks", arguments->cluster.ranks, "Simulated ranks")
      ->required()
      ->check(CLI::Range(1, 1 << 22));
  const CLI::Validator seconds = with_unit({{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  const CLI::Validator rate = with_unit({{"MB/s", 1e6}, {"GB/s", 1e9}});
  command->add_option("--latency", arguments->cluster.latency, "Time of a message on the wire, as in 2us")
      ->transform(seconds);
  command
      ->add_option("--overhead", arguments->cluster.overhead,
                   "Time a rank is busy with a message, as in 0.5us")
      ->transform(seconds);
  command->add_option("--bandwidth", arguments->cluster.bandwidth, "Of a rank's port, as in 10GB/s")
      ->transform(rate);
  command
      ->add_option("--joining", arguments->cluster.joining,
                   "Time to join a byte in a reduction, in parts of its time at a port")
      ->check([](const std::string& text) {
        const double parts = text.empty() ? -1 : std::strtod(text.c_str(), nullptr);
        return parts >= 0 && std::isfinite(parts) ? "" : "'" + text + "' is below 0, or no number";
      });
  CLI::Option* nodes =
      command
          ->add_option("--ranks-per-node", arguments->ranks_per_node, "Ranks that share a node and its port")
          ->check(CLI::Range(1, 1 << 22));
  command->add_flag("--in-turn", arguments->in_turn, "One rank after the other on the next node")
      ->needs(nodes);
  command
      ->add_option("--inside-latency", arguments->cluster.inside_latency,
                   "Time of a message inside a node, as in 0.5us")
      ->transform(seconds)
      ->needs(nodes);
  command
      ->add_option("--inside-bandwidth", arguments->cluster.inside_bandwidth,
                   "Of a rank's port for those, as in 40GB/s")
      ->transform(rate)
      ->needs(nodes);
  command->add_option("--trace", arguments->cluster.trace,
                      "Write what the ranks do in the last case to this file, for wisp trace");
  command->footer(
      "Examples:\n"
      "  wisp simulate collective --op bcast --ranks 32768 --latency 2us --overhead 0.5us --bandwidth "
      "10GB/s\n"
      "  wisp simulate collective --op allreduce --algorithm all --ranks 1024\n"
      "  wisp simulate sort --ranks 32768 --quick\n"
      "  wisp simulate collective --op bcast --count 1000 --ranks 13 --trace bcast.trace");
  return {command, [arguments] {
            const Benchmark& benchmark = benchmark_for("simulate", *arguments);
            const std::string& json = arguments->options.json_file;
            if (!json.empty() && json == arguments->cluster.trace) {
              throw BadInput(fmt::format("wisp simulate: {} cannot be both --json and --trace", json));
            }
            check_writable("simulate", json);
            check_writable("simulate", arguments->cluster.trace);
            place_ranks(*arguments);
            if (world_rank() == 0) benchmark.simulate(arguments->options, arguments->cluster);
            return 0;
          }};
}

}  // namespace wisp::cli
