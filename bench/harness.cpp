#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <thread>

#include "cli/bad_input.hpp"
#include "cli/terminal.hpp"
#include "comm/comm_access.hpp"
#include "transport/mpi_group.hpp"
#include "transport/mpi_library.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

std::string human_bytes(std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  if (bytes < kib) return fmt::format("{} B", bytes);
  if (bytes < kib * kib) return fmt::format("{} KiB", bytes / kib);
  return fmt::format("{} MiB", bytes / (kib * kib));
}

int size_of(MPI_Comm comm) {
  int size = 0;
  wisp::detail::check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

/// As wisp found when it first looked at the ranks.
bool ranks_outnumber_cores() {
  return wisp::detail::CommAccess::world(all_ranks()).machine().ranks_per_core > 1;
}

#ifdef SMPI_H

/// Sleeps until all ranks do: every so many seconds of the clock that they have in common. Gives that time.
double wait_for_all() {
  constexpr double period = 10;
  const double begin = (std::floor(MPI_Wtime() / period) + 2) * period;
  const double seconds = begin - MPI_Wtime();
  const timespec sleep = {static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1) * 1e9)};
  smpi_nanosleep(&sleep, nullptr);
  return begin;
}

/// Where time is simulated, a sample of each variant says all, after a call that may prepare something: until
/// the last rank is done.
std::vector<Timing> measure_on_common_clock(MPI_Comm comm, const std::vector<Variant>& variants,
                                            const Method& method) {
  if (!method.have_run) {
    for (const Variant& variant : variants) {
      wait_for_all();  // who is done first would wait in the next call, and may have to look for messages
                       // there
      variant.run(0);
    }
  }
  std::vector<double> seconds;
  for (const Variant& variant : variants) {
    const double begin = wait_for_all();
    variant.run(0);
    constexpr double tick = 1e-8;  // the sleep ends within a nanosecond
    seconds.push_back(std::round((MPI_Wtime() - begin) / tick) * tick);
  }
  wait_for_all();
  // Not MPI's: the collectives of some selectors explore the nodes first, with p² messages.
  Comm::attach(comm).allreduce(in_place(), Buffer(seconds), MPI_MAX);
  std::vector<Timing> timings;
  for (const double of_variant : seconds) timings.push_back({of_variant * 1e6, of_variant * 1e6});
  return timings;
}

#else

/// Of means of two successive samples: who leaves the barrier first makes calls of one of two roots slower,
/// and the median of two groups of one size would be anywhere between them.
double median_of(const std::vector<double>& samples) {
  std::vector<double> pairs;
  for (std::size_t i = 1; i < samples.size(); i += 2) pairs.push_back((samples[i - 1] + samples[i]) / 2);
  std::ranges::sort(pairs);
  return (pairs.at((pairs.size() - 1) / 2) + pairs.at(pairs.size() / 2)) / 2;
}

/// What a program that computes leaves of what a call needs in the caches. All ranks go on at the same time:
/// a barrier would warm MPI again. Their clocks must be one, as on one machine.
class OtherWork {
 public:
  void run(MPI_Comm comm) {
    const double seconds = walk();
    double begin = MPI_Wtime() + 2 * seconds;
    wisp::detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &begin, 1, MPI_DOUBLE, MPI_MAX, comm),
                            "MPI_Allreduce");
    walk();
    constexpr double longest = 60;
    if (begin - MPI_Wtime() > longest) {
      throw Error(MPI_ERR_OTHER, "wisp bench: --cold needs ranks with one clock, on one machine");
    }
    while (MPI_Wtime() < begin) std::this_thread::yield();
  }

 private:
  double walk() {
    constexpr std::size_t line = 64;
    const double begin = MPI_Wtime();
    for (std::size_t i = 0; i < memory_.size(); i += line) ++memory_[i];
    return MPI_Wtime() - begin;
  }

  static constexpr std::size_t more_than_caches = std::size_t{16} << 20;  ///< of one core, but for the last
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(more_than_caches);
};

