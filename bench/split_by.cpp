// Splitting and ordering ranks by any color and key: every algorithm beside MPI_Comm_split, which takes
// integers only (Moody et al. 2011, figures 3, 4 and 5).

#include "wisp/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "benchmarks.hpp"
#include "cli/bad_input.hpp"
#include "processes.hpp"
#include "wisp/detail/frame_pool.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

constexpr int few_groups = 16;

struct SplitByCase {
  std::string name;
  bool splits = false;
  bool orders = false;
  bool has_many = false;
  std::size_t text = 0;  ///< characters of a color; 0: an integer

  bool are_integers() const { return text == 0; }
};

/// Of "cheng-…".
int items_at_leader(std::string_view algorithm) {
  return std::stoi(std::string(algorithm.substr(6)));
}

/// The algorithms for a case, and at the end the one that is chosen, without a name.
std::vector<std::string_view> algorithms_for(const SplitByCase& of, const Options& options, int size) {
  std::vector<std::string_view> names = split_algorithms();
  const bool are_all_wanted = options.algorithm.empty() || options.algorithm == "all";
  // With at least as many items on a leader as there are ranks, Cheng's algorithms are all the same.
  const auto is_repeated = [&](std::string_view name) {
    return name.starts_with("cheng-") && name != "cheng-128" && items_at_leader(name) / 2 >= size;
  };
  std::erase_if(names, [&](std::string_view name) {
    const bool is_for_others =
        (name == "radix" && !of.are_integers()) || (name.starts_with("hash") && !of.splits);
    return is_for_others || (are_all_wanted ? is_repeated(name) : name != options.algorithm);
  });
  if (are_all_wanted || options.algorithm == "chosen") names.push_back("");
  return names;
}

std::vector<SplitByCase> chosen_cases(const Options& options) {
  std::vector<SplitByCase> cases = {{"reorder", false, true}};
  for (const bool orders : {false, true}) {
    for (const bool has_many : {false, true}) {
      for (const std::size_t text : {0u, 5u, 80u}) {
        cases.push_back(
            {fmt::format("{},{},{}", orders ? "split+reorder" : "split", has_many ? "many" : "few",
                         text == 0 ? "int" : fmt::format("string={}", text)),
             true, orders, has_many, text});
      }
    }
  }
  std::vector<std::string> names;
  for (const SplitByCase& of : cases) names.push_back(of.name);
  std::erase_if(cases, [&](const SplitByCase& of) {
    if (!options.op.empty()) return of.name != options.op && !of.name.starts_with(options.op + ",");
    return options.quick && (of.text == 80 || (of.has_many && of.orders));
  });
  if (cases.empty()) {
    throw cli::BadInput(fmt::format("wisp: split-by: --op '{}' is no case, nor the beginning of one: {}",
                                    options.op, fmt::join(names, " ")));
  }
  std::vector<std::string_view> algorithms = split_algorithms();
  algorithms.insert(algorithms.end(), {"chosen", "all"});
  check_choice("split-by", "--algorithm", options.algorithm, algorithms);
  std::erase_if(cases, [&](const SplitByCase& of) { return algorithms_for(of, options, 2).empty(); });
  if (cases.empty()) {
    throw cli::BadInput(fmt::format("wisp: split-by: --algorithm {} does not work with --op '{}'",
                                    options.algorithm, options.op));
  }
  return cases;
}

/// The number of a rank's group, and its key: as random as a multiplication makes them.
int group_of(const SplitByCase& of, int rank, int size) {
  const auto drawn = (static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15U >> 33;
  const int groups = of.has_many ? std::max(1, size / 2) : few_groups;
  return of.splits ? static_cast<int>(drawn % static_cast<std::uint64_t>(groups)) : 0;
}
int key_of(const SplitByCase& of, int rank) {
  return of.orders ? static_cast<int>((static_cast<std::uint64_t>(rank) + 7) * 0xd1342543de82ef95U >> 33) : 0;
}

Label color_label(const SplitByCase& of, int rank, int size) {
  if (!of.splits) return {};
  int group = group_of(of, rank, size);
  if (of.are_integers()) return group;
  // Five letters hold 26^5 numbers; longer names differ at their end, as those of nodes do.
  std::string text(of.text, 'n');
  for (std::size_t i = 0; i < 5; ++i, group /= 26)
    text[of.text - 1 - i] = static_cast<char>('a' + group % 26);
  return text;
}
Label key_label(const SplitByCase& of, int rank) {
  return of.orders ? Label(key_of(of, rank)) : Label();
}

struct Place {
  int size;
  int rank;
  int left;
  int right;
  friend bool operator==(const Place&, const Place&) = default;
};
Place place_of(const Chain& chain) {
  return {chain.size(), chain.rank(), chain.left(), chain.right()};
}

/// Of all ranks, by a serial sort.
std::vector<Place> expected_places(const SplitByCase& of, int size) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(group_of(of, a, size), key_of(of, a)) < std::pair(group_of(of, b, size), key_of(of, b));
  });
  std::vector<Place> places(order.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    for (end = first + 1;
         end < order.size() && group_of(of, order[first], size) == group_of(of, order[end], size);)
      ++end;
    for (std::size_t i = first; i < end; ++i) {
      places[static_cast<std::size_t>(order[i])] = {
          static_cast<int>(end - first), static_cast<int>(i - first),
          i == first ? MPI_PROC_NULL : order[i - 1], i + 1 == end ? MPI_PROC_NULL : order[i + 1]};
    }
  }
  return places;
}

