#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "overlapping.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;

/// Many communicators that overlap at random, all alive; every rank starts its operations on them in an order
/// of its own.
TEST(IsolationTest, OverlappingCommunicatorsNeverInterfereWhateverTheOrder) {
  for (int seed = 0; seed < 100 * test::seeds(); ++seed) {
    const int p = 2 + seed % 15;
    simulate(cluster_of(p, seed), [&](Comm world) -> Task<> {
      const std::vector<Comm> comms = test::random_communicators(world, 12, seed);
      std::vector<test::Operation> operations = test::operations_on(comms, world.rank(), seed);
      for (const std::size_t i : test::order_of(operations.size(), world.rank(), seed)) operations[i].start();
      for (const std::size_t i : test::order_of(operations.size(), world.rank(), seed + 1)) {
        co_await operations[i].request;
      }
      for (const test::Operation& operation : operations) operation.check(seed);
    });
    if (HasFailure()) return;
  }
}

/// The test above must be able to fail: raw communicators do interfere.
TEST(IsolationTest, RawCommunicatorsThatOverlapDoInterfere) {
  int broken = 0;
  for (int seed = 0; seed < 20; ++seed) {
    bool wrong = false;
    try {
      simulate(cluster_of(8, seed), [&](Comm world) -> Task<> {
        const std::vector<Comm> comms = test::random_communicators(world.raw(), 12, seed);
        std::vector<test::Operation> operations = test::operations_on(comms, world.rank(), seed);
        for (const std::size_t i : test::order_of(operations.size(), world.rank(), seed))
          operations[i].start();
        for (test::Operation& operation : operations) co_await operation.request;
        for (const test::Operation& operation : operations) wrong = wrong || !operation.is_right();
      });
    } catch (const Error&) {
      wrong = true;
    }
    broken += wrong ? 1 : 0;
  }
  EXPECT_GT(broken, 0);
}

TEST(IsolationTest, MessagesOfOneTagGoToTheirCommunicator) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(4, seed), [&](Comm world) -> Task<> {
      // Four communicators of the same ranks; messages are received in the opposite order.
      std::vector<Comm> comms;
      for (int i = 0; i < 4; ++i) comms.push_back(world.range(0, 3));
      const int next = (world.rank() + 1) % 4;
      const int previous = (world.rank() + 3) % 4;
      std::vector<int> out(4), in(4);
      std::vector<Request> requests;
      for (int i = 0; i < 4; ++i) {
        const auto k = static_cast<std::size_t>(i);
        out[k] = 10 * i + world.rank();
        requests.push_back(comms[k].isend(buffer_of(std::as_const(out[k])), next, 3));
      }
      for (int i = 3; i >= 0; --i) {
        const auto k = static_cast<std::size_t>(i);
        // By name and by wildcard.
        const int source = (i + seed) % 2 == 0 ? previous : any_source;
        const int tag = (i + seed) % 3 == 0 ? any_tag : 3;
        const Status status = co_await receive(comms[k], buffer_of(in[k]), source, tag);
        EXPECT_EQ(in[k], 10 * i + previous);
        EXPECT_EQ(status.source, previous);
        EXPECT_EQ(status.tag, 3);
      }
      for (Request& request : requests) co_await request;
    });
  }
}

TEST(IsolationTest, NoMessageIsNeededToMakeARangeOrASubset) {
  const SimulationReport report = simulate(cluster_of(16, 0), [](Comm world) -> Task<> {
    const std::vector<int> ranks = {3, 1, 15, 7};
    const Comm subset = world.subset(ranks);
    const Comm range = world.range(2, 14, 3);
    EXPECT_EQ(subset.size(), 4);
    EXPECT_EQ(range.size(), 5);
    // Of it too, also by who is in none of them.
    const std::vector<int> two = {3, 0};
    EXPECT_EQ(subset.subset(two).size(), 2);
    EXPECT_EQ(subset.subset(two).is_member(), world.rank() == 7 || world.rank() == 3);
    EXPECT_EQ(range.subset(two).is_member(), world.rank() == 11 || world.rank() == 2);
    co_return;
  });
  EXPECT_EQ(report.messages, 0U);
}

