// A time step that always does the same: its collectives are made once and started in every step.

#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    double residual = 0, largest = 0;
    std::vector<double> parameters(4);
    // Arguments are checked and algorithms chosen here, not in the loop.
    std::vector<wisp::Request> step;
    step.push_back(world.bcast_init(parameters, 0));
    step.push_back(world.allreduce_init(wisp::buffer_of(residual), wisp::buffer_of(largest), MPI_MAX));

    for (int time = 0; time < 10; ++time) {
      if (world.rank() == 0) parameters[0] = 0.1 * time;
      residual = 1.0 / (1 + time + world.rank());
      wisp::start_all(step);
      wisp::wait_all(step);
      if (largest != 1.0 / (1 + time) || parameters[0] != 0.1 * time) failed = 1;
    }
    if (world.rank() == 0) std::printf("largest residual at the end: %.2f\n", largest);
  }
  MPI_Finalize();
  return failed;
}
