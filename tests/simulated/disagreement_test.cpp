#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "clusters.hpp"
#include "collectives/algorithms.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

// gatherv and scatterv where ranks have other blocks than the root's counts say: an error that names both
// sizes, and nobody hangs or gets what is not his.

namespace wisp {
namespace {

using test::cluster_of;

/// Rank `wrong` has `count` elements, but the root's counts give it 3, or what `expected` says.
std::string error_of(bool gathers, int p, std::string_view algorithm, int wrong, std::int64_t count,
                     std::int64_t expected = 3) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(p), 3);
  counts[static_cast<std::size_t>(wrong)] = expected;
  std::vector<std::int64_t> displacements(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), std::int64_t{0});
  std::string at_root, at_wrong, elsewhere;
  SimulationOptions cluster = cluster_of(p, 0);
  cluster.rendezvous = true;  // whatever is not received is noticed
  simulate(cluster, [&](Comm comm) -> Task<> {
    std::vector<int> all(static_cast<std::size_t>(3 * p + expected));
    std::vector<int> mine(static_cast<std::size_t>(comm.rank() == wrong ? count : 3));
    try {
      if (gathers) {
        co_await gatherv(comm, mine, {all, counts, displacements}, p / 2, {.algorithm = algorithm});
      } else {
        co_await scatterv(comm, {all, counts, displacements}, mine, p / 2, {.algorithm = algorithm});
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.error_class(), MPI_ERR_TRUNCATE);
      (comm.rank() == p / 2 ? at_root : comm.rank() == wrong ? at_wrong : elsewhere) = error.what();
    }
  });
  return at_root.empty() ? at_wrong : at_root;
}

TEST(IrregularTest, ARankThatDisagreesWithTheRootsCountsIsNamedWithBothSizes) {
  for (const int p : {2, 5, 16, 33, 100}) {
    for (const int wrong : {0, p - 1, p / 3}) {
      if (wrong == p / 2) continue;
      for (const std::int64_t count : {1, 2, 4, 50}) {
        const std::string sentence = "rank " + std::to_string(wrong) + " has " + std::to_string(4 * count) +
                                     " bytes, but the root's counts give it 12";
        for (const bool gathers : {true, false}) {
          const char* operation = gathers ? "gatherv" : "scatterv";
          for (const std::string_view algorithm : algorithms_of(operation)) {
            SCOPED_TRACE(std::string(operation) + " by " + std::string(algorithm) +
                         ", p = " + std::to_string(p));
            EXPECT_EQ(error_of(gathers, p, algorithm, wrong, count),
                      std::string("wisp::") + operation + ": " + sentence);
          }
        }
      }
    }
  }
}

TEST(IrregularTest, DisagreementAcrossTheThresholdHangsNobody) {
  // The threshold of this cluster is 5,000 bytes, and 20,000 where messages are announced: one side takes the
  // block for a large one.
  for (const int p : {5, 33}) {
    for (const int wrong : {0, p - 1}) {
      for (const auto& [count, expected] : {std::pair<std::int64_t, std::int64_t>{6000, 3},
                                            {3, 6000},
                                            {6000, 8000},
                                            {8000, 6000},
                                            {3000, 3},
                                            {3, 3000}}) {
        for (const bool gathers : {true, false}) {
          const char* operation = gathers ? "gatherv" : "scatterv";
          for (const std::string_view algorithm : algorithms_of(operation)) {
            SCOPED_TRACE(std::string(operation) + " by " + std::string(algorithm) +
                         ", p = " + std::to_string(p) + ", rank " + std::to_string(wrong) + " has " +
                         std::to_string(count) + " and not " + std::to_string(expected));
            EXPECT_NE(error_of(gathers, p, algorithm, wrong, count, expected)
                          .find("rank " + std::to_string(wrong) + " has " + std::to_string(4 * count) +
                                " bytes, but the root's counts give it " + std::to_string(4 * expected)),
                      std::string::npos);
          }
        }
      }
    }
  }
}

TEST(IrregularTest, SeveralRanksThatDisagreeAreAnErrorToo) {
  constexpr int p = 12;
  const std::vector<int> counts(p, 2);
  for (const std::string_view algorithm : algorithms_of("gatherv")) {
    int errors = 0;
    simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      std::vector<int> all(2 * p);
      const std::vector<int> mine(comm.rank() == 2 ? 1 : comm.rank() == 3 ? 3 : 2);
      try {
        co_await gatherv(comm, mine, {all, counts}, 0, {.algorithm = algorithm});
      } catch (const Error& error) {
        errors += comm.rank() == 0 ? 1 : 0;
        EXPECT_EQ(error.error_class(), MPI_ERR_TRUNCATE);
      }
    });
    EXPECT_EQ(errors, 1) << algorithm;
  }
}

/// Ranks 6 and 7 have twice what the root's counts give them; rank 2, which agrees, starts anew while rank 6
/// is still behind.
Task<> disagree_again_and_again(Comm comm, bool gathers, std::string_view algorithm) {
  constexpr std::size_t block = 200000;
  constexpr std::size_t place = 2 * block;
  const auto me = static_cast<std::size_t>(comm.rank());
  std::vector<std::int64_t> counts = {0, 0, block, 0, 0, 0, block, block};
  std::vector<char> mine(static_cast<std::size_t>(counts[me]));
  std::vector<std::int64_t> places(8);
  for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<std::int64_t>(place * r);
  if (me == 0) counts[6] = counts[7] = block / 2;
  std::vector<char> all(8 * place);
  const auto blocks = Blocks(all.data(), counts, places, MPI_BYTE);
  const CollectiveOptions options{.algorithm = algorithm};
  Request request =
      gathers ? comm.gatherv_init(mine, blocks, 0, options) : comm.scatterv_init(blocks, mine, 0, options);
  for (int run = 0; run < 4; ++run) {
    const auto value = static_cast<char>('A' + run);
    std::fill(mine.begin(), mine.end(), gathers ? value : '-');
    std::fill(all.begin(), all.end(), gathers ? '-' : value);
    if (me == 6) simulated_work(comm, 1);
    bool has_failed = false;
    try {
      request.start();
      co_await request;
    } catch (const Error&) {
      has_failed = true;
    }
    if (me == (gathers ? 0 : 6)) {
      EXPECT_TRUE(has_failed) << algorithm << ", run " << run;
    }
    if (gathers ? me == 0 : me == 2) {
      const char* of_2 = gathers ? all.data() + 2 * place : mine.data();
      EXPECT_EQ(std::string(of_2, block), std::string(block, value)) << algorithm << ", run " << run;
    }
  }
}

TEST(IrregularTest, WhoAgreesWithTheRootGetsNoBlockOfAnotherRunOfAPersistentOperation) {
  for (const bool gathers : {true, false}) {
    for (const std::string_view algorithm : algorithms_of(gathers ? "gatherv" : "scatterv")) {
      for (const int seed : {0, 1, 2, 3}) {
        SimulationOptions cluster = cluster_of(8, seed);
        cluster.nodes = {};
        simulate(cluster, [&](Comm comm) { return disagree_again_and_again(comm, gathers, algorithm); });
      }
    }
  }
}

}  // namespace
}  // namespace wisp
