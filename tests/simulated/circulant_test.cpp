// Collectives over the circulant graph: results, and every message and byte against what the papers say.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "noncommutative.hpp"
#include "pattern/log2.hpp"
#include "wisp/collectives.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;
using Numbers = std::vector<std::uint64_t>;

constexpr CollectiveOptions circulant{.algorithm = "circulant"};

Numbers numbers_of(int rank, std::size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<std::uint64_t>(rank) * 1000);
  return numbers;
}
Numbers sums_of(int size, std::size_t count) {
  Numbers sums(count);
  for (int rank = 0; rank < size; ++rank) {
    const Numbers numbers = numbers_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) sums[i] += numbers[i];
  }
  return sums;
}

/// So slow that short vectors go in pieces.
SimulationOptions slow_cluster(int ranks, int seed) {
  SimulationOptions cluster = cluster_of(ranks, seed);
  cluster.bandwidth = 1e7;
  return cluster;
}

TEST(CirculantTest, ReductionsOfAnyRootAndCount) {
  for (int p = 1; p <= 33; ++p) {
    for (const std::size_t count : {1u, 7u, 100u, 3001u}) {
      const Numbers expected = sums_of(p, count);
      for (const int root : {0, p / 3, p - 1}) {
        SCOPED_TRACE(std::to_string(p) + " ranks, root " + std::to_string(root) + ", " +
                     std::to_string(count));
        simulate(slow_cluster(p, root + p), [&](Comm comm) -> Task<> {
          Numbers mine = numbers_of(comm.rank(), count);
          const Numbers untouched(count, 5);
          Numbers result = untouched;
          co_await reduce(comm, mine, result, MPI_SUM, root, circulant);
          EXPECT_EQ(result, comm.rank() == root ? expected : untouched);
          EXPECT_EQ(mine, numbers_of(comm.rank(), count));
          co_await reduce(comm, comm.rank() == root ? in_place() : ConstBuffer(mine), mine, MPI_SUM, root,
                          circulant);
          EXPECT_EQ(mine, comm.rank() == root ? expected : numbers_of(comm.rank(), count));
        });
        if (HasFailure()) return;
      }
      simulate(slow_cluster(p, p), [&](Comm comm) -> Task<> {
        Numbers mine = numbers_of(comm.rank(), count), result(count);
        co_await allreduce(comm, mine, result, MPI_SUM, circulant);
        EXPECT_EQ(result, expected) << p;
        EXPECT_EQ(mine, numbers_of(comm.rank(), count));
        co_await allreduce(comm, in_place(), mine, MPI_SUM, circulant);
        EXPECT_EQ(mine, expected) << p << " in place";
      });
    }
    if (HasFailure()) return;
  }
}

TEST(CirculantTest, ReduceScatterOfAnyBlocks) {
  for (int p = 1; p <= 33; ++p) {
    for (const int shape : {0, 1, 2, 3}) {
      // Equal blocks; none and some; one large one; odd ones only.
      std::vector<int> counts(static_cast<std::size_t>(p));
      for (int r = 0; r < p; ++r) {
        counts[static_cast<std::size_t>(r)] = shape == 0   ? 3
                                              : shape == 1 ? r % 4
                                              : shape == 2 ? (r == p / 2 ? 50 : 1)
                                                           : r % 2;
      }
      const auto all = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
      const Numbers sums = sums_of(p, all);
      simulate(cluster_of(p, shape), [&](Comm comm) -> Task<> {
        const auto begin = std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::ptrdiff_t{0});
        const int count = counts[static_cast<std::size_t>(comm.rank())];
        const Numbers expected(sums.begin() + begin, sums.begin() + begin + count);
        Numbers mine = numbers_of(comm.rank(), all), block(static_cast<std::size_t>(count));
        co_await reduce_scatter(comm, mine, block, counts, MPI_SUM, circulant);
        EXPECT_EQ(block, expected) << p << " ranks, shape " << shape;
        EXPECT_EQ(mine, numbers_of(comm.rank(), all));
        co_await reduce_scatter(comm, in_place(), mine, counts, MPI_SUM, circulant);
        mine.resize(static_cast<std::size_t>(count));
        EXPECT_EQ(mine, expected) << p << " ranks, shape " << shape << ", in place";
      });
    }
    if (HasFailure()) return;
  }
}

/// What one rank receives, in bytes; the same for all but `root`, which receives `of_root`.
void expect_received(const SimulationReport& report, std::size_t bytes, int root, std::size_t of_root) {
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    ASSERT_EQ(report.ranks[rank].bytes_received, static_cast<int>(rank) == root ? of_root : bytes)
        << report.ranks.size() << " ranks, rank " << rank;
  }
}

