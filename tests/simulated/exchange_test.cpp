// All-to-alls of irregular blocks and exchanges with unknown partners on simulated ranks: results, messages,
// and what goes wrong.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "exchanges.hpp"
#include "pattern/radix_grid.hpp"
#include "wisp/collectives.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::check_alltoallv;
using test::check_exchange;
using test::cluster_of;
using test::error_of;
using test::Sizes;

constexpr Sizes all_sizes[] = {Sizes::small, Sizes::mixed, Sizes::large, Sizes::few};

TEST(ExchangeTest, AlltoallvOfAllSizes) {
  for (int p = 1; p <= 33; ++p) {
    for (const int seed : {0, 1, 2}) {
      for (const Sizes sizes : all_sizes) {
        for (const std::string_view algorithm : algorithms_of("alltoallv")) {
          SCOPED_TRACE(std::to_string(p) + " ranks, seed " + std::to_string(seed) + ", " +
                       std::string(algorithm));
          simulate(cluster_of(p, seed), [&](Comm comm) {
            return check_alltoallv(comm, static_cast<std::uint64_t>(seed), sizes, algorithm);
          });
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(ExchangeTest, WithPartnersThatNobodyKnows) {
  for (int p = 1; p <= 33; ++p) {
    for (int seed = 0; seed < (test::is_quick() ? 3 : test::seeds() / 4); ++seed) {
      for (const std::string_view algorithm : algorithms_of("exchange")) {
        SCOPED_TRACE(std::to_string(p) + " ranks, seed " + std::to_string(seed) + ", " +
                     std::string(algorithm));
        simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
          // Several in a row: whoever is first must not disturb who is last.
          for (const Sizes sizes : all_sizes) {
            co_await check_exchange(comm, static_cast<std::uint64_t>(seed), sizes, {.algorithm = algorithm});
          }
        });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(ExchangeTest, OnOneTagAndOnRawCommunicatorsOneAfterTheOther) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    for (const std::string_view algorithm : algorithms_of("exchange")) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(algorithm));
      simulate(cluster_of(7, seed), [&](Comm comm) -> Task<> {
        for (std::uint64_t run = 0; run < 5; ++run) {
          co_await check_exchange(comm, run, Sizes::small, {.own_tag = 3, .algorithm = algorithm});
          co_await check_exchange(comm.raw(), run, Sizes::small, {.algorithm = algorithm});
          const Comm part = comm.raw().range(comm.rank() < 3 ? 0 : 3, comm.rank() < 3 ? 2 : 6);
          co_await check_exchange(part, run, Sizes::small, {.algorithm = algorithm});
        }
      });
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(ExchangeTest, ManyAtOneTime) {
  for (int seed = 0; seed < test::seeds() / 4; ++seed) {
    simulate(cluster_of(9, seed), [](Comm comm) -> Task<> {
      std::vector<Task<>> tasks;
      for (std::uint64_t i = 0; i < 6; ++i) {
        tasks.push_back(check_exchange(i % 2 == 0 ? comm : comm.range(0, 8), i, Sizes::mixed,
                                       {.algorithm = i % 3 == 0 ? "grid" : "consensus"}));
      }
      co_await when_all(std::move(tasks));
    });
  }
}

TEST(ExchangeTest, SaysWhatIsWrong) {
  const std::string error = error_of(3, [](Comm comm) -> Task<> {
    const int data = 0;
    const std::vector<Outgoing> messages{{3, buffer_of(data)}};
    Arrivals arrivals;
    co_await exchange(comm, messages, arrivals);
  });
  EXPECT_NE(error.find("wisp::exchange: destination = 3"), std::string::npos) << error;
  const std::string carried = error_of(
      [] {
        SimulationOptions cluster = cluster_of(64);
        cluster.carried_bytes = 16;
        return cluster;
      }(),
      [](Comm comm) { return check_alltoallv(comm, 1, Sizes::small, "grid"); });
  EXPECT_NE(carried.find("carried_bytes"), std::string::npos) << carried;
}

/// Rank 1 sends rank 0 another amount than it expects: small and large ones, either way. All end, and what
/// comes next with the same tag gets nothing of it.
TEST(ExchangeTest, SizesThatDifferAreAnErrorAndDisturbNothing) {
  for (const int sent : {0, 1, 5000, 300000}) {
    for (const int due : {0, 2, 6000}) {
      if (sent == due) continue;
      for (const int seed : {0, 1, 2}) {
        SCOPED_TRACE(std::to_string(sent) + " for " + std::to_string(due));
        simulate(cluster_of(5, seed), [&](Comm comm) -> Task<> {
          const CollectiveOptions options{.own_tag = 4, .algorithm = "grid"};
          std::vector<int> counts(5, 2), due_counts(5, 2);
          if (comm.rank() == 1) counts[0] = sent;
          if (comm.rank() == 0) due_counts[1] = due;
          const std::vector<int> send(310000);
          std::vector<int> receive(20000);
          std::string error;
          try {
            co_await alltoallv(comm, ConstBlocks(send, counts), {receive, due_counts}, options);
          } catch (const Error& caught) {
            error = caught.what();
          }
          const std::string expected = "wisp::alltoallv: rank 1 sends " + std::to_string(4 * sent) +
                                       " bytes to rank 0, where " + std::to_string(4 * due) + " are expected";
          EXPECT_EQ(error, comm.rank() == 0 ? expected : "");
          co_await check_alltoallv(comm, 3, Sizes::mixed, "grid");
          co_await check_exchange(comm, 3, Sizes::mixed, {.own_tag = 4, .algorithm = "consensus"});
        });
      }
    }
  }
}

/// With the least number of tags, numbers of collectives come back soon; whoever sends may be far ahead.
TEST(ExchangeTest, TagsComeBack) {
  for (int seed = 0; seed < 4 * test::seeds(); ++seed) {
    SimulationOptions cluster = cluster_of(4, seed);
    cluster.tag_upper_bound = 32767;
    cluster.jitter = 500e-6;
    simulate(cluster, [](Comm comm) -> Task<> {
      co_await check_exchange(comm, 1, Sizes::small, {.algorithm = "consensus"});
      int value = 0;
      for (int i = 0; i < 31; ++i) co_await bcast(comm, buffer_of(value), 0);
      co_await check_exchange(comm, 2, Sizes::small, {.algorithm = "consensus"});
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ExchangeTest, NothingToSendHasAnyDatatype) {
  simulate(cluster_of(16), [](Comm comm) -> Task<> {
    const std::vector<int> none(16);
    const std::vector<MPI_Datatype> null(16, MPI_DATATYPE_NULL);
    for (const std::string_view algorithm : algorithms_of("alltoallv")) {
      co_await alltoallw(comm, ConstBlocks(nullptr, none, none, null), Blocks(nullptr, none, none, null),
                         {.algorithm = algorithm});
    }
    MPI_Datatype empty = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    const int data = 0;
    const std::vector<Outgoing> messages{{comm.rank(), {&data, 1, empty}}, {0, {&data, 1, empty}}};
    for (const std::string_view algorithm : algorithms_of("exchange")) {
      Arrivals arrivals;
      co_await exchange(comm, messages, arrivals, {.algorithm = algorithm});
      EXPECT_EQ(arrivals.size(), comm.rank() == 0 ? 17U : 1U);
    }
    MPI_Type_free(&empty);
  });
}

/// A rank sends one message for each digit but 0 in each level, whatever the blocks.
TEST(ExchangeTest, MessagesAreThoseOfTheGrid) {
  for (const int p : {2, 5, 16, 31, 64, 100, 257}) {
    const SimulationOptions cluster = cluster_of(p);
    const SimulationReport report =
        simulate(cluster, [](Comm comm) { return check_alltoallv(comm, 1, Sizes::small, "grid"); });
    const detail::RadixGrid grid = detail::cheapest_grid(p, test::machine_of(cluster), 64);
    std::uint64_t due = 0;
    for (int level = 0; level < grid.levels(); ++level) {
      due += static_cast<std::uint64_t>(grid.digits(level) - 1);
    }
    for (const SimulationReport::Rank& rank : report.ranks) EXPECT_EQ(rank.messages_sent, due) << p;
  }
}

/// A grid of two ranks is one message each way too, but of bundles that are written and read.
TEST(ExchangeTest, TwoRanksSendTheirBlocksAsTheyAre) {
  const auto bytes = [](std::string_view algorithm) {
    return simulate(cluster_of(2),
                    [&](Comm comm) { return check_alltoallv(comm, 1, Sizes::small, algorithm); })
        .bytes;
  };
  EXPECT_EQ(bytes({}), bytes("direct"));
  EXPECT_GT(bytes("grid"), bytes("direct"));
}

TEST(ExchangeTest, ThousandsOfRanksInFewMessages) {
  const auto seconds = [](int p, std::string_view algorithm) {
    return simulate(cluster_of(p),
                    [&](Comm comm) { return check_alltoallv(comm, 1, Sizes::small, algorithm); })
        .seconds;
  };
  EXPECT_GT(seconds(1024, "direct"), 10 * seconds(1024, {}));
  simulate(cluster_of(4099), [](Comm comm) -> Task<> {
    for (const std::string_view algorithm : algorithms_of("exchange")) {
      co_await check_exchange(comm, 5, Sizes::mixed, {.algorithm = algorithm});
    }
  });
}

/// A rank with no partners holds nothing for the others.
TEST(ExchangeTest, MemoryOfARankIsThatOfItsPartners) {
  const auto most = [](int p) {
    std::size_t peak = 0;
    const SimulationReport report =
        simulate(cluster_of(p), [](Comm comm) { return check_exchange(comm, 5, Sizes::small); });
    for (const auto& rank : report.ranks) peak = std::max(peak, rank.peak_bytes);
    return peak;
  };
  EXPECT_LT(most(4096), 4 * most(64));
}

}  // namespace
}  // namespace wisp
