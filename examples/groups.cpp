// Communicators of arbitrary ranks: the corners of a grid of ranks, and two groups that overlap and are made
// in different orders by different ranks.

#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const int last = world.size() - 1;
    // Local, no message: every member makes it, in the same order as others that they share.
    const wisp::Comm ends = world.subset(last > 0 ? std::vector<int>{last, 0} : std::vector<int>{0});
    if (ends.is_member()) std::printf("rank %d is rank %d of the ends\n", world.rank(), ends.rank());

    // In any order: a tag tells the creations apart.
    std::vector<int> backwards;
    for (int rank = last; rank >= 0; --rank) backwards.push_back(rank);
    wisp::Comm first, second;
    std::vector<wisp::Request> creations;
    if (world.rank() % 2 == 0) {
      creations.push_back(world.icreate_group(backwards, 1, first));
      creations.push_back(world.icreate_group(backwards, 2, second));
    } else {
      creations.push_back(world.icreate_group(backwards, 2, second));
      creations.push_back(world.icreate_group(backwards, 1, first));
    }
    wisp::wait_all(creations);
    int before = -1;
    const int rank = world.rank();
    first.exscan(wisp::buffer_of(rank), wisp::buffer_of(before), MPI_MIN);
    second.barrier();
    std::printf("rank %d: the smallest rank before it, backwards, is %d\n", rank, before);
  }
  MPI_Finalize();
}
