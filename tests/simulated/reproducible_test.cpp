#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "clusters.hpp"
#include "wisp/wisp.hpp"

// Sums of floats that depend on their order: whatever the nodes, the network, the root and the size, the bits
// are those of one order.

namespace wisp {
namespace {

using detail::as_size;
using Floats = std::vector<float>;

/// Of all magnitudes, so that hardly any two orders agree.
Floats of_rank(int rank, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) * 7919U);
  Floats values(count);
  for (float& value : values) {
    value = std::bit_cast<float>(0x30000000U + static_cast<std::uint32_t>(random() % 0x20000000U));
    if (random() % 2 == 0) value = -value;
  }
  return values;
}

/// The binomial tree at `rank`, of the ranks from it on that are below `end`.
Floats tree_sum(int rank, int end, std::size_t count) {
  Floats sum = of_rank(rank, count);
  for (int step = 1; rank + step < end; step *= 2) {
    const Floats child = tree_sum(rank + step, std::min(rank + 2 * step, end), count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += child[i];
  }
  return sum;
}

constexpr CollectiveOptions fixed{.reproducible = true};

void expect_bits(const Floats& got, const Floats& wanted, const std::string& what) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(wanted[i]))
        << what << " " << i;
  }
}

TEST(ReproducibleTest, ReductionsJoinInOneOrderOnEveryMachine) {
  for (int p = 1; p <= 33; ++p) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{5}, std::size_t{700}}) {
      const Floats wanted = tree_sum(0, p, count);
      for (int seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE("p = " + std::to_string(p) + ", seed = " + std::to_string(seed));
        simulate(test::cluster_of(p, seed), [&](Comm comm) -> Task<> {
          const Floats mine = of_rank(comm.rank(), count);
          Floats sum(count);
          co_await allreduce(comm, mine, sum, MPI_SUM, fixed);
          expect_bits(sum, wanted, "allreduce");
          const int root = (7 * seed + 3) % p;
          Floats at_root(count);
          co_await reduce(comm, mine, at_root, MPI_SUM, root, fixed);
          if (comm.rank() == root) expect_bits(at_root, wanted, "reduce");
        });
      }
    }
  }
}

TEST(ReproducibleTest, EachGetsItsBlockOfThatSum) {
  for (const int p : {1, 2, 3, 7, 16, 33}) {
    const std::size_t count = 3 * as_size(p);
    const Floats wanted = tree_sum(0, p, count);
    for (int seed = 0; seed < 8; ++seed) {
      simulate(test::cluster_of(p, seed), [&](Comm comm) -> Task<> {
        const Floats mine = of_rank(comm.rank(), count);
        const auto first = wanted.begin() + 3 * comm.rank();
        Floats block(3);
        co_await reduce_scatter_block(comm, mine, block, MPI_SUM, fixed);
        expect_bits(block, Floats(first, first + 3), "reduce_scatter_block");
        const std::vector<int> counts(as_size(p), 3);
        Floats again(3);
        co_await reduce_scatter(comm, mine, again, counts, MPI_SUM, fixed);
        expect_bits(again, block, "reduce_scatter");
      });
    }
  }
}

/// By doubling distances: of each rank the sum up to it.
std::vector<Floats> scans(int p, std::size_t count) {
  std::vector<Floats> sums;
  for (int rank = 0; rank < p; ++rank) sums.push_back(of_rank(rank, count));
  for (int distance = 1; distance < p; distance *= 2) {
    for (int rank = p; rank-- > distance;) {
      for (std::size_t i = 0; i < count; ++i)
        sums[as_size(rank)][i] = sums[as_size(rank - distance)][i] + sums[as_size(rank)][i];
    }
  }
  return sums;
}

TEST(ReproducibleTest, ScansAreByDoublingDistancesOnEveryMachine) {
  for (int p = 1; p <= 33; ++p) {
    for (const std::size_t count : {1, 5, 700}) {
      const std::vector<Floats> due = scans(p, count);
      for (int seed = 0; seed < 3; ++seed) {
        simulate(test::cluster_of(p, seed), [&](Comm comm) -> Task<> {
          const Floats mine = of_rank(comm.rank(), count);
          Floats sum(count), total(count);
          co_await scan(comm, mine, sum, MPI_SUM, fixed);
          expect_bits(sum, due[as_size(comm.rank())], "scan");
          co_await scan_and_bcast(comm, mine, sum, total, MPI_SUM, fixed);
          expect_bits(sum, due[as_size(comm.rank())], "scan_and_bcast");
          expect_bits(total, due.back(), "its total");
        });
      }
    }
  }
}

/// max(NaN, 1) is not max(1, NaN), nor max(0, -0) max(-0, 0).
TEST(ReproducibleTest, AllRanksHaveTheSameResultOfAnAllreduceWhateverItIs) {
  for (int p = 1; p <= 17; ++p) {
    for (const std::string_view algorithm : algorithms_of("allreduce")) {
      if (algorithm == "two_level") continue;
      for (int special = 0; special < p; ++special) {
        std::vector<Floats> results(as_size(p), Floats(4));
        simulate(test::cluster_of(p, 0), [&](Comm comm) -> Task<> {
          const bool is_special = comm.rank() == special;
          const Floats mine = {is_special ? std::nanf("") : 1, is_special ? -0.0F : 0.0F,
                               is_special ? 0.0F : -0.0F, is_special ? std::nanf("") : std::nanf("7")};
          co_await allreduce(comm, mine, results[as_size(comm.rank())], special % 2 == 0 ? MPI_MAX : MPI_MIN,
                             {.algorithm = algorithm});
        });
        for (const Floats& result : results) expect_bits(result, results.front(), std::string(algorithm));
      }
    }
  }
}

TEST(ReproducibleTest, AnAlgorithmBesideItIsAnError) {
  const std::string error = test::error_of(3, [](Comm comm) -> Task<> {
    const int one = 1;
    int sum = 0;
    co_await allreduce(comm, buffer_of(one), buffer_of(sum), MPI_SUM,
                       {.algorithm = "tree", .reproducible = true});
  });
  EXPECT_EQ(error, "wisp::allreduce: algorithm = tree beside reproducible, which is one of its own");
  // Where nothing is joined there is one result anyway.
  simulate(test::cluster_of(3), [](Comm comm) -> Task<> {
    int value = comm.rank() == 1 ? 7 : 0;
    co_await bcast(comm, buffer_of(value), 1, fixed);
    EXPECT_EQ(value, 7);
    co_await bcast(comm, buffer_of(value), 1, {.algorithm = "binomial", .reproducible = true});
  });
}

}  // namespace
}  // namespace wisp
