#include <cstdio>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    std::vector<int> data = {world.size() - world.rank(), 0};
    wisp::sort(world, data);
    int sum = 0;
    world.allreduce(wisp::buffer_of(data[0]), wisp::buffer_of(sum), MPI_SUM);
    failed = data.size() == 2 && data[0] <= data[1] ? 0 : 1;
    if (world.rank() == 0) std::printf("sum %d\n", sum);
  }
  MPI_Finalize();
  return failed;
}