/// In another order each round.
std::vector<Timing> measure_in_turn(MPI_Comm comm, const std::vector<Variant>& variants,
                                    const Method& method) {
  const int usual_calls = ranks_outnumber_cores() ? 10 : 1;
  const int calls = method.cold ? 1 : method.calls > 0 ? method.calls : usual_calls;
  std::optional<OtherWork> other_work;
  if (method.cold) other_work.emplace();
  int next_call = 0;
  std::vector<std::size_t> order(variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand random;  // the same on all ranks
  const auto sample = [&](const Variant& variant) {
    if (other_work) {
      other_work->run(comm);
    } else {
      wisp::detail::check_mpi(MPI_Barrier(comm), "MPI_Barrier");
    }
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) variant.run(next_call + i);
    const double seconds = MPI_Wtime() - start;
    wisp::detail::check_mpi(MPI_Barrier(comm), "MPI_Barrier");
    return seconds / calls;
  };

  double slowest = 0;
  for (int round = 0; round < method.warm_up; ++round) {
    for (const Variant& variant : variants) slowest = std::max(slowest, sample(variant) * calls);
    next_call += calls;
  }
  // Fewer samples, an even number, only where one takes over 50 ms.
  double agreed = 0;
  wisp::detail::check_mpi(MPI_Allreduce(&slowest, &agreed, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  const int samples =
      agreed > 0.05 ? 2 * std::max(3, static_cast<int>(method.samples * 0.025 / agreed)) : method.samples;

  std::vector<std::vector<double>> seconds(variants.size());
  for (int round = 0; round < samples; ++round) {
    // Some leave the next one slower, and the first finds the root's buffers cold: whom that hits changes
    // from round to round. All have the same root in a round, as calls of some roots are faster.
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t v : order) seconds[v].push_back(sample(variants[v]));
    next_call += calls;
  }
  std::vector<Timing> timings;
  for (std::vector<double>& of_variant : seconds) {
    wisp::detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, of_variant.data(),
                                          static_cast<int>(of_variant.size()), MPI_DOUBLE, MPI_MAX, comm),
                            "MPI_Allreduce");
    timings.push_back(
        {*std::min_element(of_variant.begin(), of_variant.end()) * 1e6, median_of(of_variant) * 1e6});
  }
  return timings;
}

#endif

}  // namespace

Report::Report(const Options& options, std::string title, bool prints)
    : prints_(prints), title_(std::move(title)), json_file_(options.json_file) {
  if (!prints_) return;
  if (!json_file_.empty()) json_.open(json_file_);
  fmt::print("{}\n", title_);
}

void Report::add(const std::vector<Row>& cell) {
  if (!prints_ || cell.empty()) return;
  // More variants than a line has room for go one below the other.
  constexpr std::size_t most_columns = 8;
  cell.size() > most_columns ? print_down(cell) : print_across(cell);
  std::fflush(stdout);
  for (const Row& row : cell) keep(row);
}

void Report::leave_out(std::string_view case_name, int count) const {
  if (prints_)
    fmt::print("{} of {} elements: left out, too large for the memory of one machine\n", case_name, count);
}

void Report::print_across(const std::vector<Row>& cell) {
  using cli::Cell;
  std::vector<std::string> variants;
  for (const Row& row : cell) variants.push_back(row.variant);
  std::vector<cli::Column> columns = {{21, cli::Column::Side::left}, {8}};
  for (const std::string& variant : variants) {
    columns.push_back({std::max<std::size_t>(13, variant.size())});
    columns.push_back({8});
  }
  if (variants != variants_) {
    variants_ = variants;
    fmt::print("\nmedian µs (and how many times the first column)\n");
    std::vector<Cell> heading = {{"case", cli::Color::bold}, {"size", cli::Color::bold}};
    for (const std::string& variant : variants_) {
      heading.push_back({variant, cli::Color::bold});
      heading.push_back({""});
    }
    cli::print_row(columns, heading);
  }
  const Row& first = cell.front();
  std::vector<Cell> cells = {{first.case_name}, {first.bytes ? human_bytes(*first.bytes) : ""}};
  for (const Row& row : cell) {
    const double ratio = first.median_us > 0 ? row.median_us / first.median_us : 1;
    // Green where the first column wins, red where it loses, by more than what repeats.
    const cli::Color color = ratio > 1.05   ? cli::Color::green
                             : ratio < 0.95 ? cli::Color::red
                                            : cli::Color::none;
    cells.push_back({fmt::format("{}{:.2f}", row.mark.empty() ? "" : row.mark + " ", row.median_us)});
    cells.push_back({first.median_us > 0 ? fmt::format("({:.2f})", ratio) : "(-)", color});
  }
  cli::print_row(columns, cells);
}

void Report::print_down(const std::vector<Row>& cell) {
  const Row& first = cell.front();
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? fmt::format("{}", *value) : "";
  };
  const std::vector<cli::Column> columns = {{22, cli::Column::Side::left}, {12}, {10}, {12}, {16}, {12}};
  fmt::print("\n{}{}\n", first.case_name, first.bytes ? ", " + human_bytes(*first.bytes) : "");
  cli::print_row(columns, {{""}, {"median µs"}, {"to first"}, {"messages"}, {"bytes"}, {"peak bytes"}});
  for (const Row& row : cell) {
    const double ratio = first.median_us > 0 ? row.median_us / first.median_us : 0;
    cli::print_row(columns, {{row.variant},
                             {fmt::format("{:.2f}", row.median_us)},
                             {fmt::format("{:.2f}", ratio)},
                             {number(row.messages)},
                             {number(row.volume)},
                             {number(row.peak_bytes)}});
  }
}

