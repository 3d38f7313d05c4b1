// What would this cost on 10,000 ranks? The same coroutines run on a simulated cluster, in this process.

#include <cstdio>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    wisp::SimulationOptions cluster;
    cluster.ranks = 10000;
    cluster.latency = 1.5e-6;
    const wisp::SimulationReport report = wisp::simulate(cluster, [](wisp::Comm comm) -> wisp::Task<> {
      const int mine = comm.rank();
      long before = 0;
      const long contribution = mine;
      co_await wisp::exscan(comm, wisp::buffer_of(contribution), wisp::buffer_of(before), MPI_SUM);
      co_await wisp::barrier(comm);
    });
    std::printf("%.1f µs, %llu messages, at most %d one after the other\n", report.seconds * 1e6,
                static_cast<unsigned long long>(report.messages), report.rounds);
  }
  MPI_Finalize();
}
