// Codes of communicators come back: however many are made, alive and dropped, in whatever order each rank
// uses them, their messages never mix.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "comm/comm_access.hpp"
#include "effort.hpp"
#include "overlapping.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;
using test::error_of;

constexpr int numbered_codes = 23;  // the first 12 without a message

/// A cluster whose tags have 32 codes, 23 of them for numbers of pairs.
SimulationOptions few_codes(int ranks, int seed) {
  SimulationOptions cluster = cluster_of(ranks, seed);
  cluster.tag_upper_bound = 32767;
  return cluster;
}

Task<> bcast_and_check(Comm comm, int value) {
  int got = comm.rank() == 0 ? value : -1;
  co_await bcast(comm, buffer_of(got), 0);
  EXPECT_EQ(got, value);
}

TEST(ContextCodesTest, ACodeComesBackOnlyWhenTheOtherIsDoneWithItToo) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    SimulationOptions cluster = few_codes(2, seed);
    cluster.rendezvous = false;  // rank 0 is done before rank 1 receives
    simulate(cluster, [&](Comm world) -> Task<> {
      Comm first = world.range(0, 1);
      int of_first = world.rank() == 0 ? 1 : -1;
      if (world.rank() == 0) {
        co_await bcast(first, buffer_of(of_first), 0);
        first = {};
      }
      // Rank 1 has not received yet, makes as many as there are codes, and uses the last of them first.
      for (int i = 0; i < 3 * numbered_codes; ++i) {
        const Comm next = world.range(0, 1);
        if (i % 7 == 0) co_await bcast_and_check(next, 100 + i);
      }
      if (world.rank() == 1) {
        co_await bcast(first, buffer_of(of_first), 0);
        EXPECT_EQ(of_first, 1);
      }
    });
  }
}

TEST(ContextCodesTest, TemporariesBesideKeptOnesNeverRunOut) {
  for (const int kept_count : {0, 1, numbered_codes - 2}) {
    simulate(few_codes(3, 1), [&](Comm world) -> Task<> {
      std::vector<Comm> kept;
      for (int i = 0; i < kept_count; ++i) {
        kept.push_back(world.range(0, 2));
        if (i % 2 == 0) co_await bcast_and_check(kept.back(), i);
      }
      for (int i = 0; i < 500; ++i) {
        co_await bcast_and_check(world.range(0, 2), i);
        if (i % 50 == 0) {
          for (const Comm& comm : kept) co_await bcast_and_check(comm, -2 - i);
        }
      }
    });
  }
}

TEST(ContextCodesTest, WhatIsMadeAndNotUsedTakesNoMessage) {
  const SimulationReport report = simulate(few_codes(4, 0), [](Comm world) -> Task<> {
    std::vector<Comm> alive;
    for (int i = 0; i < 10000; ++i) alive.push_back(world.range(0, 3));
    co_return;
  });
  EXPECT_EQ(report.messages, 0U);
}

/// Every rank makes the same communicators, starts operations on them in an order of its own, completes them
/// in another, and drops them when it likes.
TEST(ContextCodesTest, LifetimesOfEachRanksOwnNeverMixMessages) {
  constexpr int made_count = 150;
  for (int seed = 0; seed < 2 * test::seeds(); ++seed) {
    const int p = 2 + seed % 7;
    simulate(few_codes(p, seed), [&](Comm world) -> Task<> {
      std::mt19937 random(static_cast<unsigned>(1000 * seed + world.rank()));
      const auto below = [&](std::size_t bound) { return random() % bound; };
      using Operations = std::vector<std::unique_ptr<test::Operation>>;  // each stays where it is
      Operations made, started, done;
      int number = 0;
      while (number < made_count || !started.empty()) {
        // All ranks make the next ones alike; how many at a time is each rank's own.
        const auto batch = 1 + below(5);
        for (std::size_t i = 0; i < batch && number < made_count; ++i, ++number) {
          const std::vector<Comm> comms = test::random_communicators(world, 2, 1000 * seed + number);
          for (test::Operation& operation : test::operations_on({comms[1]}, world.rank(), number + seed)) {
            made.push_back(std::make_unique<test::Operation>(std::move(operation)));
          }
        }
        std::shuffle(made.begin(), made.end(), random);
        for (std::unique_ptr<test::Operation>& operation : made) {
          operation->start();
          started.push_back(std::move(operation));
        }
        made.clear();
        while (started.size() > (number < made_count ? below(4) : 0)) {
          const auto i = static_cast<std::ptrdiff_t>(below(started.size()));
          co_await started[static_cast<std::size_t>(i)]->request;
          started[static_cast<std::size_t>(i)]->check(seed);
          done.push_back(std::move(started[static_cast<std::size_t>(i)]));
          started.erase(started.begin() + i);
        }
        while (done.size() > below(4))
          done.erase(done.begin() + static_cast<std::ptrdiff_t>(below(done.size())));
      }
    });
    if (HasFailure()) return;
  }
}