/// Two groups with the same members in different orders, created in different orders by different ranks.
TEST(GroupCreationTest, CreationsOverlapInAnyOrder) {
  const std::vector<int> first = {4, 1, 3, 0, 6};
  const std::vector<int> second = {0, 6, 1, 4};
  const std::vector<int> range = {1, 3, 5};
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(7, seed), [&](Comm world) -> Task<> {
      const auto is_in = [&](const std::vector<int>& ranks) {
        return std::find(ranks.begin(), ranks.end(), world.rank()) != ranks.end();
      };
      std::vector<Comm> made(3);
      std::vector<Request> requests;
      const auto start = [&](int which) {
        const std::vector<int>& ranks = which == 0 ? first : which == 1 ? second : range;
        if (is_in(ranks)) {
          requests.push_back(world.icreate_group(ranks, 10 + which, made[static_cast<std::size_t>(which)]));
        }
      };
      const int turn = (world.rank() + seed) % 2;
      start(turn);
      start(1 - turn);
      start(2);
      for (Request& request : requests) co_await request;

      std::vector<int> sums(3, -1);
      std::vector<int> mine = {world.rank(), 100 + world.rank(), 1000 + world.rank()};
      std::vector<Request> reductions;
      for (const int which : turn == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>{2, 1, 0}) {
        const auto k = static_cast<std::size_t>(which);
        if (!made[k].is_member()) continue;
        reductions.push_back(
            made[k].iallreduce(buffer_of(std::as_const(mine[k])), buffer_of(sums[k]), MPI_SUM));
      }
      for (Request& request : reductions) co_await request;
      if (is_in(first)) {
        EXPECT_EQ(sums[0], 14);
        EXPECT_EQ(first[static_cast<std::size_t>(made[0].rank())], world.rank());
        if (is_in(range)) {
          EXPECT_EQ(made[0].translate(2, made[2]), 1);
        }
      }
      if (is_in(second)) {
        EXPECT_EQ(sums[1], 411);
      }
      if (is_in(range)) {
        EXPECT_EQ(sums[2], 3009);
      }
    });
    if (HasFailure()) return;
  }
}

TEST(GroupCreationTest, TakesOneAllgatherOfItsMembers) {
  for (const std::vector<int>& ranks : {std::vector<int>{7, 3, 6, 0}, std::vector<int>{0, 2, 4, 6}}) {
    const SimulationReport named = simulate(cluster_of(9, 0), [&](Comm world) -> Task<> {
      Comm made;
      if (std::find(ranks.begin(), ranks.end(), world.rank()) != ranks.end()) {
        co_await world.icreate_group(ranks, 0, made);
      }
    });
    EXPECT_EQ(named.messages, 8U);  // 4 ranks, 2 rounds
    EXPECT_LE(named.rounds, 2);
  }
}

TEST(GroupCreationTest, IcreateIsCalledByAllRanksOfTheParent) {
  for (int seed = 0; seed < 10; ++seed) {
    simulate(cluster_of(6, seed), [](Comm world) -> Task<> {
      const std::vector<int> ranks = {5, 0, 2};
      Comm made;
      Request creation = world.icreate(ranks, made);
      int sum = 0;
      const int one = 1;
      co_await allreduce(world, buffer_of(one), buffer_of(sum), MPI_SUM);
      co_await creation;
      EXPECT_EQ(sum, 6);
      const bool is_member = world.rank() == 5 || world.rank() == 0 || world.rank() == 2;
      EXPECT_EQ(made.is_member(), is_member);
      if (!is_member) co_return;
      // A sub-range of it, and the sub-range's own messages.
      const Comm inner = made.range(1, 2);
      if (inner.is_member()) {
        co_await allreduce(inner, buffer_of(std::as_const(one)), buffer_of(sum), MPI_SUM);
        EXPECT_EQ(sum, 2);
      }
      co_await allreduce(made, buffer_of(one), buffer_of(sum), MPI_SUM);
      EXPECT_EQ(sum, 3);
    });
  }
}

}  // namespace
}  // namespace wisp
