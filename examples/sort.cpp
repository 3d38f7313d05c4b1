// Numbers that lie anywhere, sorted: afterwards every rank has the same share, in order.

#include <cstdio>
#include <random>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    std::mt19937 random(static_cast<unsigned>(world.rank()));
    // An uneven start: rank r has 1000 · r numbers.
    std::vector<double> data(static_cast<std::size_t>(1000 * world.rank()));
    for (double& x : data) x = std::exponential_distribution<double>()(random);

    wisp::sort(world, data);

    if (!data.empty()) {
      std::printf("rank %d has %zu numbers from %.4f to %.4f\n", world.rank(), data.size(), data.front(),
                  data.back());
    }
  }
  MPI_Finalize();
}
