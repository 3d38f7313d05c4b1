// Two halves of all ranks broadcast at the same time, over communicators that cost nothing to make.

#include <cstdio>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const int middle = world.size() / 2;
    const bool is_left = world.rank() < middle;
    // Local: no message, no synchronization.
    const wisp::Comm half = is_left ? world.range(0, middle - 1) : world.range(middle, world.size() - 1);

    double value = half.rank() == 0 ? (is_left ? 1.5 : 2.5) : 0;
    wisp::Request broadcast = half.ibcast(wisp::buffer_of(value), 0);
    // … other work …
    broadcast.wait();
    std::printf("rank %d of %d: rank %d of its half has %.1f\n", world.rank(), world.size(), half.rank(),
                value);
  }
  MPI_Finalize();
}
