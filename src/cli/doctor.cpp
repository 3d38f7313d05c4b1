#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/bad_input.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cli/world_rank.hpp"
#include "comm/comm_access.hpp"
#include "comm/measure_machine.hpp"
#include "harness.hpp"
#include "transport/mpi_library.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/split.hpp"

// wisp doctor: what this MPI and these hosts are like, what wisp makes of it, and what should be set
// otherwise.

namespace wisp::cli {
namespace {

using detail::MessageCosts;

struct Findings {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> warnings;
  nlohmann::ordered_json numbers;

  void add(std::string what, std::string value) { facts.emplace_back(std::move(what), std::move(value)); }
};

std::string text_of(const MessageCosts& costs) {
  return fmt::format("α = {:.2f} µs, β = {:.3f} ns/byte ({:.2f} GB/s)", costs.latency * 1e6,
                     costs.seconds_per_byte * 1e9, 1e-9 / costs.seconds_per_byte);
}

void look_at_mpi(Findings& found) {
  int version = 0;
  int subversion = 0;
  int level = 0;
  detail::check_mpi(MPI_Get_version(&version, &subversion), "MPI_Get_version");
  detail::check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  const char* name = level == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
                     : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                     : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
                                                      : "MPI_THREAD_SINGLE";
  found.add("MPI", fmt::format("{}, MPI {}.{}", bench::mpi_name(), version, subversion));
  const char* who = level == MPI_THREAD_MULTIPLE     ? "any thread calls wisp"
                    : level == MPI_THREAD_SERIALIZED ? "one thread at a time calls wisp"
                                                     : "the main thread calls wisp";
  found.add("threads", fmt::format("{}; {}", name, who));
  const std::optional<bool> is_aware_of_cuda = detail::is_aware_of_cuda();
  found.add("devices", !is_aware_of_cuda ? "this MPI does not say whether it knows the memory of a GPU"
                       : *is_aware_of_cuda
                           ? "this MPI sends and receives what is in the memory of a GPU (CUDA)"
                           : "this MPI does not know the memory of a GPU: copy to the host's first");
  found.numbers["mpi"] = bench::mpi_name();
  const int ranks = world_size();
  for (const char* launcher : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* started = std::getenv(launcher);
    if (ranks > 1 || started == nullptr || std::atoi(started) < 2) continue;
    found.warnings.push_back(fmt::format(
        "the launcher has started {} processes, and each is alone: start them with the mpirun of the MPI "
        "that wisp was built with",
        started));
  }
#if !defined(NDEBUG) || !defined(__OPTIMIZE__)
  found.warnings.push_back(
      "wisp was built for debugging: its own work takes several times as long. Build with "
      "-DCMAKE_BUILD_TYPE=Release, as scripts/build does");
#endif
}

void look_at_tags(Findings& found, const detail::World& world) {
  const int upper_bound = world.facts().tag_upper_bound;
  const detail::TagLayout& tags = world.tags();
  found.add(
      "tags",
      fmt::format("MPI_TAG_UB = {}: your tags and running collectives up to {} on each communicator; at "
                  "one time {} communicators that two ranks share, and {} chains of a rank that are "
                  "not made of a communicator",
                  upper_bound, tags.upper_bound(detail::TagLayout::Kind::isolated), tags.numbered_count(),
                  tags.named_count()));
  constexpr int few_codes = 128;
  if (tags.code_count() < few_codes) {
    found.warnings.push_back(fmt::format(
        "the tag space is small (MPI_TAG_UB = {}): {} communicators between any two ranks and {} chains at a "
        "time. Ask for more MPI communicators below (DuplicateOptions::mpi_communicators), or take another "
        "transport of your MPI, whose tags may be wider",
        upper_bound, tags.numbered_count(), tags.named_count()));
  }
}

/// Whether MPI gives its core away while it waits, where it says so.
std::optional<bool> yields_when_idle() {
#ifdef SMPI_H  // has no MPI_T
  return std::nullopt;
#else
  int level = 0;
  int index = 0;
  int count = 0;
  int value = 0;
  MPI_T_cvar_handle handle = nullptr;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return std::nullopt;
  const bool is_known = MPI_T_cvar_get_index("mpi_yield_when_idle", &index) == MPI_SUCCESS &&
                        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS &&
                        count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
  MPI_T_finalize();
  return is_known ? std::optional(value != 0) : std::nullopt;
#endif
}

/// The costs of messages within the first host that has two ranks, and between rank 0 and another host, as
/// far as there are such.
void look_at_hosts(Findings& found, const Comm& comm) {
  const Chain host = by_host(comm);
  const int rank = comm.rank();
  const int none = std::numeric_limits<int>::max();
  int leader = rank;
  host.bcast(buffer_of(leader), 0);
  int hosts = host.rank() == 0 ? 1 : 0;
  int fullest = host.size();
  int first_of_two = host.size() > 1 && host.rank() == 0 ? rank : none;
  int elsewhere = leader != 0 ? rank : none;  // rank 0 leads its host
  comm.allreduce(in_place(), buffer_of(hosts), MPI_SUM);
  comm.allreduce(in_place(), buffer_of(fullest), MPI_MAX);
  comm.allreduce(in_place(), buffer_of(first_of_two), MPI_MIN);
  comm.allreduce(in_place(), buffer_of(elsewhere), MPI_MIN);
  int second_of_two = leader == first_of_two && host.rank() == 1 ? rank : none;
  comm.allreduce(in_place(), buffer_of(second_of_two), MPI_MIN);
  const double per_core = detail::CommAccess::world(comm).machine().ranks_per_core;
  found.add("hosts", fmt::format("{}; {} ranks on the fullest, {:.2g} for each of its cores", hosts, fullest,
                                 per_core));
  found.numbers["ranks"] = comm.size();
  found.numbers["hosts"] = hosts;
  found.numbers["ranks_per_core"] = per_core;

  const auto measure = [&](const char* where, const char* key, int one, int other) {
    if (other == none) {
      found.add(where, "no two such ranks");
      return MessageCosts{};
    }
    const MessageCosts costs = detail::measure_messages(MPI_COMM_WORLD, one, other);
    found.add(where, text_of(costs));
    found.numbers[std::string("latency_us_") + key] = costs.latency * 1e6;
    found.numbers[std::string("gb_per_second_") + key] = 1e-9 / costs.seconds_per_byte;
    return costs;
  };
  const MessageCosts here = measure("within a host", "within_host", first_of_two, second_of_two);
  measure("across hosts", "across_hosts", 0, elsewhere);

  constexpr double longest_turn = 100e-6;
  if (per_core > 1 && !yields_when_idle().value_or(here.latency <= longest_turn)) {
    found.warnings.push_back(
        "ranks outnumber cores and MPI does not yield while it waits: messages wait for whole time slices. "
        "With Open MPI, mpirun --mca mpi_yield_when_idle 1; with MPICH and others that cannot, start no more "
        "ranks than cores");
  } else if (per_core > 1) {
    found.warnings.push_back(
        "ranks outnumber cores: what is measured here is how they take turns, not how fast messages are. For "
        "speed, start no more ranks than cores");
  }
}

void look_at_choices(Findings& found, const Comm& comm) {
  const detail::Machine& machine = detail::CommAccess::world(comm).machine();
  found.add("wisp reckons with",
            fmt::format("{}; set WISP_LATENCY_US and WISP_BANDWIDTH_GBS to say otherwise",
                        text_of({machine.latency, machine.seconds_per_byte})));
  if (machine.has_nodes()) {
    const detail::NodeLayout& nodes = detail::CommAccess::world(comm).nodes();
    found.add("… inside a node",
              fmt::format("{}; {} nodes, ranks {}; WISP_NODE_LATENCY_US and WISP_NODE_BANDWIDTH_GBS",
                          text_of({machine.inside.latency, machine.inside.seconds_per_byte}), nodes.nodes(),
                          nodes.is_in_order()  ? "in order"
                          : nodes.is_in_turn() ? "in turn"
                                               : "in runs"));
  }
  const int direct = direct_gatherv_ranks(comm);
  found.add("gatherv, scatterv", bench::text_of_direct(direct) + " (WISP_DIRECT_RANKS)");
  found.add("straight to the root",
            fmt::format("blocks of {} bytes and more", detail::straight_threshold(machine)));
  found.numbers["direct_ranks"] = direct;
}

void print(const Findings& found) {
  const std::vector<Column> columns = {{20, Column::Side::left}, {0, Column::Side::left}};
  for (const auto& [what, value] : found.facts) print_row(columns, {{what, Color::bold}, {value}});
  fmt::print("\n{}\n", found.warnings.empty() ? in_color(Color::green, "nothing to warn of") : "warnings:");
  for (const std::string& warning : found.warnings) fmt::print("- {}\n", in_color(Color::yellow, warning));
}

int run(const std::string& json_file) {
  check_writable("doctor", json_file);
  const Comm comm = bench::all_ranks();
  Findings found;
  look_at_mpi(found);
  look_at_tags(found, detail::CommAccess::world(comm));
  look_at_hosts(found, comm);
  look_at_choices(found, comm);
  if (comm.rank() != 0) return 0;
  print(found);
  if (json_file.empty()) return 0;
  found.numbers["warnings"] = found.warnings;
  std::ofstream file(json_file);
  file << found.numbers.dump(2) << "\n";
  if (!file.flush()) throw Error(MPI_ERR_IO, fmt::format("wisp doctor: cannot write {}", json_file));
  return 0;
}

}  // namespace

Command add_doctor(CLI::App& app) {
  auto json_file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Say what MPI, hosts and messages are like here, and which settings to change");
  command->add_option("--json", *json_file, "Write the figures to this file");
  command->footer("Examples:\n  mpirun -n 4 wisp doctor\n  mpirun -n 64 wisp doctor --json doctor.json");
  return {command, [json_file] { return run(*json_file); }};
}

}  // namespace wisp::cli
