// Several threads of each rank, each with collectives of 8 bytes on a communicator of its own: wisp's one
// engine beside MPI's own locks. And what that engine's lock costs where nobody else wants it.

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

#include "benchmarks.hpp"
#include "comm/comm_access.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

constexpr int most_threads = 4;
constexpr int calls_of_thread = 200;

template <class Call>
void in_threads(int threads, Call call) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(call, t);
  call(0);
  for (std::thread& other : others) other.join();
}

/// Nanoseconds of one call, the least of several tries.
template <class Call>
double nanoseconds_of(Call call) {
  using Clock = std::chrono::steady_clock;
  constexpr int calls = 20000;
  double least = 1e9;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    least = std::min(least, seconds * 1e9 / calls);
  }
  return least;
}

}  // namespace

void bench_threads(const Options& options) {
  int level = MPI_THREAD_SINGLE;
  detail::check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_MULTIPLE) {
    throw Error(MPI_ERR_OTHER,
                "wisp bench threads: this MPI serves no several threads (MPI_THREAD_MULTIPLE)");
  }
  const Comm comm = all_ranks();
  std::vector<Comm> comms;
  std::vector<MPI_Comm> mpi_comms(most_threads);
  for (MPI_Comm& own : mpi_comms) {
    comms.push_back(comm.range(0, comm.size() - 1));
    detail::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &own), "MPI_Comm_dup");
  }
  Report report(options, title_of("threads", MPI_COMM_WORLD), comm.rank() == 0);
  for (int threads = 1; threads <= most_threads; threads *= 2) {
    const auto by_wisp = [&](int t) {
      double mine = 1, sum = 0;
      const Comm& own = comms[detail::as_size(t)];
      for (int i = 0; i < calls_of_thread; ++i) own.allreduce(buffer_of(mine), buffer_of(sum), MPI_SUM);
    };
    const auto by_mpi = [&](int t) {
      double mine = 1, sum = 0;
      for (int i = 0; i < calls_of_thread; ++i) {
        detail::check_mpi(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, mpi_comms[detail::as_size(t)]),
                          "MPI_Allreduce");
      }
    };
    const std::vector<Variant> variants = {{"wisp-blocking", [&](int) { in_threads(threads, by_wisp); }},
                                           {"MPI-blocking", [&](int) { in_threads(threads, by_mpi); }}};
    std::vector<Timing> timings =
        measure(MPI_COMM_WORLD, variants, {.samples = options.quick ? 10 : 30, .warm_up = 2, .calls = 1});
    for (Timing& timing : timings) {
      timing.min_us /= calls_of_thread;
      timing.median_us /= calls_of_thread;
    }
    const Row cell{.bench = "threads",
                   .case_name = fmt::format("op=allreduce threads={}", threads),
                   .ranks = comm.size(),
                   .bytes = sizeof(double)};
    report.add(rows_of(cell, variants, timings));
  }
  for (MPI_Comm& own : mpi_comms) MPI_Comm_free(&own);

  detail::Engine& engine = detail::CommAccess::world(comm).engine();
  const double lock = nanoseconds_of([&] { const detail::EngineLock held(engine, "wisp bench threads"); });
  const double copy = nanoseconds_of([&] { static_cast<void>(Comm(comm)); });
  if (comm.rank() == 0) {
    fmt::print("\nuncontended: the lock {:.1f} ns, a copy of a communicator {:.1f} ns\n", lock, copy);
  }
}

}  // namespace wisp::bench
