#include "wisp/collectives.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "noncommutative.hpp"
#include "pattern/log2.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;

using test::Affine;
using test::affine_of_rank;

Affine product(int first, int last) {
  Affine result;
  for (int rank = first; rank <= last; ++rank) result = result * affine_of_rank(rank);
  return result;
}

/// Every rooted collective from `root`, values checked on every rank.
Task<> check_rooted(Comm comm, int root) {
  const int p = comm.size();
  const int rank = comm.rank();
  std::vector<int> data(3, rank == root ? 41 : -1);
  co_await bcast(comm, data, root);
  EXPECT_EQ(data, std::vector<int>(3, 41)) << "bcast, p = " << p << ", root = " << root;

  const std::vector<int> mine = {rank, 2 * rank};
  std::vector<int> sum(2, -1);
  co_await reduce(comm, mine, sum, MPI_SUM, root);
  const int all = p * (p - 1) / 2;
  EXPECT_EQ(sum, rank == root ? (std::vector<int>{all, 2 * all}) : std::vector<int>(2, -1))
      << "reduce, p = " << p << ", root = " << root;

  std::vector<int> blocks(rank == root ? static_cast<std::size_t>(2 * p) : 0);
  co_await gather(comm, mine, blocks, root);
  for (int r = 0; rank == root && r < p; ++r) {
    EXPECT_EQ(blocks[static_cast<std::size_t>(2 * r)], r) << "gather, p = " << p << ", root = " << root;
    EXPECT_EQ(blocks[static_cast<std::size_t>(2 * r + 1)], 2 * r);
  }
}

Task<> check_unrooted(Comm comm, const test::AffineType& affine) {
  const int p = comm.size();
  const int rank = comm.rank();
  co_await barrier(comm);

  const std::vector<Affine> mine(2, affine_of_rank(rank));
  const ConstBuffer send(mine.data(), mine.size(), affine.type());
  std::vector<Affine> got(2);
  const Buffer receive(got.data(), got.size(), affine.type());

  co_await allreduce(comm, send, receive, affine.op());
  EXPECT_EQ(got, std::vector<Affine>(2, product(0, p - 1))) << "allreduce, p = " << p;
  co_await scan(comm, send, receive, affine.op());
  EXPECT_EQ(got, std::vector<Affine>(2, product(0, rank))) << "scan, p = " << p;
  const std::vector<Affine> untouched(2, Affine{99, 99});
  got = untouched;
  co_await exscan(comm, send, receive, affine.op());
  EXPECT_EQ(got, rank == 0 ? untouched : std::vector<Affine>(2, product(0, rank - 1))) << "exscan, p = " << p;

  const std::vector<int> block = {rank, -rank, 7};
  std::vector<int> blocks(static_cast<std::size_t>(3 * p));
  co_await allgather(comm, block, blocks);
  for (int r = 0; r < p; ++r) {
    const auto at = static_cast<std::size_t>(3 * r);
    EXPECT_EQ(std::vector<int>(blocks.begin() + 3 * r, blocks.begin() + 3 * r + 3),
              (std::vector<int>{r, -r, 7}))
        << "allgather, p = " << p << ", block " << at;
  }
}

TEST(SimulatedCollectivesTest, AllRanksAllRootsUnderRandomDelays) {
  const test::AffineType affine;
  for (int seed = 0; seed < test::seeds(); ++seed) {
    for (int p = 1; p <= 33; ++p) {
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        for (int root = 0; root < comm.size(); ++root) co_await check_rooted(comm, root);
        co_await check_unrooted(comm, affine);
      });
      if (HasFailure()) return;
    }
  }
}

TEST(SimulatedCollectivesTest, OperatorsThatDoNotCommuteMeetInRankOrderAtAnyRoot) {
  const test::AffineType affine;
  for (int p = 1; p <= 33; ++p) {
    for (const int seed : {0, 1}) {
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        for (int root = 0; root < comm.size(); ++root) {
          Affine mine = affine_of_rank(comm.rank());
          Affine result;
          co_await reduce(comm, ConstBuffer(&mine, 1, affine.type()), Buffer(&result, 1, affine.type()),
                          affine.op(), root);
          if (comm.rank() == root) {
            EXPECT_EQ(result, product(0, comm.size() - 1)) << comm.size() << " ranks, root " << root;
          }
        }
      });
    }
  }
}

