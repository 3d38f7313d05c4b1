// Two threads of each rank, with a communicator each: one solves, the other tells now and then how far it is.
// And an operation that one thread starts and another waits for.

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int failed = 0;
  if (provided < MPI_THREAD_MULTIPLE) {
    std::puts("this MPI serves one thread at a time");
  } else {
    // Made before the threads begin, so in the same order on all ranks.
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const wisp::Comm for_solver = world.range(0, world.size() - 1);
    const wisp::Comm for_reports = world.range(0, world.size() - 1);

    double sum = 0;
    std::thread solver([&] {
      for (int step = 1; step <= 1000; ++step) {
        const double mine = 1.0 / step;
        for_solver.allreduce(wisp::buffer_of(mine), wisp::buffer_of(sum), MPI_SUM);
      }
    });
    std::vector<int> reports(static_cast<std::size_t>(for_reports.size()));
    for (int report = 0; report < 10; ++report) for_reports.allgather(wisp::buffer_of(report), reports);
    solver.join();
    if (std::abs(sum - world.size() * 0.001) > 1e-12) failed = 1;

    int answer = world.rank() == 0 ? 42 : 0;
    wisp::Request started = world.ibcast(wisp::buffer_of(answer), 0);
    std::thread([&] { started.wait(); }).join();
    if (answer != 42) failed = 1;
    if (world.rank() == 0)
      std::printf("%d ranks, two threads each: the answer is %d\n", world.size(), answer);
  }
  MPI_Finalize();
  return failed;
}
