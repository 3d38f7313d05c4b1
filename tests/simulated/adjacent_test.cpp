// Neighborhoods of any lists: every block arrives, in as few messages as there are pairs of ranks.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "graphs.hpp"
#include "wisp/neighborhood.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::RandomGraph;

/// Where blocks begin that follow each other in reverse, each behind a gap.
std::vector<int> begins_in_reverse(const std::vector<int>& sizes, int gap) {
  std::vector<int> begins(sizes.size());
  int end = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    begins[i] = end;
    end += sizes[i] + gap;
  }
  return begins;
}

std::vector<int> at(const std::vector<int>& data, const std::vector<int>& sizes,
                    const std::vector<int>& begins) {
  std::vector<int> found;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    found.insert(found.end(), data.begin() + begins[i], data.begin() + begins[i] + sizes[i]);
  return found;
}

Task<> exchange_all(Comm comm, const RandomGraph& graph, NeighborCopying copying) {
  const int rank = comm.rank();
  const Neighborhood on = Neighborhood::adjacent(comm, graph.sources(rank), graph.targets(rank));
  EXPECT_FALSE(on.has_stencil());
  const NeighborOptions options{.copying = copying};
  {
    const std::vector<int> send = graph.values_sent(rank, true);
    std::vector<int> receive(3 * graph.sources(rank).size());
    co_await neighbor_alltoall(on, send, receive, options);
    EXPECT_EQ(receive, graph.values_received(rank, true));
  }
  {
    const std::vector<int> sent = graph.sent(rank, false), received = graph.received(rank, false);
    const std::vector<int> places = begins_in_reverse(received, 2);
    std::vector<int> follow(sent.size());
    for (std::size_t i = 1; i < sent.size(); ++i) follow[i] = follow[i - 1] + sent[i - 1];
    const std::vector<int> send = graph.values_sent(rank, false);
    std::vector<int> receive(graph.values_received(rank, false).size() + 2 * received.size(), -1);
    co_await neighbor_alltoallv(on, ConstBlocks(send, sent, follow), {receive, received, places}, options);
    EXPECT_EQ(at(receive, received, places), graph.values_received(rank, false));
    EXPECT_EQ(std::ranges::count(receive, -1), static_cast<std::ptrdiff_t>(2 * received.size()));
  }
  {
    const std::vector<int> mine = {rank, -rank, 7};
    std::vector<int> receive(3 * graph.sources(rank).size()), expected;
    for (const int source : graph.sources(rank)) expected.insert(expected.end(), {source, -source, 7});
    co_await neighbor_allgather(on, mine, receive, options);
    EXPECT_EQ(receive, expected);
  }
}

TEST(AdjacentTest, BlocksOfRandomListsArrive) {
  const int programs = test::is_quick() ? 200 : 1500;
  for (int seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int ranks = 1 + seed % 17;
    const RandomGraph graph(ranks, static_cast<std::uint32_t>(seed));
    const auto copying = static_cast<NeighborCopying>(seed % 3);
    simulate(test::cluster_of(ranks, seed % 6),
             [&](Comm comm) { return exchange_all(comm, graph, copying); });
    if (HasFailure()) return;
  }
}

TEST(AdjacentTest, BetweenTwoRanksGoesOneMessage) {
  for (int seed = 0; seed < 100; ++seed) {
    const int ranks = 1 + seed % 9;
    const RandomGraph graph(ranks, static_cast<std::uint32_t>(seed));
    SimulationOptions cluster;
    cluster.ranks = ranks;
    const SimulationReport report = simulate(cluster, [&](Comm comm) -> Task<> {
      const int rank = comm.rank();
      const Neighborhood on = Neighborhood::adjacent(comm, graph.sources(rank), graph.targets(rank));
      const std::vector<int> send = graph.values_sent(rank, true);
      std::vector<int> receive(3 * graph.sources(rank).size());
      co_await neighbor_alltoall(on, send, receive);
    });
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(report.ranks[detail::as_size(rank)].messages_sent,
                static_cast<std::uint64_t>(graph.messages(rank, true)));
    }
  }
}

TEST(AdjacentTest, BlocksOfDatatypesWithGaps) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (const auto copying : {NeighborCopying::pack, NeighborCopying::datatypes}) {
    SimulationOptions cluster;
    cluster.ranks = 3;
    simulate(cluster, [&](Comm comm) -> Task<> {
      // Columns 0, 1, 2 of a matrix to the next rank, oneself, the next rank; they come into rows.
      const int next = (comm.rank() + 1) % 3, previous = (comm.rank() + 2) % 3;
      const std::vector<int> targets = {next, comm.rank(), next};
      const std::vector<int> sources = {previous, previous, comm.rank()};
      const Neighborhood on = Neighborhood::adjacent(comm, sources, targets);
      std::vector<int> matrix(20), rows(12);
      for (int i = 0; i < 20; ++i) matrix[detail::as_size(i)] = 100 * comm.rank() + i;
      const std::vector<int> counts(3, 1), places = {0, 4, 8}, begins = {0, 16, 32};
      const std::vector<MPI_Datatype> columns(3, column), lines(3, MPI_INT);
      const std::vector<int> of_lines(3, 4), at_columns = {0, 4, 8};
      co_await neighbor_alltoallw(on, ConstBlocks(matrix.data(), counts, at_columns, columns),
                                  Blocks(rows.data(), of_lines, begins, lines), {.copying = copying});
      const int p = 100 * previous, r = 100 * comm.rank();
      EXPECT_EQ(rows, (std::vector<int>{p, p + 5, p + 10, p + 15, p + 2, p + 7, p + 12, p + 17, r + 1, r + 6,
                                        r + 11, r + 16}));
    });
  }
  MPI_Type_free(&column);
}

