// Sorting doubles: Janus Quicksort over wisp's communicators, the same over communicators that MPI makes for
// each group, and a sample sort with MPI_Alltoallv.

#include "wisp/sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "benchmarks.hpp"
#include "cli/bad_input.hpp"
#include "comm/comm_access.hpp"
#include "modelled_creation.hpp"

namespace wisp::bench {
namespace {

std::vector<double> make_input(std::string_view distribution, int rank, int ranks, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 17);
  std::vector<double> data(count);
  const double all = static_cast<double>(count) * ranks;
  for (std::size_t i = 0; i < count; ++i) {
    const double position = static_cast<double>(count) * rank + static_cast<double>(i);
    if (distribution == "uniform")
      data[i] = std::uniform_real_distribution<double>()(random);
    else if (distribution == "duplicates")
      data[i] = static_cast<double>(random() % 16);
    else if (distribution == "sorted")
      data[i] = position;
    else if (distribution == "reverse")
      data[i] = all - position;
    else
      data[i] = 1;
  }
  return data;
}

/// Makes each group of the sort a communicator of MPI's.
class MpiGroups {
 public:
  SortOptions options() {
    SortOptions options;
    options.make_group = [this](Channel group, int first, int last) { return make(group, first, last); };
    return options;
  }
  void free_all() { worlds_.clear(); }

 private:
  Task<Channel> make(Channel group, int first, int last) {
    const MPI_Comm parent = group.world().mpi_comm();
    const MPI_Comm made = make_mpi_range(parent, group.group().to_world(first), group.group().to_world(last));
    const int size = last - first + 1;
    const int rank = group.rank() - first;
    detail::World::Facts facts = group.world().facts();
    facts.rank = rank;
    facts.size = size;
    worlds_.push_back(detail::World::over_own({{made}, facts}));
    co_return detail::CommAccess::make_root(worlds_.back(), detail::TagLayout::Kind::raw)
        .channel("wisp::sort");
  }

  std::vector<std::shared_ptr<detail::World>> worlds_;
};

Task<Channel> make_modelled_group(Channel group, int first, int last) {
  const Channel made = group.range(first, last);
  co_await model_mpi_creation(made);
  co_return made;
}

/// Sample sort: splitters from a sample of every rank, one MPI_Alltoallv. The output is not balanced.
void sample_sort(std::vector<double>& data, MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  constexpr int samples_of_a_rank = 32;
  std::vector<double> sample(samples_of_a_rank);
  std::mt19937_64 random(data.size());
  for (double& s : sample) s = data[random() % data.size()];
  std::vector<double> all(static_cast<std::size_t>(size) * samples_of_a_rank);
  MPI_Allgather(sample.data(), samples_of_a_rank, MPI_DOUBLE, all.data(), samples_of_a_rank, MPI_DOUBLE,
                comm);
  std::sort(all.begin(), all.end());
  std::sort(data.begin(), data.end());

  const auto ranks = static_cast<std::size_t>(size);
  std::vector<int> send_counts(ranks), receive_counts(ranks), send_begins(ranks), receive_begins(ranks);
  auto begin = data.begin();
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto end =
        r + 1 == ranks ? data.end() : std::upper_bound(begin, data.end(), all[(r + 1) * samples_of_a_rank]);
    send_counts[r] = static_cast<int>(end - begin);
    send_begins[r] = static_cast<int>(begin - data.begin());
    begin = end;
  }
  MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, comm);
  int total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    receive_begins[r] = total;
    total += receive_counts[r];
  }
  std::vector<double> received(static_cast<std::size_t>(total));
  MPI_Alltoallv(data.data(), send_counts.data(), send_begins.data(), MPI_DOUBLE, received.data(),
                receive_counts.data(), receive_begins.data(), MPI_DOUBLE, comm);
  std::sort(received.begin(), received.end());
  data = std::move(received);
}

const std::vector<std::string_view> distributions = {"uniform", "duplicates", "sorted", "reverse", "equal"};

std::vector<std::string_view> chosen_distributions(const Options& options) {
  check_choice("sort", "--op", options.op, distributions);
  return options.op.empty() ? distributions : std::vector<std::string_view>{options.op};
}

std::vector<std::size_t> counts(const Options& options) {
  return sizes_of<std::size_t>(options, {1, 2, 16, 128, 1024},
                               {1, 2, 16, 128, 1024, 1 << 13, 1 << 16, 1 << 20});
}

/// Those to measure, and without a name the one that is chosen.
std::vector<std::string_view> algorithms_for(const Options& options) {
  const std::vector<std::string_view> all = {"janus", "rquick", "merge", "chosen"};
  check_choice("sort", "--algorithm", options.algorithm, all);
  return options.algorithm.empty() ? all : std::vector<std::string_view>{options.algorithm};
}
SortOptions by(std::string_view algorithm) {
  SortOptions options;
  if (algorithm != "chosen") options.algorithm = algorithm;
  return options;
}

