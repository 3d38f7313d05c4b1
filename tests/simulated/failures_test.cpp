#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "error_of.hpp"
#include "steps.hpp"
#include "wisp/wisp.hpp"

// Ranks that stop at any step: whoever depends on one gets an error that names it, and the others go on.

namespace wisp {
namespace {

using test::cluster_of;
using test::steps;

struct Outcome {
  int errors = 0;
  int ended = 0;  ///< survivors that came to their end
};

/// All run the same steps; whoever has got an error, or come to their end, goes on among the survivors.
Outcome run_with_a_stop(unsigned seed) {
  std::mt19937 random(seed);
  SimulationOptions cluster = cluster_of(2 + static_cast<int>(random() % 12), static_cast<int>(seed % 64));
  const int stopped = static_cast<int>(random() % static_cast<unsigned>(cluster.ranks));
  cluster.stops = {{stopped, static_cast<int>(random() % 40)}};
  std::vector<std::size_t> order(1 + random() % 4);
  for (std::size_t& step : order) step = random() % steps().size();
  const std::vector<int> alive = test::ranks_without(stopped, cluster.ranks);
  const std::string naming = "rank " + std::to_string(stopped) + " of the parent communicator has failed";
  Outcome outcome;
  simulate(cluster, [&](Comm comm) -> Task<> {
    try {
      for (const std::size_t step : order) co_await steps()[step].run(comm);
    } catch (const Error& error) {
      ++outcome.errors;
      EXPECT_NE(std::string(error.what()).find(naming), std::string::npos) << error.what();
      EXPECT_EQ(comm.failed(), std::vector<int>{stopped});
    }
    if (comm.rank() == stopped) co_return;
    Comm survivors;
    if (seed % 2 == 0) {
      co_await comm.icreate_group(alive, 5, survivors);
    } else {
      survivors = comm.raw().subset(alive);
    }
    std::vector<int> sum{1, comm.rank()};
    co_await allreduce(survivors, in_place(), sum, MPI_SUM);
    EXPECT_EQ(sum[0], survivors.size());
    EXPECT_EQ(sum[1], std::accumulate(alive.begin(), alive.end(), 0));
    ++outcome.ended;
  });
  EXPECT_EQ(outcome.ended, cluster.ranks - 1);
  return outcome;
}

TEST(FailuresTest, WhoeverDependsOnARankThatStopsGetsAnErrorAndTheOthersGoOn) {
  const auto seeds = static_cast<unsigned>(20 * test::seeds());
  int with_errors = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      with_errors += run_with_a_stop(seed).errors > 0 ? 1 : 0;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(with_errors, static_cast<int>(seeds) / 5);
}

TEST(FailuresTest, OfACollectiveOfAllEverybodyHearsThatNeedsTheOthers) {
  // Whatever the algorithm, nobody can know the sum of all when one has stopped before it began.
  for (const std::string_view algorithm : algorithms_of("allreduce")) {
    for (const int ranks : {2, 3, 5, 8, 13}) {
      for (int stopped = 0; stopped < ranks; ++stopped) {
        SimulationOptions cluster = cluster_of(ranks, 2);
        cluster.stops = {{stopped}};
        int errors = 0;
        simulate(cluster, [&](Comm comm) -> Task<> {
          std::vector<int> data(64, 1);
          try {
            co_await allreduce(comm, in_place(), data, MPI_SUM, {.algorithm = algorithm});
          } catch (const Error&) {
            ++errors;
          }
        });
        EXPECT_EQ(errors, ranks - 1) << algorithm;
      }
    }
  }
}

TEST(FailuresTest, AReceiveFromAnySourceEndsWhenNobodyElseCanSend) {
  SimulationOptions cluster = cluster_of(3);
  cluster.stops = {{2}};
  simulate(cluster, [&](Comm comm) -> Task<> {
    int value = comm.rank();
    if (comm.rank() == 1) co_await send(comm, buffer_of(value), 0);
    if (comm.rank() != 0) co_return;
    co_await receive(comm, buffer_of(value));
    EXPECT_EQ(value, 1);
    bool is_error = false;
    try {
      co_await receive(comm, buffer_of(value));
    } catch (const Error& error) {
      is_error = true;
      EXPECT_NE(std::string(error.what()).find("rank 2 of the parent communicator has failed"),
                std::string::npos);
    }
    EXPECT_TRUE(is_error);
  });
}

TEST(FailuresTest, ARankStopsBehindItsLastStep) {
  for (int steps = 0; steps < 6; ++steps) {
    SimulationOptions cluster = cluster_of(2);
    cluster.stops = {{0, steps}};
    int sent = 0;
    int received = 0;
    simulate(cluster, [&](Comm comm) -> Task<> {
      int value = 1;
      for (; comm.rank() == 0; ++sent) co_await send(comm, buffer_of(value), 1);
      try {
        for (;; ++received) co_await receive(comm, buffer_of(value), 0);
      } catch (const Error&) {
      }
    });
    EXPECT_EQ(sent, steps);
    EXPECT_EQ(received, steps);
  }
}

TEST(FailuresTest, ATimeThatIsNoneIsAnError) {
  const auto error = [](auto member, double value) {
    SimulationOptions cluster;
    cluster.*member = value;
    return test::error_of([&] { simulate(cluster, [](Comm) -> Task<> { co_return; }); });
  };
  EXPECT_EQ(error(&SimulationOptions::joining, std::nan("")),
            "wisp::simulate: joining = nan is no number from 0");
  EXPECT_EQ(error(&SimulationOptions::latency, -1), "wisp::simulate: latency = -1 is no number from 0");
  EXPECT_EQ(error(&SimulationOptions::bandwidth, 0), "wisp::simulate: bandwidth = 0 is no number above 0");
}

TEST(FailuresTest, AStopOfNobodyIsAnError) {
  SimulationOptions cluster = cluster_of(3);
  cluster.stops = {{3, 0}};
  EXPECT_EQ(test::error_of([&] { simulate(cluster, [](Comm) -> Task<> { co_return; }); }),
            "wisp::simulate: stops[].rank = 3 is outside 0..2");
}

}  // namespace
}  // namespace wisp