TEST(CirculantTest, MessagesAndBytesAreThoseOfThePapers) {
  std::vector<int> sizes = {255, 256, 257, 511, 512, 513, 777, 1000, 1023, 1024, 1025};
  for (int p = 2; p <= 200; ++p) sizes.push_back(p);
  for (const int p : sizes) {
    const auto others = static_cast<std::size_t>(p - 1);
    const int log = detail::ceil_log2(p);
    const std::size_t count = 8 * 64;
    const std::size_t bytes = count * sizeof(std::uint64_t);
    const int root = p / 3;
    const SimulationReport bcasts = simulate(slow_cluster(p, 0), [&](Comm comm) -> Task<> {
      Numbers data(count);
      co_await bcast(comm, data, root, circulant);
    });
    expect_received(bcasts, bytes, root, 0);
    ASSERT_EQ(bcasts.messages % others, 0U) << p;
    EXPECT_LE(bcasts.rounds, static_cast<int>(bcasts.messages / others) - 1 + log) << p;

    const SimulationReport reductions = simulate(slow_cluster(p, 0), [&](Comm comm) -> Task<> {
      Numbers data(count), sum(count);
      co_await reduce(comm, data, sum, MPI_SUM, root, circulant);
    });
    EXPECT_EQ(reductions.bytes, others * bytes);
    for (std::size_t rank = 0; rank <= others; ++rank) {
      ASSERT_EQ(reductions.ranks[rank].bytes_sent, static_cast<int>(rank) == root ? 0 : bytes) << p;
    }
    EXPECT_LE(reductions.rounds, static_cast<int>(reductions.messages / others) - 1 + log) << p;

    const std::size_t block = 3 * sizeof(std::uint64_t);
    const SimulationReport scatters = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      Numbers data(3 * others + 3), mine(3);
      co_await reduce_scatter_block(comm, data, mine, MPI_SUM, circulant);
    });
    expect_received(scatters, others * block, -1, 0);
    EXPECT_EQ(scatters.rounds, log) << p;

    const SimulationReport gathers = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      Numbers mine(3), all(3 * others + 3);
      co_await allgather(comm, mine, all, circulant);
    });
    expect_received(gathers, others * block, -1, 0);
    EXPECT_EQ(gathers.rounds, log) << p;
    EXPECT_LE(gathers.messages, static_cast<std::size_t>(p) * 2 * static_cast<std::size_t>(log)) << p;
    if (HasFailure()) return;
  }
}

TEST(CirculantTest, OldNamesStandForIt) {
  const auto messages_by = [](const std::string& operation, std::string_view algorithm) {
    return simulate(cluster_of(9, 0),
                    [&](Comm comm) -> Task<> {
                      Numbers mine(36), sum(36), all(36 * 9);
                      if (operation == "bcast") co_await bcast(comm, mine, 2, {.algorithm = algorithm});
                      if (operation == "reduce")
                        co_await reduce(comm, mine, sum, MPI_SUM, 2, {.algorithm = algorithm});
                      if (operation == "allreduce")
                        co_await allreduce(comm, mine, sum, MPI_SUM, {.algorithm = algorithm});
                      if (operation == "allgather")
                        co_await allgather(comm, mine, all, {.algorithm = algorithm});
                    })
        .messages;
  };
  for (const auto& [operation, names] : std::vector<std::pair<std::string, std::vector<std::string_view>>>{
           {"bcast", {"two_tree", "scatter_allgather"}},
           {"reduce", {"two_tree", "scatter_gather"}},
           {"allreduce", {"scatter_allgather", "ring"}},
           {"allgather", {"ring", "hypercube"}}}) {
    for (const std::string_view name : names) {
      EXPECT_EQ(messages_by(operation, name), messages_by(operation, "circulant"))
          << operation << " by " << name;
    }
  }
  // They took operators that do not commute: what does, is chosen.
  simulate(cluster_of(5, 0), [](Comm comm) -> Task<> {
    const test::AffineType affine;
    std::vector<test::Affine> mine(40, test::affine_of_rank(comm.rank())), result(40);
    test::Affine expected;
    for (int rank = 0; rank < comm.size(); ++rank) expected = expected * test::affine_of_rank(rank);
    co_await reduce(comm, ConstBuffer(mine.data(), 40, affine.type()),
                    Buffer(result.data(), 40, affine.type()), affine.op(), 2, {.algorithm = "two_tree"});
    if (comm.rank() == 2) {
      EXPECT_EQ(result, std::vector<test::Affine>(40, expected));
    }
  });
}

}  // namespace
}  // namespace wisp