void Report::keep(const Row& row) {
  if (json_file_.empty()) return;
  nlohmann::ordered_json line = {
      {"bench", row.bench}, {"variant", row.variant}, {"case", row.case_name}, {"ranks", row.ranks}};
  if (row.bytes) line["bytes"] = *row.bytes;
  line["min_us"] = row.min_us;
  line["median_us"] = row.median_us;
  if (row.messages) line["messages"] = *row.messages;
  if (row.volume) line["volume"] = *row.volume;
  if (row.peak_bytes) line["peak_bytes"] = *row.peak_bytes;
  if (!row.mark.empty()) line["mark"] = row.mark;
  line["mpi"] = mpi_name();
  json_ << line.dump() << '\n';
  if (!json_.flush()) throw Error(MPI_ERR_IO, fmt::format("wisp: {} cannot be written", json_file_));
}

void check_choice(std::string_view bench, std::string_view option, const std::string& value,
                  const std::vector<std::string_view>& names) {
  if (value.empty() || std::find(names.begin(), names.end(), value) != names.end()) return;
  throw cli::BadInput(
      fmt::format("wisp: {}: {} '{}' is not one of {}", bench, option, value, fmt::join(names, ", ")));
}

bool works(const std::function<void()>& make) {
  try {
    make();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("does not work with") == std::string_view::npos) throw;
    return false;
  }
  return true;
}

std::vector<std::string> working_on(SimulationOptions cluster, std::vector<std::string> names,
                                    const std::function<void(const Comm&, std::string_view)>& make) {
  cluster.trace.clear();
  simulate(cluster, [&](Comm comm) -> Task<> {
    if (comm.rank() == 0) {
      std::erase_if(names, [&](const std::string& name) { return !works([&] { make(comm, name); }); });
    }
    co_return;
  });
  return names;
}

MPI_Comm make_mpi_range(MPI_Comm parent, int first, int last, int tag) {
  int triple[1][3] = {{first, last, 1}};
  detail::OwnedGroup ours;
  detail::check_mpi(MPI_Group_range_incl(detail::OwnedGroup(parent).get(), 1, triple, ours.put()),
                    "MPI_Group_range_incl");
  MPI_Comm made = MPI_COMM_NULL;
  detail::check_mpi(MPI_Comm_create_group(parent, ours.get(), tag, &made), "MPI_Comm_create_group");
  return made;
}

std::string text_of_direct(int ranks) {
  return ranks == std::numeric_limits<int>::max() ? "direct messages at any number of ranks"
                                                  : fmt::format("direct messages up to {} ranks", ranks);
}

Comm all_ranks() {
  // A duplicate is what SMPI takes longest for, and costs of messages are known there.
  return is_simulated_mpi() ? Comm::attach(MPI_COMM_WORLD) : Comm::duplicate(MPI_COMM_WORLD);
}

Method method_of(const Options& options) {
  Method method = options.quick ? Method{.samples = 20, .warm_up = 2} : Method{};
  method.cold = options.cold;
  return method;
}

Method method_after_check(const Options& options) {
  Method method = method_of(options);
  method.have_run = true;
  return method;
}

bool is_simulated_mpi() {
#ifdef SMPI_H
  return true;
#else
  return false;
#endif
}

std::string title_of(std::string_view bench, MPI_Comm comm) {
  return fmt::format("wisp bench {}: {}, {}{}", bench, cli::counted(size_of(comm), "rank"), mpi_name(),
                     ranks_outnumber_cores() ? ", more ranks than cores" : "");
}

std::vector<Timing> measure(MPI_Comm comm, const std::vector<Variant>& variants, const Method& method) {
#ifdef SMPI_H
  return measure_on_common_clock(comm, variants, method);
#else
  return measure_in_turn(comm, variants, method);
#endif
}

Row simulated_row(Row cell, const SimulationReport& run) {
  cell.min_us = cell.median_us = run.seconds * 1e6;
  cell.messages = run.messages;
  cell.volume = run.bytes;
  return cell;
}

std::vector<Row> rows_of(const Row& cell, const std::vector<Variant>& variants,
                         const std::vector<Timing>& timings) {
  std::vector<Row> rows(variants.size(), cell);
  for (std::size_t v = 0; v < variants.size(); ++v) {
    rows[v].variant = variants[v].name;
    rows[v].min_us = timings[v].min_us;
    rows[v].median_us = timings[v].median_us;
  }
  return rows;
}

std::string mpi_name() {
  std::string name = detail::library_version();
  name = name.substr(0, name.find_first_of(",\n"));
  std::erase(name, '\t');
  if (is_simulated_mpi()) {
    const char* how = std::getenv("WISP_SMPI");
    return how == nullptr ? "SMPI" : fmt::format("SMPI ({})", how);
  }
  for (const char* prefix : {"Open MPI v", "MPICH Version:"}) {
    if (name.starts_with(prefix)) {
      return std::string(name[0] == 'O' ? "Open MPI " : "MPICH ") + name.substr(std::string(prefix).size());
    }
  }
  return name;
}

}  // namespace wisp::bench
