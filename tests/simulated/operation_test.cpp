// Operations as values on simulated ranks: awaited, more than once, or never.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "clusters.hpp"
#include "wisp/collectives.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;

TEST(OperationTest, IsAwaitedAsOftenAsOneLikes) {
  for (int p = 1; p <= 9; ++p) {
    simulate(cluster_of(p, 0), [](Comm comm) -> Task<> {
      int sum = 0;
      int mine = 1;
      const Operation operation = allreduce(comm, buffer_of(std::as_const(mine)), buffer_of(sum), MPI_SUM);
      for (mine = 1; mine < 4; ++mine) {
        co_await operation;
        EXPECT_EQ(sum, mine * comm.size());
      }
    });
  }
}

TEST(OperationTest, SendsNothingBeforeItIsAwaited) {
  const SimulationReport report = simulate(cluster_of(5, 0), [](Comm comm) -> Task<> {
    int value = 0;
    std::vector<Operation> never;
    for (int i = 0; i < 3; ++i) never.push_back(bcast(comm, buffer_of(value), 0));
    co_return;
  });
  EXPECT_EQ(report.messages, 0U);
}

TEST(OperationTest, SeveralAreAwaitedTogether) {
  simulate(cluster_of(6, 1), [](Comm comm) -> Task<> {
    int a = comm.rank() == 0 ? 1 : 0;
    int b = comm.rank() == 5 ? 2 : 0;
    std::vector<Task<>> tasks;
    tasks.push_back(bcast(comm, buffer_of(a), 0));
    tasks.push_back(bcast(comm, buffer_of(b), 5));
    co_await when_all(std::move(tasks));
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2);
  });
}

}  // namespace
}  // namespace wisp
