// Every rank has found a different number of particles that leave the domain; one rank collects them all and
// hands out new ones. Only that rank gives the counts.

#include <cstdio>
#include <numeric>
#include <vector>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const int root = world.size() / 2;
    const bool is_root = world.rank() == root;
    const std::vector<double> mine(static_cast<std::size_t>(world.rank() % 3), world.rank());

    // How many each rank has; where displacements are left out, blocks follow each other.
    int count = static_cast<int>(mine.size());
    std::vector<int> counts(is_root ? static_cast<std::size_t>(world.size()) : 0);
    world.gather(wisp::buffer_of(count), counts, root);
    std::vector<double> all(static_cast<std::size_t>(std::reduce(counts.begin(), counts.end())));
    world.gatherv(mine, {all, counts}, root);

    for (double& particle : all) particle = -particle;
    std::vector<double> back(mine.size());
    world.scatterv({all, counts}, back, root);
    for (std::size_t i = 0; i < back.size(); ++i) failed |= back[i] != -mine[i] ? 1 : 0;
    if (is_root) {
      std::printf("%zu particles; messages are direct up to %d ranks here\n", all.size(),
                  wisp::direct_gatherv_ranks(world));
    }

    // A count that is wrong is an error with names and sizes, not a wrong result.
    const std::vector<double> one(world.rank() == 0 ? 1 : mine.size(), 1);
    if (is_root) counts[0] = 2;
    all.resize(all.size() + 2);
    try {
      world.gatherv(one, {all, counts}, root);
      if (is_root && world.size() > 1) failed = 1;
    } catch (const wisp::Error& error) {
      std::printf("%s\n", error.what());
    }
  }
  MPI_Finalize();
  return failed;
}
