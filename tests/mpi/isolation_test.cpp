#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "overlapping.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

// Isolated contexts on real ranks: many communicators alive, in different orders; a million of them.

namespace wisp {
namespace {

TEST(IsolationTest, OverlappingCommunicatorsNeverInterfereWhateverTheOrder) {
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  for (int seed = 0; seed < 60; ++seed) {
    const std::vector<Comm> comms = test::random_communicators(world, 12, seed);
    std::vector<test::Operation> operations = test::operations_on(comms, world.rank(), seed);
    for (const std::size_t i : test::order_of(operations.size(), world.rank(), seed)) operations[i].start();
    for (const std::size_t i : test::order_of(operations.size(), world.rank(), seed + 1)) {
      operations[i].request.wait();
    }
    for (const test::Operation& operation : operations) operation.check(seed);
    if (HasFailure()) return;
  }
}

TEST(IsolationTest, GroupsOfMpiBecomeCommunicatorsInAnyOrder) {
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  const int p = world.size();
  MPI_Group all = MPI_GROUP_NULL, backwards = MPI_GROUP_NULL, range = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  std::vector<int> ranks;
  for (int r = p - 1; r >= 0; --r) ranks.push_back(r);
  MPI_Group_incl(all, p, ranks.data(), &backwards);
  int triple[1][3] = {{0, p - 1, 2}};
  MPI_Group_range_incl(all, 1, triple, &range);

  Comm first, second, even, by_all;
  std::vector<Request> requests;
  if (world.rank() % 2 == 0) {
    requests.push_back(world.icreate_group(backwards, 1, first));
    requests.push_back(world.icreate_group(backwards, 2, second));
    requests.push_back(world.icreate_group(range, 3, even));
  } else {
    requests.push_back(world.icreate_group(backwards, 2, second));
    requests.push_back(world.icreate_group(backwards, 1, first));
  }
  requests.push_back(world.icreate(backwards, by_all));
  Comm replaced = world;
  requests.push_back(replaced.icreate(std::vector<int>{0}, replaced));
  wait_all(requests);
  EXPECT_EQ(replaced.empty(), world.rank() != 0);
  EXPECT_EQ(first.rank(), p - 1 - world.rank());
  EXPECT_EQ(by_all.rank(), p - 1 - world.rank());
  const int mine = world.rank();
  int a = -1, b = -1, sum = 0;
  // Each rank starts them in an order of its own.
  Request on_first, on_second;
  const auto start_first = [&] { on_first = first.iexscan(buffer_of(mine), buffer_of(a), MPI_MAX); };
  const auto start_second = [&] { on_second = second.iscan(buffer_of(mine), buffer_of(b), MPI_MIN); };
  if (world.rank() % 3 == 0) {
    start_first();
    start_second();
  } else {
    start_second();
    start_first();
  }
  on_second.wait();
  on_first.wait();
  EXPECT_EQ(a, first.rank() == 0 ? -1 : p - 1);
  EXPECT_EQ(b, mine);
  if (world.rank() % 2 == 0) {
    even.allreduce(buffer_of(mine), buffer_of(sum), MPI_SUM);
    EXPECT_EQ(sum, (p - 1) / 2 * ((p - 1) / 2 + 1));
  }
  const Comm again = world.create_group(backwards, 4);
  again.barrier();
  EXPECT_THROW(world.create_group(MPI_GROUP_NULL), Error);
  MPI_Group_free(&range);
  MPI_Group_free(&backwards);
  MPI_Group_free(&all);
}

/// MPICH ends at 2,046 communicators, Open MPI at 65,532.
TEST(IsolationTest, AMillionCommunicatorsAreAliveAtOnce) {
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  if (world.size() > 3) GTEST_SKIP() << "memory for a few ranks is enough";
  constexpr double bytes_of_one = 1000;
  constexpr std::size_t count = 1000000;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (memory < 1.5 * bytes_of_one * count * world.size()) GTEST_SKIP() << "needs more memory";
  std::vector<Comm> comms;
  comms.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    comms.push_back(i % 2 == 0 ? world.range(0, world.size() - 1) : world.range(0, world.size() - 1, 2));
  }
  // The first, a middle and the last of those with all ranks, at the same time.
  const std::size_t chosen[] = {0, count / 2, count - 2};
  int mine[3], sums[3] = {-1, -1, -1};
  std::vector<Request> requests;
  for (int k = 0; k < 3; ++k) {
    // In another order on every rank.
    const int which = (k + world.rank()) % 3;
    mine[which] = 10 * which + world.rank();
    requests.push_back(comms[chosen[which]].iallreduce(buffer_of(std::as_const(mine[which])),
                                                       buffer_of(sums[which]), MPI_SUM));
  }
  wait_all(requests);
  const int p = world.size();
  for (int k = 0; k < 3; ++k) EXPECT_EQ(sums[k], 10 * k * p + p * (p - 1) / 2);
  if (world.rank() % 2 == 0) {
    int total = 0;
    const int one = 1;
    comms[count - 1].allreduce(buffer_of(one), buffer_of(total), MPI_SUM);
    EXPECT_EQ(total, (p + 1) / 2);
  }
}

}  // namespace
}  // namespace wisp