TEST(SimulatedCollectivesTest, WorkInPlace) {
  const test::AffineType affine;
  for (const int p : {1, 2, 3, 5, 8, 13}) {
    for (const int seed : {0, 1}) {
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        const int rank = comm.rank();
        const int root = comm.size() / 2;
        Affine value = affine_of_rank(rank);
        const Buffer buffer(&value, 1, affine.type());
        co_await allreduce(comm, in_place(), buffer, affine.op());
        EXPECT_EQ(value, product(0, p - 1));
        value = affine_of_rank(rank);
        co_await scan(comm, in_place(), buffer, affine.op());
        EXPECT_EQ(value, product(0, rank));
        value = affine_of_rank(rank);
        co_await exscan(comm, in_place(), buffer, affine.op());
        EXPECT_EQ(value, rank == 0 ? affine_of_rank(0) : product(0, rank - 1));
        value = affine_of_rank(rank);
        co_await reduce(comm, rank == root ? in_place() : ConstBuffer(buffer), buffer, affine.op(), root);
        if (rank == root) {
          EXPECT_EQ(value, product(0, p - 1));
        }
        std::vector<int> expected(static_cast<std::size_t>(p));
        std::iota(expected.begin(), expected.end(), 0);
        std::vector<int> blocks(static_cast<std::size_t>(p), -1);
        blocks[static_cast<std::size_t>(rank)] = rank;
        co_await allgather(comm, in_place(), blocks);
        EXPECT_EQ(blocks, expected);
        std::vector<int> gathered(static_cast<std::size_t>(p), -1);
        gathered[static_cast<std::size_t>(root)] = root;
        co_await gather(comm, rank == root ? in_place() : ConstBuffer(buffer_of(rank)), gathered, root);
        if (rank == root) {
          EXPECT_EQ(gathered, expected);
        }
      });
    }
  }
}

TEST(SimulatedCollectivesTest, DerivedDatatypesKeepTheirGaps) {
  const test::GappedInts gapped;
  for (const int p : {1, 2, 3, 5, 8, 13}) {
    for (const int seed : {0, 1}) {
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        const auto ranks = static_cast<std::size_t>(p);
        std::vector<int> data = {comm.rank(), -5, 10 + comm.rank(), -5};
        std::vector<int> blocks(4 * ranks, -7);
        std::vector<int> expected(4 * ranks, -7);
        for (int r = 0; r < p; ++r) {
          expected[static_cast<std::size_t>(4 * r)] = r;
          expected[static_cast<std::size_t>(4 * r + 2)] = 10 + r;
        }
        const ConstBuffer send(data.data(), 2, gapped.type());
        co_await allgather(comm, send, Buffer(blocks.data(), 2 * ranks, gapped.type()));
        EXPECT_EQ(blocks, expected);
        for (int root = 0; root < p; ++root) {
          std::fill(blocks.begin(), blocks.end(), -7);
          co_await gather(comm, send, Buffer(blocks.data(), 2 * ranks, gapped.type()), root);
          if (comm.rank() == root) {
            EXPECT_EQ(blocks, expected);
          }
        }
        co_await bcast(comm, Buffer(data.data(), 2, gapped.type()), p - 1);
        EXPECT_EQ(data, (std::vector<int>{p - 1, -5, 9 + p, -5}));
      });
    }
  }
}

TEST(SimulatedCollectivesTest, OfNothingSendNothing) {
  SimulationOptions cluster;
  cluster.ranks = 7;
  const SimulationReport report = simulate(cluster, [](Comm comm) -> Task<> {
    std::vector<int> none;
    co_await bcast(comm, none, 3);
    co_await reduce(comm, none, none, MPI_SUM, 2);
    co_await allreduce(comm, none, none, MPI_SUM);
    co_await scan(comm, none, none, MPI_SUM);
    co_await exscan(comm, none, none, MPI_SUM);
    co_await gather(comm, none, none, 1);
    co_await allgather(comm, none, none);
  });
  EXPECT_EQ(report.messages, 0U);
}