void check_place(const SplitByCase& of, std::string_view algorithm, int rank, const Place& is,
                 const Place& expected) {
  if (is == expected) return;
  throw Error(MPI_ERR_OTHER,
              fmt::format("wisp split-by {}: {} gives rank {} another place than a serial sort", of.name,
                          algorithm, rank));
}

std::string variant_name(std::string_view algorithm) {
  return algorithm.empty() ? "chosen" : std::string(algorithm);
}

/// What a rank does with the items of many ranks: 20 ns for each and pass, as measured; no messages, so the
/// cluster does not know of it.
double seconds_of_items(std::string_view algorithm, int rank, int size) {
  constexpr double seconds_per_item = 20e-9;
  if (algorithm == "allgather") return seconds_per_item * size;
  if (algorithm == "gather-scatter") return rank == 0 ? 3 * seconds_per_item * size : 0;
  if (!algorithm.starts_with("cheng-")) return 0;
  const int most = items_at_leader(algorithm);
  return rank % most == 0 ? 3 * seconds_per_item * std::min(most, size - rank) : 0;
}
/// Bytes that one rank contributes: its color, its key, or both.
std::size_t bytes_of(const SplitByCase& of) {
  return (of.splits ? std::max(of.text, of.are_integers() ? sizeof(int) : 0) : 0) +
         (of.orders ? sizeof(int) : 0);
}

/// The most memory that a call takes on any rank.
std::size_t peak_of(const std::function<void(int)>& call) {
  const std::size_t before = wisp::detail::FramePool::live_bytes();
  wisp::detail::FramePool::begin_peak();
  call(0);
  unsigned long peak = wisp::detail::FramePool::peak_bytes() - before;
  wisp::detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD),
                          "MPI_Allreduce");
  return peak;
}

/// The tables of all ranks together would fill terabytes: of many ranks' tables only sizes travel.
constexpr int most_ranks_with_tables = 4096;

/// Whether a simulation of an algorithm ends within minutes and some gigabytes.
bool is_feasible(const SplitByCase& of, std::string_view algorithm, int size) {
  constexpr int most_ranks_of_allgather = 1 << 15;
  constexpr int most_ranks_at_one_root = 1 << 17;
  const int most_leaders = size > most_ranks_of_allgather ? 8 : 64;
  if (algorithm == "allgather-mpi") return false;
  if (algorithm == "allgather") {
    return size <= most_ranks_with_tables || (of.are_integers() && size <= most_ranks_of_allgather);
  }
  if (algorithm == "gather-scatter") return size <= most_ranks_at_one_root;
  return !algorithm.starts_with("cheng-") || size / items_at_leader(algorithm) <= most_leaders;
}

/// What is taken without a name.
std::string_view chosen_name(const SplitByCase& of, const SimulationOptions& cluster) {
  std::string_view name;
  simulate(cluster, [&](Comm comm) -> Task<> {
    if (comm.rank() == 0) {
      name = chosen_split(comm, color_label(of, 0, comm.size()), {}, key_label(of, 0));
    }
    co_return;
  });
  return name;
}

/// The numbers of a row, as text for another process.
std::string simulated_numbers(const SplitByCase& of, std::string_view algorithm, SimulationOptions cluster,
                              const std::vector<Place>& expected) {
  const int size = cluster.ranks;
  const bool is_checked = algorithm != "allgather" || size <= most_ranks_with_tables;
  if (!is_checked) cluster.carried_bytes = 64;
  const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
    const int rank = comm.rank();
    const Label color = color_label(of, rank, size);
    const Label key = key_label(of, rank);
    const Chain made = co_await async_split(comm, color, {}, key, {}, {algorithm});
    simulated_work(comm, seconds_of_items(algorithm, rank, size));
    if (is_checked) {
      check_place(of, algorithm, rank, place_of(made), expected[static_cast<std::size_t>(rank)]);
    }
  });
  std::size_t peak = 0;
  for (const auto& rank : run.ranks) peak = std::max(peak, rank.peak_bytes);
  return fmt::format("{:a} {} {} {}", run.seconds * 1e6, run.messages, run.bytes, peak);
}