TEST(AdjacentTest, APersistentOneRunsAgainBesideOthers) {
  const RandomGraph graph(7, 5);
  simulate(test::cluster_of(7, 3), [&](Comm comm) -> Task<> {
    const int rank = comm.rank();
    const Neighborhood on = Neighborhood::adjacent(comm, graph.sources(rank), graph.targets(rank));
    std::vector<int> send(3 * graph.targets(rank).size()), receive(3 * graph.sources(rank).size());
    Request request = on.neighbor_alltoall_init(send, receive);
    for (int run = 0; run < 3; ++run) {
      std::vector<int> values = graph.values_sent(rank, true), expected = graph.values_received(rank, true);
      for (int& value : values) value += run;
      for (int& value : expected) value += run;
      send = values;
      request.start();
      co_await exchange_all(comm, graph, NeighborCopying::by_size);
      co_await request;
      EXPECT_EQ(receive, expected);
    }
  });
}

TEST(AdjacentTest, AMessageOfSeveralBlocksThatIsTooShortIsAnError) {
  const std::string said = test::error_of(2, [](Comm comm) -> Task<> {
    const std::vector<int> both(2, 1 - comm.rank()), ones = {1, 1}, threes = {3, 3}, begins = {3, 0},
                                                     none = {0, 0};
    const Neighborhood on = Neighborhood::adjacent(comm, both, both);
    std::vector<int> sent(2, 7), received(6, -1);
    if (comm.rank() == 0) {
      co_await neighbor_alltoallv(on, {sent, none}, {received, threes, begins});
    } else {
      co_await neighbor_alltoallv(on, {sent, ones}, {received, none});
    }
  });
  EXPECT_EQ(said, "wisp::neighbor_alltoallv: rank 1 sends 8 bytes where 24 are due");
}

TEST(AdjacentTest, SaysWhatIsWrong) {
  const auto error = [](int ranks, auto program) {
    SimulationOptions cluster;
    cluster.ranks = ranks;
    return test::error_of(cluster, program);
  };
  EXPECT_EQ(error(2,
                  [](Comm comm) -> Task<> {
                    const std::vector<int> none, wrong = {1, 2};
                    Neighborhood::adjacent(comm, none, wrong);
                    co_return;
                  }),
            "wisp::Neighborhood::adjacent: targets[1] = 2 is outside 0..1");
  EXPECT_EQ(error(1,
                  [](Comm comm) -> Task<> {
                    const std::vector<int> none, own = {0};
                    Neighborhood::adjacent(comm, none, own);
                    co_return;
                  }),
            "wisp::Neighborhood::adjacent: sources name rank 0 itself 0 times, but targets 1 times");
  EXPECT_EQ(
      error(3,
            [](Comm comm) -> Task<> {
              // Rank 2 expects nobody.
              std::vector<int> from = {(comm.rank() + 2) % 3}, to = {(comm.rank() + 1) % 3};
              if (comm.rank() == 2) from.clear();
              co_await Neighborhood::check(comm, from, to);
            }),
      "wisp::Neighborhood::check: sources name rank 1 0 times, but it names this rank 1 times (on rank 2)");
  EXPECT_EQ(
      error(3,
            [](Comm comm) -> Task<> {
              std::vector<int> from = {(comm.rank() + 2) % 3}, to = {(comm.rank() + 1) % 3};
              if (comm.rank() == 1) to.clear();
              co_await Neighborhood::check(comm, from, to);
            }),
      "wisp::Neighborhood::check: sources name rank 1 1 times, but it names this rank 0 times (on rank 2)");
  EXPECT_EQ(error(3,
                  [](Comm comm) -> Task<> {
                    const std::vector<int> from = {(comm.rank() + 2) % 3}, to = {(comm.rank() + 1) % 3};
                    Neighborhood on = Neighborhood::adjacent(comm, from, to);
                    on.check_operations(true);
                    std::vector<int> send(1), receive(comm.rank() == 1 ? 2 : 1);
                    co_await neighbor_alltoall(on, send, receive);
                  }),
            "wisp::neighbor_alltoall: block 0 of receive has 8 bytes, but rank 0 sends 4 (on rank 1)");
  EXPECT_EQ(
      error(1,
            [](Comm comm) -> Task<> {
              const std::vector<int> own = {0};
              std::vector<int> one(1);
              co_await neighbor_alltoall(Neighborhood::adjacent(comm, own, own), one, one,
                                         {.algorithm = "torus"});
            }),
      "wisp::neighbor_alltoall: algorithm is for neighborhoods of offsets, and this one was made of lists");
  EXPECT_EQ(error(1,
                  [](Comm comm) -> Task<> {
                    Neighborhood::adjacent(comm, {}, {}).stencil();
                    co_return;
                  }),
            "wisp::Neighborhood: it was made of lists, and has no offsets");
}

}  // namespace
}  // namespace wisp