/// Every rank has samples for every other.
bool merges(int ranks) {
  constexpr int most_simulated = 1024;
  return ranks <= most_simulated;
}

/// A message from every rank to every other takes a simulated MPI hours.
bool has_time_for_all_to_all(const Comm& comm) {
  constexpr int most_ranks = 2048;
  return !is_simulated_mpi() || comm.size() <= most_ranks;
}

/// Throws unless the ranks' elements ascend and there are as many as before.
void check_sorted(std::string_view variant, const std::vector<double>& data, std::size_t before,
                  const Comm& comm) {
  // Not by MPI's: where it is simulated, its scan is a message from everybody to everybody.
  long long totals[2] = {static_cast<long long>(before), static_cast<long long>(data.size())};
  comm.allreduce(in_place(), Buffer(totals), MPI_SUM);
  const double none = -1e300;
  const double last = data.empty() ? none : data.back();
  double below = none;
  comm.exscan(buffer_of(last), buffer_of(below), MPI_MAX);
  const bool follows = data.empty() || below <= data.front();
  if (!std::is_sorted(data.begin(), data.end()) || !follows || totals[0] != totals[1]) {
    throw Error(MPI_ERR_OTHER, fmt::format("wisp bench sort: {} did not sort (rank {} of {})", variant,
                                           comm.rank(), comm.size()));
  }
}

}  // namespace

void bench_sort(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("sort", MPI_COMM_WORLD), comm.rank() == 0);
  for (const std::string_view distribution : chosen_distributions(options)) {
    for (const std::size_t count : counts(options)) {
      const std::vector<double> input = make_input(distribution, comm.rank(), comm.size(), count);
      std::vector<double> data;
      MpiGroups groups;
      const SortOptions over_mpi = groups.options();
      std::vector<Variant> variants;
      for (const std::string_view algorithm : algorithms_for(options)) {
        variants.push_back({std::string(algorithm), [&, algorithm](int) {
                              data = input;
                              sort(comm, data, Ascending{}, by(algorithm));
                            }});
      }
      variants.push_back({"janus-mpi-comm", [&](int) {
                            data = input;
                            sort(comm, data, Ascending{}, over_mpi);
                            groups.free_all();
                          }});
      if (has_time_for_all_to_all(comm)) {
        variants.push_back({"sample-sort", [&](int) {
                              data = input;
                              sample_sort(data, MPI_COMM_WORLD);
                            }});
      }
      for (const Variant& variant : variants) {
        variant.run(0);
        check_sorted(variant.name, data, count, comm);
      }
      const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method_after_check(options));
      const Row cell{.bench = "sort",
                     .case_name = std::string(distribution),
                     .ranks = comm.size(),
                     .bytes = count * sizeof(double)};
      report.add(rows_of(cell, variants, timings));
    }
  }
}

void simulate_sort(const Options& options, const SimulationOptions& cluster) {
  Report report(options, fmt::format("wisp simulate sort: {} ranks, virtual time", cluster.ranks), true);
  for (const std::string_view distribution : chosen_distributions(options)) {
    if (options.quick && options.op.empty() && distribution != "uniform" && distribution != "equal") continue;
    for (const std::size_t count : sizes_of<std::size_t>(options, {16}, {1, 2, 16, 128, 1024})) {
      if (static_cast<double>(count) * cluster.ranks * 8 > 1e9) {
        if (options.count > 0) report.leave_out("sort", options.count);
        continue;
      }
      std::vector<Row> rows;
      const auto simulated = [&](std::string_view variant, const SortOptions& sort_options) {
        const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
          std::vector<double> data = make_input(distribution, comm.rank(), comm.size(), count);
          co_await async_sort(comm, data, Ascending{}, sort_options);
          if (!std::is_sorted(data.begin(), data.end()) || data.size() != count) {
            throw Error(MPI_ERR_OTHER, "wisp simulate sort: not sorted");
          }
        });
        rows.push_back(simulated_row({.bench = "sort",
                                      .variant = std::string(variant),
                                      .case_name = std::string(distribution),
                                      .ranks = cluster.ranks,
                                      .bytes = count * sizeof(double)},
                                     run));
      };
      for (const std::string_view algorithm : algorithms_for(options)) {
        if (algorithm == "merge" && !merges(cluster.ranks)) {
          if (options.algorithm != "merge") continue;
          throw cli::BadInput(
              fmt::format("wisp simulate sort: merge is not simulated on {} ranks", cluster.ranks));
        }
        simulated(algorithm, by(algorithm));
      }
      SortOptions over_mpi;
      over_mpi.make_group = make_modelled_group;
      simulated("janus-mpi-comm", over_mpi);
      report.add(rows);
    }
  }
}

}  // namespace wisp::bench