/// The row of numbers that come from another process.
Row row_of(const std::string& text, const SplitByCase& of, int size) {
  std::istringstream numbers(text);
  std::string seconds;
  std::uint64_t messages = 0, volume = 0, peak = 0;
  numbers >> seconds >> messages >> volume >> peak;
  const double us = std::strtod(seconds.c_str(), nullptr);
  return {.bench = "split-by",
          .case_name = of.name,
          .ranks = size,
          .bytes = bytes_of(of),
          .min_us = us,
          .median_us = us,
          .messages = messages,
          .volume = volume,
          .peak_bytes = peak};
}

}  // namespace

void bench_split_by(const Options& options) {
  const Comm comm = all_ranks();
  const Chain chain = comm;
  const int rank = comm.rank();
  const int size = comm.size();
  Report report(options, title_of("split-by", MPI_COMM_WORLD), rank == 0);
  for (const SplitByCase& of : chosen_cases(options)) {
    const Place expected = expected_places(of, size)[static_cast<std::size_t>(rank)];
    const Label color = color_label(of, rank, size);
    const Label key = key_label(of, rank);
    std::vector<Variant> variants;
    if (of.are_integers()) {
      variants.push_back({"MPI_Comm_split", [&](int) {
                            MPI_Comm made = MPI_COMM_NULL;
                            wisp::detail::check_mpi(MPI_Comm_split(MPI_COMM_WORLD, group_of(of, rank, size),
                                                                   key_of(of, rank), &made),
                                                    "MPI_Comm_split");
                            MPI_Comm_free(&made);
                          }});
    }
    for (const std::string_view algorithm : algorithms_for(of, options, size)) {
      const auto call = [=](int) {
        check_place(of, algorithm, rank, place_of(split(chain, color, {}, key, {}, {algorithm})), expected);
      };
      variants.push_back({variant_name(algorithm), call});
    }
    std::vector<std::size_t> peaks;
    for (const Variant& variant : variants) peaks.push_back(peak_of(variant.run));
    const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method_after_check(options));
    const Row cell{.bench = "split-by", .case_name = of.name, .ranks = size, .bytes = bytes_of(of)};
    std::vector<Row> rows = rows_of(cell, variants, timings);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (variants[i].name != "MPI_Comm_split") rows[i].peak_bytes = peaks[i];
    }
    report.add(rows);
  }
}

void simulate_split_by(const Options& options, const SimulationOptions& cluster) {
  const int size = cluster.ranks;
  SimulationOptions untraced = cluster;
  untraced.trace.clear();
  Report report(options, fmt::format("wisp simulate split-by: {} ranks, virtual time", size), true);
  const std::vector<SplitByCase> cases = chosen_cases(options);
  std::vector<std::vector<std::string_view>> names;
  for (const SplitByCase& of : cases) names.push_back(algorithms_for(of, options, size));
  // Also the choice needs a cluster: in another process, so that simulations begin with memory that none had.
  std::vector<std::function<std::string()>> choices;
  for (std::size_t of = 0; of < cases.size(); ++of) {
    choices.emplace_back([&, of] {
      const bool is_asked_for = std::ranges::find(names[of], "") != names[of].end();
      return std::string(is_asked_for ? chosen_name(cases[of], untraced) : "");
    });
  }
  const std::vector<std::string> chosen = run_in_processes(choices);
  // The same options give the same run: what is chosen has mostly been seen already.
  struct Run {
    std::size_t of;
    std::string_view name;
    bool operator==(const Run&) const = default;
  };
  struct Reported {
    std::size_t of;
    std::string_view algorithm;
    std::size_t run;
  };
  std::vector<Run> runs;
  std::vector<Reported> reported;
  for (std::size_t of = 0; of < cases.size(); ++of) {
    for (const std::string_view algorithm : names[of]) {
      const Run run{of, algorithm.empty() ? chosen[of] : algorithm};
      auto seen = std::ranges::find(runs, run);
      if (seen == runs.end()) {
        if (!is_feasible(cases[of], run.name, size)) continue;
        runs.push_back(run);
        seen = std::prev(runs.end());
      }
      reported.push_back({of, algorithm, static_cast<std::size_t>(seen - runs.begin())});
    }
  }
  if (runs.empty()) {
    throw cli::BadInput(fmt::format("wisp simulate split-by: --algorithm {} is not simulated on {} ranks",
                                    options.algorithm, size));
  }
  std::vector<std::function<std::string()>> tasks;
  for (const Run& run : runs) {
    tasks.emplace_back([&] {
      const SplitByCase& of = cases[run.of];
      const bool is_last = &run == &runs.back();  // each is a process of its own, and a file has one
      return simulated_numbers(of, run.name, is_last ? cluster : untraced, expected_places(of, size));
    });
  }
  const std::vector<std::string> texts = run_in_processes(tasks);
  for (std::size_t of = 0; of < cases.size(); ++of) {
    std::vector<Row> rows;
    for (const Reported& row : reported) {
      if (row.of != of) continue;
      rows.push_back(row_of(texts[row.run], cases[of], size));
      rows.back().variant = variant_name(row.algorithm);
    }
    report.add(rows);
  }
}

}  // namespace wisp::bench
