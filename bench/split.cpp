// Splitting the ranks into two halves: a range communicator beside MPI_Comm_split and MPI_Comm_create_group.

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

/// The half of 0 … size-1 that `rank` is in.
Range half_of(int rank, int size) {
  const int middle = size / 2;
  return rank < middle ? Range::between(0, middle - 1) : Range::between(middle, size - 1);
}

}  // namespace

void bench_split(const Options& options) {
  const Comm comm = all_ranks();
  const Range half = half_of(comm.rank(), comm.size());
  const int last = half.to_parent(half.size - 1);
  // So short a call needs many to be seen by a clock; the second one is warm.
  const int creations = options.cold ? 1 : 100;
  const std::vector<Variant> variants = {
      {"wisp",
       [&](int) {
         for (int i = 0; i < creations; ++i) {
           const Comm made = comm.range(half.first, last);
           if (made.size() != half.size) throw Error(MPI_ERR_OTHER, "wisp bench split: wrong size");
         }
       }},
      {"MPI_Comm_split",
       [&](int) {
         MPI_Comm made = MPI_COMM_NULL;
         detail::check_mpi(MPI_Comm_split(MPI_COMM_WORLD, half.first, comm.rank(), &made), "MPI_Comm_split");
         MPI_Comm_free(&made);
       }},
      {"MPI_Comm_create_group", [&](int) {
         MPI_Comm made = make_mpi_range(MPI_COMM_WORLD, half.first, last);
         MPI_Comm_free(&made);
       }}};
  Report report(options, title_of("split", MPI_COMM_WORLD), comm.rank() == 0);
  std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method_of(options));
  timings[0].min_us /= creations;
  timings[0].median_us /= creations;
  const Row cell{.bench = "split", .case_name = "halves", .ranks = comm.size()};
  report.add(rows_of(cell, variants, timings));
  if (comm.rank() != 0) return;
  if (is_simulated_mpi()) {
    fmt::print("\na wisp communicator takes no message, and only messages take time here\n");
  } else {
    fmt::print("\na wisp communicator: {:.1f} ns (best {:.1f})\n", timings[0].median_us * 1e3,
               timings[0].min_us * 1e3);
  }
}

void simulate_split(const Options& options, const SimulationOptions& cluster) {
  Report report(
      options, fmt::format("wisp simulate split: {} ranks (real time of one creation)", cluster.ranks), true);
  double seconds = 0;
  const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
    const Range half = half_of(comm.rank(), comm.size());
    const int last = half.to_parent(half.size - 1);
    if (comm.rank() == 0) {
      constexpr int creations = 100000;
      const double start = MPI_Wtime();
      for (int i = 0; i < creations; ++i) {
        const Comm made = comm.range(half.first, last);
        if (made.size() != half.size) throw Error(MPI_ERR_OTHER, "wisp simulate split: wrong size");
      }
      seconds = (MPI_Wtime() - start) / creations;
    } else {
      const Comm made = comm.range(half.first, last);
    }
    co_return;
  });
  report.add({{"split",
               "wisp",
               "halves",
               cluster.ranks,
               {},
               seconds * 1e6,
               seconds * 1e6,
               run.messages,
               run.bytes,
               {}}});
  fmt::print("\na wisp communicator: {:.1f} ns, {} messages\n", seconds * 1e9, run.messages);
}

}  // namespace wisp::bench