/// Several collectives in flight at once on one communicator, waited for in another order on each rank.
TEST(SimulatedCollectivesTest, ManyInFlightOnOneCommunicatorDoNotMeet) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    for (const int p : {2, 3, 5, 8}) {
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        constexpr int operations = 6;
        std::vector<std::vector<int>> out(operations, std::vector<int>(1));
        std::vector<int> in(operations);
        std::vector<Request> requests;
        for (int i = 0; i < operations; ++i) {
          const auto k = static_cast<std::size_t>(i);
          in[k] = 100 * i + comm.rank();
          if (i % 3 == 0) {
            out[k][0] = comm.rank() == i % p ? 1000 + i : 0;
            requests.push_back(comm.ibcast(out[k], i % p));
          } else if (i % 3 == 1) {
            requests.push_back(comm.iallreduce(buffer_of(in[k]), out[k], MPI_SUM));
          } else {
            requests.push_back(comm.iscan(buffer_of(in[k]), out[k], MPI_SUM));
          }
        }
        for (int i = 0; i < operations; ++i) {
          const int which = (i * 5 + comm.rank()) % operations;
          co_await requests[static_cast<std::size_t>(which)];
        }
        for (int i = 0; i < operations; ++i) {
          const int rank = comm.rank();
          const int expected = i % 3 == 0   ? 1000 + i
                               : i % 3 == 1 ? 100 * i * p + p * (p - 1) / 2
                                            : 100 * i * (rank + 1) + rank * (rank + 1) / 2;
          EXPECT_EQ(out[static_cast<std::size_t>(i)][0], expected) << "operation " << i << ", seed " << seed;
        }
      });
    }
  }
}

TEST(SimulatedCollectivesTest, OwnTagsKeepOperationsOnOverlappingRawRangesApart) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(8, seed), [](Comm isolated) -> Task<> {
      const Comm comm = isolated.raw();
      // 0..5 and 2..7 share four ranks, which start the two in different orders.
      const Comm low = comm.range(0, 5);
      const Comm high = comm.range(2, 7);
      int low_sum = 0, high_sum = 0;
      const int mine = comm.rank();
      std::vector<Request> requests;
      const auto start_low = [&] {
        if (low.is_member())
          requests.push_back(low.iallreduce(buffer_of(mine), buffer_of(low_sum), MPI_SUM, {.own_tag = 5}));
      };
      const auto start_high = [&] {
        if (high.is_member())
          requests.push_back(high.iallreduce(buffer_of(mine), buffer_of(high_sum), MPI_SUM, {.own_tag = 6}));
      };
      if (mine % 2 == 0) {
        start_low();
        start_high();
      } else {
        start_high();
        start_low();
      }
      for (Request& request : requests) co_await request;
      if (low.is_member()) {
        EXPECT_EQ(low_sum, 15);
      }
      if (high.is_member()) {
        EXPECT_EQ(high_sum, 27);
      }
    });
  }
}

/// What one collective costs: messages, the longest chain of them, bytes.
SimulationReport report_of(int ranks, const std::function<Task<>(Comm)>& operation) {
  SimulationOptions cluster;
  cluster.ranks = ranks;
  return simulate(cluster, operation);
}

