// Overlapping communicators of four ranks, 0..3, 3..6, 6..9, …: a rank that is in two of them makes the left
// one first (cascaded), or every other such rank the right one (alternating).

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "modelled_creation.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

enum class Schedule { cascaded, alternating };

/// The communicators of one rank as first ranks of theirs, in the order in which it makes them.
std::vector<int> firsts_of(int rank, int size, Schedule schedule) {
  constexpr int step = 3;
  std::vector<int> firsts;
  const int right = rank / step * step;
  if (rank % step == 0 && rank > 0) firsts.push_back(right - step);
  if (right + 1 < size) firsts.push_back(right);
  const bool is_in_two = firsts.size() == 2;
  if (is_in_two && schedule == Schedule::alternating && rank / step % 2 == 1) std::swap(firsts[0], firsts[1]);
  return firsts;
}

int last_of(int first, int size) {
  return std::min(first + 3, size - 1);
}

void make_by_mpi(const std::vector<int>& firsts, int size) {
  for (const int first : firsts) {
    MPI_Comm made = make_mpi_range(MPI_COMM_WORLD, first, last_of(first, size), first);
    MPI_Comm_free(&made);
  }
}

void make_by_wisp(const Comm& comm, const std::vector<int>& firsts) {
  for (const int first : firsts) {
    const Comm made = comm.range(first, last_of(first, comm.size()));
    if (!made.is_member()) throw Error(MPI_ERR_OTHER, "wisp bench overlap: not a member");
  }
}

Row row_of(const std::string& variant, int ranks, const Timing& timing) {
  return {"overlap", variant, "size=4", ranks, {}, timing.min_us, timing.median_us, {}, {}, {}};
}

}  // namespace

void bench_overlap(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("overlap", MPI_COMM_WORLD), comm.rank() == 0);
  // So short a call needs many to be seen by a clock; the second one is warm.
  const int creations = options.cold ? 1 : 100;
  std::vector<Variant> variants;
  for (const bool by_wisp : {true, false}) {
    for (const Schedule schedule : {Schedule::cascaded, Schedule::alternating}) {
      const std::vector<int> firsts = firsts_of(comm.rank(), comm.size(), schedule);
      const std::string name = std::string(by_wisp ? "wisp" : "MPI") +
                               (schedule == Schedule::cascaded ? "-cascaded" : "-alternating");
      if (by_wisp) {
        variants.push_back({name, [&comm, firsts, creations](int) {
                              for (int i = 0; i < creations; ++i) make_by_wisp(comm, firsts);
                            }});
      } else {
        variants.push_back({name, [firsts, size = comm.size()](int) { make_by_mpi(firsts, size); }});
      }
    }
  }
  std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method_of(options));
  std::vector<Row> rows;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (variants[v].name.starts_with("wisp")) {
      timings[v].min_us /= creations;
      timings[v].median_us /= creations;
    }
    rows.push_back(row_of(variants[v].name, comm.size(), timings[v]));
  }
  report.add(rows);
  if (comm.rank() == 0) {
    fmt::print("\nwisp: {:.1f} ns cascaded, {:.1f} ns alternating\n", timings[0].median_us * 1e3,
               timings[1].median_us * 1e3);
  }
}

void simulate_overlap(const Options& options, const SimulationOptions& cluster) {
  Report report(options,
                fmt::format("wisp simulate overlap: {} ranks, virtual time; wisp's creations take no "
                            "message, MPI's are modelled",
                            cluster.ranks),
                true);
  std::vector<Row> rows;
  for (const bool by_wisp : {true, false}) {
    for (const Schedule schedule : {Schedule::cascaded, Schedule::alternating}) {
      const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
        const std::vector<int> firsts = firsts_of(comm.rank(), comm.size(), schedule);
        if (by_wisp) {
          make_by_wisp(comm, firsts);
          co_return;
        }
        for (const int first : firsts) {
          const Comm made = comm.range(first, last_of(first, comm.size()));
          co_await model_mpi_creation(made.channel("modelled creation"));
        }
      });
      const std::string name = std::string(by_wisp ? "wisp" : "MPI") +
                               (schedule == Schedule::cascaded ? "-cascaded" : "-alternating");
      rows.push_back(simulated_row(row_of(name, cluster.ranks, {}), run));
    }
  }
  report.add(rows);
}

}  // namespace wisp::bench
