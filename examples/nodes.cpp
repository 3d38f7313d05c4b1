// What the ranks of each node write goes through one of them; and how much less passes between nodes when a
// collective knows who shares one, on a simulated cluster.

#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

namespace {

/// Messages between nodes of an allgather of 512 bytes.
std::uint64_t messages_between(const wisp::SimulationOptions& cluster, const char* algorithm) {
  const wisp::SimulationReport report = wisp::simulate(cluster, [&](wisp::Comm comm) -> wisp::Task<> {
    std::vector<double> mine(64), all(64 * static_cast<std::size_t>(comm.size()));
    co_await wisp::allgather(comm, mine, all, {.algorithm = algorithm});
  });
  return report.messages_between_nodes;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const wisp::Comm node = world.node();             // no message: duplicate has learned who shares a node
    const wisp::Comm leaders = world.node_leaders();  // empty for all but the first of each node

    const int mine = world.rank();
    int sum = 0;
    node.reduce(wisp::buffer_of(mine), wisp::buffer_of(sum), MPI_SUM, 0);
    if (leaders.is_member()) leaders.allreduce(wisp::in_place(), wisp::buffer_of(sum), MPI_SUM);
    node.bcast(wisp::buffer_of(sum), 0);
    failed = sum == world.size() * (world.size() - 1) / 2 ? 0 : 1;
    if (world.rank() == 0) std::printf("%d ranks on %d nodes\n", world.size(), leaders.size());

    wisp::SimulationOptions cluster;
    cluster.ranks = 64;
    for (int rank = 0; rank < cluster.ranks; ++rank) cluster.nodes.push_back(rank / 16);
    const std::uint64_t flat = messages_between(cluster, "dissemination");
    const std::uint64_t by_node = messages_between(cluster, "two_level");
    if (world.rank() == 0) {
      std::printf("an allgather among 4 nodes of 16 ranks: %d messages between nodes, in two levels %d\n",
                  static_cast<int>(flat), static_cast<int>(by_node));
    }
    failed |= by_node < flat ? 0 : 1;
  }
  MPI_Finalize();
  return failed;
}