TEST(SimulatedCollectivesTest, KeepTheirBoundsOnStartupsAndBytes) {
  for (int p = 1; p <= 33; ++p) {
    const auto edges = static_cast<std::uint64_t>(p - 1);
    const int log2 = detail::ceil_log2(p);
    const bool is_power = (p & (p - 1)) == 0;

    auto cost = report_of(p, [](Comm comm) -> Task<> {
      std::vector<int> data(5);
      co_await bcast(comm, data, comm.size() / 2, {.algorithm = "binomial"});
    });
    EXPECT_EQ(cost.messages, edges);
    EXPECT_EQ(cost.bytes, edges * 5 * sizeof(int));
    EXPECT_LE(cost.rounds, log2);

    cost = report_of(p, [](Comm comm) -> Task<> {
      std::vector<int> data(5), sum(5);
      co_await reduce(comm, data, sum, MPI_SUM, comm.size() / 2, {.algorithm = "binomial"});
    });
    EXPECT_EQ(cost.messages, edges);
    EXPECT_LE(cost.rounds, log2);

    cost = report_of(p, [](Comm comm) -> Task<> {
      std::vector<int> data(5), all(5 * static_cast<std::size_t>(comm.size()));
      co_await gather(comm, data, all, 0, {.algorithm = "binomial"});
    });
    EXPECT_EQ(cost.messages, edges);
    EXPECT_LE(cost.rounds, log2);

    cost = report_of(p, [](Comm comm) -> Task<> { co_await barrier(comm, {.algorithm = "dissemination"}); });
    EXPECT_EQ(cost.messages, static_cast<std::uint64_t>(p * log2));
    EXPECT_LE(cost.rounds, log2);

    cost = report_of(p, [](Comm comm) -> Task<> {
      int in = 1, out = 0;
      co_await allreduce(comm, buffer_of(in), buffer_of(out), MPI_SUM, {.algorithm = "recursive_doubling"});
    });
    EXPECT_LE(cost.rounds, is_power ? log2 : log2 - 1 + 2);

    cost = report_of(p, [](Comm comm) -> Task<> {
      int in = 1, out = 0;
      co_await scan(comm, buffer_of(in), buffer_of(out), MPI_SUM, {.algorithm = "dissemination"});
    });
    EXPECT_LE(cost.rounds, log2);

    cost = report_of(p, [](Comm comm) -> Task<> {
      std::vector<int> data(5), all(5 * static_cast<std::size_t>(comm.size()));
      co_await allgather(comm, data, all, {.algorithm = "dissemination"});
    });
    EXPECT_LE(cost.rounds, log2);
    EXPECT_EQ(cost.bytes, static_cast<std::uint64_t>(p) * edges * 5 * sizeof(int));
  }
}

TEST(SimulatedCollectivesTest, RunOnThousandsOfRanks) {
  for (const int seed : {0, 1}) {
    SimulationOptions cluster = cluster_of(4099, seed);
    cluster.rendezvous = false;
    simulate(cluster, [](Comm comm) -> Task<> {
      const auto p = static_cast<std::uint64_t>(comm.size());
      const auto rank = static_cast<std::uint64_t>(comm.rank());
      const int root = 1234;
      std::uint64_t value = comm.rank() == root ? 17 : 0, sum = 0;
      co_await bcast(comm, buffer_of(value), root);
      EXPECT_EQ(value, 17U);
      co_await reduce(comm, buffer_of(rank), buffer_of(sum), MPI_SUM, root);
      if (comm.rank() == root) {
        EXPECT_EQ(sum, p * (p - 1) / 2);
      }
      co_await allreduce(comm, buffer_of(rank), buffer_of(sum), MPI_SUM);
      EXPECT_EQ(sum, p * (p - 1) / 2);
      co_await scan(comm, buffer_of(rank), buffer_of(sum), MPI_SUM);
      EXPECT_EQ(sum, rank * (rank + 1) / 2);
      sum = 0;
      co_await exscan(comm, buffer_of(rank), buffer_of(sum), MPI_SUM);
      EXPECT_EQ(sum, rank * (rank - 1) / 2);
      std::vector<std::uint64_t> all(comm.rank() == root ? p : 0);
      co_await gather(comm, buffer_of(rank), all, root);
      for (std::uint64_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], r);
      co_await barrier(comm);
      std::vector<std::uint64_t> everywhere(p);
      co_await allgather(comm, buffer_of(rank), everywhere);
      EXPECT_EQ(everywhere[p - 1], p - 1);
      EXPECT_EQ(everywhere[p / 3], p / 3);
    });
  }
}

}  // namespace
}  // namespace wisp
