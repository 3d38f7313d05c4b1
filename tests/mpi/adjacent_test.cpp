// Neighborhoods of any lists beside MPI's own of a distributed graph.

#include <gtest/gtest.h>

#include <vector>

#include "graphs.hpp"
#include "wisp/error.hpp"
#include "wisp/neighborhood.hpp"

namespace wisp {
namespace {

TEST(AdjacentMpiTest, DoesWhatMpiDoesOnADistributedGraph) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomGraph of(size, seed);
    const std::vector<int>& sources = of.sources(rank);
    const std::vector<int>& targets = of.targets(rank);
    MPI_Comm graph = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                             MPI_UNWEIGHTED, static_cast<int>(targets.size()), targets.data(),
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
              MPI_SUCCESS);
    {
      const Neighborhood on = Neighborhood::of_graph(graph);
      ASSERT_EQ(on.sources().size(), sources.size());
      ASSERT_EQ(on.targets().size(), targets.size());
      const std::vector<int> sent = of.sent(rank, false), received = of.received(rank, false);
      std::vector<int> to(sent.size()), from(received.size());
      for (std::size_t i = 1; i < to.size(); ++i) to[i] = to[i - 1] + sent[i - 1];
      for (std::size_t i = 1; i < from.size(); ++i) from[i] = from[i - 1] + received[i - 1];
      const std::vector<int> send = of.values_sent(rank, false);
      const std::vector<int> expected = of.values_received(rank, false);
      std::vector<int> receive(expected.size(), -1), again(expected.size(), -1);
      on.neighbor_alltoallv(ConstBlocks(send, sent, to), Blocks(receive, received, from));
      EXPECT_EQ(receive, expected);
      ASSERT_EQ(MPI_Neighbor_alltoallv(send.data(), sent.data(), to.data(), MPI_INT, again.data(),
                                       received.data(), from.data(), MPI_INT, graph),
                MPI_SUCCESS);
      EXPECT_EQ(receive, again);
      const int mine = 1000 + rank;
      std::vector<int> gathered(sources.size());
      on.neighbor_allgather(buffer_of(mine), gathered);
      for (std::size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(gathered[i], 1000 + sources[i]);
    }
    MPI_Comm_free(&graph);
  }
}

TEST(AdjacentMpiTest, WhoSendsToNobodyNeedsNoBuffer) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP();
  std::vector<int> sources, targets;
  if (comm.rank() == 0) targets = {1};
  if (comm.rank() == 1) sources = {0};
  const Neighborhood on = Neighborhood::adjacent(comm, sources, targets);
  const int mine = 42;
  int got = -1;
  const ConstBuffer send = targets.empty() ? ConstBuffer(nullptr, 1, MPI_INT) : buffer_of(mine);
  on.neighbor_allgather(send, Buffer(sources.empty() ? nullptr : &got, 1, MPI_INT));
  EXPECT_EQ(got, comm.rank() == 1 ? 42 : -1);
}

TEST(AdjacentMpiTest, AnotherTopologyIsAnError) {
  EXPECT_THROW(Neighborhood::of_graph(MPI_COMM_WORLD), Error);
}

}  // namespace
}  // namespace wisp