TEST(ContextCodesTest, WildcardsWaitForMessagesWhoseCodesAreNotKnownYet) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(few_codes(5, seed), [&](Comm world) -> Task<> {
      for (int i = 0; i < 2 * numbered_codes; ++i) world.range(0, 4);
      const Comm comm = world.range(0, 4);
      const Comm strided = world.range(0, 4, 2);
      if (world.rank() == seed % 5) {
        std::vector<int> from(5, -1);
        for (int i = 0; i < 8; ++i) {
          int got = -1;
          const Status status = co_await receive(comm, buffer_of(got), any_source, any_tag);
          EXPECT_EQ(got, 10 * status.source + status.tag);
          // Those of one rank come in order.
          EXPECT_GT(status.tag, from[static_cast<std::size_t>(status.source)]);
          from[static_cast<std::size_t>(status.source)] = status.tag;
        }
      } else {
        std::vector<Request> requests;
        const std::vector<int> data = {10 * world.rank(), 10 * world.rank() + 1};
        for (int tag = 0; tag < 2; ++tag) {
          requests.push_back(comm.isend(buffer_of(data[static_cast<std::size_t>(tag)]), seed % 5, tag));
        }
        for (Request& request : requests) co_await request;
      }
      if (strided.is_member()) co_await bcast_and_check(strided, seed);
    });
  }
}

TEST(ContextCodesTest, MoreThanTheTagsCanTellApartIsAnErrorOnBoth) {
  for (int seed = 0; seed < 10; ++seed) {
    int failed = 0;
    simulate(few_codes(2, seed), [&](Comm world) -> Task<> {
      std::vector<Comm> alive;
      std::string message;
      for (int i = 0; i < 2 * numbered_codes && message.empty(); ++i) {
        alive.push_back(world.range(0, 1));
        const int mine = i;
        int other = -1;
        try {
          co_await sendrecv(alive.back(), buffer_of(mine), 1 - world.rank(), 0, buffer_of(other),
                            1 - world.rank(), 0);
          EXPECT_EQ(other, i);
        } catch (const Error& error) {
          EXPECT_EQ(error.error_class(), MPI_ERR_COMM);
          message = error.what();
        }
      }
      EXPECT_NE(message.find("hold communicators with all 23 codes"), std::string::npos) << message;
      EXPECT_EQ(alive.size(), static_cast<std::size_t>(numbered_codes) + 1);
      failed += message.empty() ? 0 : 1;
      // Once one is dropped, there is a code again.
      alive.erase(alive.begin() + 3);
      co_await bcast_and_check(alive.back(), 7);
      co_await bcast_and_check(alive.front(), 8);
    });
    EXPECT_EQ(failed, 2);
  }
}

TEST(ContextCodesTest, SeveralMpiCommunicatorsHaveMoreCodes) {
  SimulationOptions cluster = few_codes(3, 1);
  cluster.mpi_communicators = 8;
  simulate(cluster, [](Comm world) -> Task<> {
    std::vector<Comm> alive;
    for (int i = 0; i < numbered_codes + 7 * 16; ++i) {
      alive.push_back(world.range(0, 2));
      co_await bcast_and_check(alive.back(), i);
    }
    std::vector<Comm> groups;
    for (int i = 0; i < 7 + 7 * 16; ++i) {
      Comm made;
      const std::vector<int> ranks = {2, 0};
      if (world.rank() == 1) continue;
      Request request = world.icreate_group(ranks, 0, made);
      co_await request;
      groups.push_back(made);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) co_await bcast_and_check(groups[i], static_cast<int>(i));
    for (std::size_t i = 0; i < alive.size(); ++i) co_await bcast_and_check(alive[i], static_cast<int>(i));
  });
}

TEST(ContextCodesTest, PairsCountBeyondThirtyTwoBits) {
  for (const std::int64_t made : {std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 40}) {
    simulate(cluster_of(3, 1), [&](Comm world) -> Task<> {
      // As if so many had been made and dropped.
      detail::CommAccess::world(world).pair_numbers().add(world.group(), made - 5);
      detail::CommAccess::world(world).pair_codes().count(made - 5);
      std::vector<Comm> alive;
      for (int i = 0; i < 10; ++i) {
        alive.push_back(world.range(0, 2));
        co_await bcast_and_check(alive.back(), i);
      }
      for (const Comm& comm : alive) co_await bcast_and_check(comm, 3);
    });
  }
}

TEST(ContextCodesTest, WhatAnExceptionPassesBeforeItsCodeIsKnownIsSentAllTheSame) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(few_codes(2, seed), [&](Comm world) -> Task<> {
      std::vector<Comm> kept;
      for (int i = 0; i < numbered_codes - 4; ++i) kept.push_back(world.range(0, 1));
      for (int i = 0; i < numbered_codes - 4; ++i) {
        const Comm& comm = kept[static_cast<std::size_t>(i)];
        const std::vector<int> due(i % 2 == 0 ? 1 : 5000, i);
        if (world.rank() == 0) {
          try {
            std::vector<int> data = due;
            const Request parked = comm.isend(data, 1, 3);
            throw std::runtime_error("mine");  // and `data` dies
          } catch (const std::runtime_error&) {
          }
          const int after = -i;
          co_await send(comm, buffer_of(after), 1, 3);
        } else {
          std::vector<int> got(due.size(), -1);
          co_await receive(comm, got, 0, 3);
          EXPECT_EQ(got, due);
          int after = 1;
          co_await receive(comm, buffer_of(after), 0, 3);
          EXPECT_EQ(after, -i);
        }
      }
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace wisp
