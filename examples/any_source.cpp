// Results from whoever is done first: wildcards see only messages of their communicator.

#include <cstdio>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    if (world.rank() == 0) {
      for (int i = 1; i < world.size(); ++i) {
        const wisp::Status next = world.probe();
        std::vector<int> result(next.count(MPI_INT));
        world.receive(result, next.source, next.tag);
        std::printf("rank %d sent %zu numbers\n", next.source, result.size());
      }
    } else {
      const std::vector<int> result(static_cast<std::size_t>(world.rank()), 42);
      world.send(result, 0, 1);
    }
  }
  MPI_Finalize();
}
