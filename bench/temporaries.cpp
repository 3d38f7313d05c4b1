// Communicators that come and go, each made, used for one broadcast, and dropped, beside others that stay:
// what it costs that their codes come back.

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "wisp/collectives.hpp"

namespace wisp::bench {
namespace {

constexpr int kept_count = 1000;
constexpr int in_a_call = 1000;

std::vector<Comm> make_kept(const Comm& comm, int count) {
  std::vector<Comm> kept;
  for (int i = 0; i < count; ++i) kept.push_back(comm.range(0, comm.size() - 1));
  return kept;
}

Row row_of(int kept, int ranks, const Timing& timing) {
  return {"temporaries",
          fmt::format("kept={}", kept),
          "used once",
          ranks,
          sizeof(int),
          timing.min_us / in_a_call,
          timing.median_us / in_a_call,
          {},
          {},
          {}};
}

}  // namespace

void bench_temporaries(const Options& options) {
  // Pairs count per World: each variant has one of its own, with codes for all that are kept.
  std::vector<MPI_Comm> below(2, MPI_COMM_NULL);
  std::vector<Comm> worlds;
  for (MPI_Comm& mpi : below) {
    detail::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &mpi), "MPI_Comm_dup");
    worlds.push_back(Comm::duplicate(mpi, {16}));
  }
  std::vector<Comm> kept = make_kept(worlds[1], kept_count);
  int value = 0;
  const auto use = [&](const Comm& comm) { comm.bcast(buffer_of(value), 0); };
  for (const Comm& comm : kept) use(comm);
  const auto come_and_go = [&](const Comm& comm) {
    for (int i = 0; i < in_a_call; ++i) use(comm.range(0, comm.size() - 1));
  };
  Report report(options, title_of("temporaries", MPI_COMM_WORLD), worlds[0].rank() == 0);
  const std::vector<Timing> timings = measure(
      MPI_COMM_WORLD,
      {{"kept=0", [&](int) { come_and_go(worlds[0]); }}, {"kept=1000", [&](int) { come_and_go(worlds[1]); }}},
      method_of(options));
  report.add({row_of(0, worlds[0].size(), timings[0]), row_of(kept_count, worlds[0].size(), timings[1])});
  kept.clear();
  worlds.clear();
  for (MPI_Comm& mpi : below) MPI_Comm_free(&mpi);
}

void simulate_temporaries(const Options& options, const SimulationOptions& cluster) {
  Report report(options,
                fmt::format("wisp simulate temporaries: {} ranks, virtual time of {} communicators",
                            cluster.ranks, 10 * in_a_call),
                true);
  std::vector<Row> rows;
  for (const int count : {0, kept_count}) {
    SimulationOptions with_codes = cluster;
    with_codes.tag_upper_bound = (1 << 28) - 1;  // as in MPICH: the exchanges show
    with_codes.mpi_communicators = 16;
    const SimulationReport run = simulate(with_codes, [&](Comm comm) -> Task<> {
      const std::vector<Comm> kept = make_kept(comm, count);
      int value = 0;
      for (int i = 0; i < 10 * in_a_call; ++i) {
        co_await bcast(comm.range(0, comm.size() - 1), buffer_of(value), 0);
      }
    });
    Row row = row_of(count, cluster.ranks, {run.seconds * 1e5, run.seconds * 1e5});
    row.messages = run.messages;
    row.volume = run.bytes;
    rows.push_back(row);
  }
  report.add(rows);
}

}  // namespace wisp::bench
