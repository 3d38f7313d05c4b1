// A broadcast on half of the ranks: a communicator for them is made, and used for 1 or for 50 broadcasts.

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "modelled_creation.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

constexpr int repeats_of_cases[] = {1, 50};

enum class Creation { split, create_group };

/// The first half of MPI_COMM_WORLD; MPI_COMM_NULL for the others.
MPI_Comm make_half(Creation creation, int rank, int half) {
  if (creation == Creation::split) {
    MPI_Comm made = MPI_COMM_NULL;
    const int color = rank < half ? 0 : MPI_UNDEFINED;
    detail::check_mpi(MPI_Comm_split(MPI_COMM_WORLD, color, rank, &made), "MPI_Comm_split");
    return made;
  }
  return rank < half ? make_mpi_range(MPI_COMM_WORLD, 0, half - 1) : MPI_COMM_NULL;
}

void make_and_free(Creation creation, int rank, int half) {
  MPI_Comm made = make_half(creation, rank, half);
  if (made != MPI_COMM_NULL) detail::check_mpi(MPI_Comm_free(&made), "MPI_Comm_free");
}

/// The way of making a communicator that is faster here.
Creation faster_creation(int rank, int half) {
  const std::vector<Timing> timings =
      measure(MPI_COMM_WORLD,
              {{"split", [&](int) { make_and_free(Creation::split, rank, half); }},
               {"create_group", [&](int) { make_and_free(Creation::create_group, rank, half); }}},
              {10, 2, 1});
  return timings[0].median_us < timings[1].median_us ? Creation::split : Creation::create_group;
}

std::vector<int> counts_of(const Options& options) {
  return sizes_of(options, {1, 1 << 6, 1 << 9},
                  {1, 1 << 3, 1 << 6, 1 << 9, 1 << 10, 1 << 12, 1 << 15, 1 << 18});
}

Row row_of(const std::string& variant, int repeats, int ranks, int count, const Timing& timing) {
  return {"range-bcast",
          variant,
          fmt::format("repeats={}", repeats),
          ranks,
          static_cast<std::size_t>(count) * sizeof(double),
          timing.min_us,
          timing.median_us,
          {},
          {},
          {}};
}

}  // namespace

void bench_range_bcast(const Options& options) {
  const Comm comm = all_ranks();
  const int rank = comm.rank();
  const int half = std::max(1, comm.size() / 2);
  const Creation creation = faster_creation(rank, half);
  Report report(options,
                fmt::format("{}; MPI by {} and {}", title_of("range-bcast", MPI_COMM_WORLD),
                            creation == Creation::split ? "MPI_Comm_split" : "MPI_Comm_create_group",
                            is_simulated_mpi() ? "MPI_Bcast" : "MPI_Ibcast"),
                rank == 0);
  for (const int repeats : repeats_of_cases) {
    for (const int count : counts_of(options)) {
      std::vector<double> data(static_cast<std::size_t>(count));
      const auto by_wisp = [&](int) {
        if (rank >= half) return;
        const Comm range = comm.range(0, half - 1);
        for (int i = 0; i < repeats; ++i) range.ibcast(data, i % half).wait();
      };
      const auto by_mpi = [&](int) {
        MPI_Comm made = make_half(creation, rank, half);
        if (made == MPI_COMM_NULL) return;
        for (int i = 0; i < repeats; ++i) {
          if (is_simulated_mpi()) {  // its nonblocking broadcast is the root's messages to all, and nobody's
            detail::check_mpi(MPI_Bcast(data.data(), count, MPI_DOUBLE, i % half, made), "MPI_Bcast");
            continue;
          }
          MPI_Request request = MPI_REQUEST_NULL;
          detail::check_mpi(MPI_Ibcast(data.data(), count, MPI_DOUBLE, i % half, made, &request),
                            "MPI_Ibcast");
          detail::check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        }
        detail::check_mpi(MPI_Comm_free(&made), "MPI_Comm_free");
      };
      const std::vector<Timing> timings =
          measure(MPI_COMM_WORLD, {{"wisp", by_wisp}, {"MPI", by_mpi}}, method_of(options));
      report.add({row_of("wisp", repeats, comm.size(), count, timings[0]),
                  row_of("MPI", repeats, comm.size(), count, timings[1])});
    }
  }
}

void simulate_range_bcast(const Options& options, const SimulationOptions& cluster) {
  Report report(
      options,
      fmt::format("wisp simulate range-bcast: {} ranks, virtual time, MPI's creation modelled and then "
                  "the same broadcasts",
                  cluster.ranks),
      true);
  const int half = std::max(1, cluster.ranks / 2);
  for (const int repeats : repeats_of_cases) {
    for (const int count : counts_of(options)) {
      if (8.0 * count * half > 2e9) {
        if (options.count > 0 && repeats == repeats_of_cases[0]) report.leave_out("range-bcast", count);
        continue;
      }
      std::vector<Row> rows;
      for (const bool by_wisp : {true, false}) {
        const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
          const Comm range = comm.range(0, half - 1);
          if (!range.is_member()) co_return;
          if (!by_wisp) co_await model_mpi_creation(range.channel("modelled creation"));
          std::vector<double> data(static_cast<std::size_t>(count));
          for (int i = 0; i < repeats; ++i) co_await bcast(range, data, i % half);
        });
        rows.push_back(
            simulated_row(row_of(by_wisp ? "wisp" : "MPI", repeats, cluster.ranks, count, {}), run));
      }
      report.add(rows);
    }
  }
}

}  // namespace wisp::bench
