// Groups by any data: the ranks of one host, ordered by how much memory they use, and the first rank of every
// host as one more group: two levels, without an MPI communicator.

#include <cstdio>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const double load = 1.0 / (1 + world.rank() % 3);
    // A color of text, a key of numbers: whatever can be compared.
    const wisp::Chain host = wisp::split(world, wisp::host_name(), {}, load);
    double least = 0;
    host.allreduce(wisp::buffer_of(load), wisp::buffer_of(least), MPI_MIN);
    std::printf("rank %d is number %d of %d on %s; the least load here is %.2f\n", world.rank(), host.rank(),
                host.size(), wisp::host_name().c_str(), least);

    const wisp::TwoLevels levels = wisp::two_level(world, wisp::host_name());
    double sum = 0;
    levels.members.reduce(wisp::buffer_of(load), wisp::buffer_of(sum), MPI_SUM, 0);
    if (!levels.leaders.empty()) {
      double total = 0;
      levels.leaders.reduce(wisp::buffer_of(sum), wisp::buffer_of(total), MPI_SUM, 0);
      if (levels.leaders.rank() == 0) std::printf("%d hosts, load %.2f\n", levels.leaders.size(), total);
    }

    // Messages between any two of a group need a communicator, with memory for all of its ranks.
    const wisp::Comm comm = host.to_comm();
    int heard = -1;
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    comm.sendrecv(wisp::buffer_of(next), next, 0, wisp::buffer_of(heard), previous, 0);
    if (heard != comm.rank()) return 1;
  }
  MPI_Finalize();
}
