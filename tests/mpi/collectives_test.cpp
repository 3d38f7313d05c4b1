#include "wisp/collectives.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "noncommutative.hpp"

// Every collective on real ranks, blocking and nonblocking, beside MPI's own result.

namespace wisp {
namespace {

class CollectivesTest : public testing::TestWithParam<std::size_t> {
 protected:
  std::vector<double> input() const {
    std::vector<double> data(GetParam());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = comm.rank() * 10 + static_cast<double>(i % 7);
    return data;
  }
  std::vector<double> room(int blocks = 1) const {
    return std::vector<double>(GetParam() * static_cast<std::size_t>(blocks), -1);
  }
  int count() const { return static_cast<int>(GetParam()); }

  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
};

TEST_P(CollectivesTest, BcastFromEveryRoot) {
  for (int root = 0; root < comm.size(); ++root) {
    std::vector<double> expected = input(), blocking = input(), nonblocking = input();
    MPI_Bcast(expected.data(), count(), MPI_DOUBLE, root, MPI_COMM_WORLD);
    comm.bcast(blocking, root);
    EXPECT_EQ(blocking, expected);
    comm.ibcast(nonblocking, root).wait();
    EXPECT_EQ(nonblocking, expected);
  }
}

TEST_P(CollectivesTest, ReduceToEveryRoot) {
  for (int root = 0; root < comm.size(); ++root) {
    std::vector<double> expected = room(), blocking = room(), nonblocking = room();
    MPI_Reduce(input().data(), expected.data(), count(), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    const std::vector<double> data = input();
    comm.reduce(data, blocking, MPI_SUM, root);
    EXPECT_EQ(blocking, expected);
    comm.ireduce(data, nonblocking, MPI_SUM, root).wait();
    EXPECT_EQ(nonblocking, expected);
  }
}

TEST_P(CollectivesTest, GatherToEveryRoot) {
  const std::vector<double> data = input();
  for (int root = 0; root < comm.size(); ++root) {
    std::vector<double> expected = room(comm.size()), blocking = expected, nonblocking = expected;
    MPI_Gather(data.data(), count(), MPI_DOUBLE, expected.data(), count(), MPI_DOUBLE, root, MPI_COMM_WORLD);
    comm.gather(data, blocking, root);
    EXPECT_EQ(blocking, expected);
    comm.igather(data, nonblocking, root).wait();
    EXPECT_EQ(nonblocking, expected);
  }
}

TEST_P(CollectivesTest, AllreduceScanExscanAllgather) {
  const std::vector<double> data = input();
  std::vector<double> expected = room(), blocking = room(), nonblocking = room();
  MPI_Allreduce(data.data(), expected.data(), count(), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  comm.allreduce(data, blocking, MPI_MAX);
  comm.iallreduce(data, nonblocking, MPI_MAX).wait();
  EXPECT_EQ(blocking, expected);
  EXPECT_EQ(nonblocking, expected);

  MPI_Scan(data.data(), expected.data(), count(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  comm.scan(data, blocking, MPI_SUM);
  comm.iscan(data, nonblocking, MPI_SUM).wait();
  EXPECT_EQ(blocking, expected);
  EXPECT_EQ(nonblocking, expected);

  expected = blocking = nonblocking = room();
  MPI_Exscan(data.data(), expected.data(), count(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (comm.rank() == 0) expected = room();
  comm.exscan(data, blocking, MPI_SUM);
  comm.iexscan(data, nonblocking, MPI_SUM).wait();
  EXPECT_EQ(blocking, expected);
  EXPECT_EQ(nonblocking, expected);

  // What stays as it is on rank 0 may be nowhere there.
  if (comm.rank() == 0) blocking.clear();
  comm.exscan(data, blocking, MPI_SUM);
  comm.iexscan(data, comm.rank() == 0 ? Buffer() : Buffer(nonblocking), MPI_SUM).wait();
  if (comm.rank() > 0) {
    EXPECT_EQ(blocking, expected);
  }
  EXPECT_EQ(nonblocking, expected);

  expected = blocking = nonblocking = room(comm.size());
  MPI_Allgather(data.data(), count(), MPI_DOUBLE, expected.data(), count(), MPI_DOUBLE, MPI_COMM_WORLD);
  comm.allgather(data, blocking);
  comm.iallgather(data, nonblocking).wait();
  EXPECT_EQ(blocking, expected);
  EXPECT_EQ(nonblocking, expected);
}

TEST_P(CollectivesTest, OnEveryRange) {
  // Each rank is in one range; ranges work at the same time.
  for (const int length : {1, 2, 3, 5}) {
    const int first = comm.rank() / length * length;
    const Comm range = comm.range(first, std::min(first + length, comm.size()) - 1);
    std::vector<double> data = input(), sum = room();
    range.allreduce(data, sum, MPI_SUM);
    std::vector<double> expected = room();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = 0;
      for (int r = first; r < first + range.size(); ++r) expected[i] += r * 10 + static_cast<double>(i % 7);
    }
    EXPECT_EQ(sum, expected);
  }
  // And with a stride: even and odd ranks.
  const int parity = comm.rank() % 2;
  const Comm strided = comm.range(parity, comm.size() - 1, 2);
  int mine = comm.rank(), before = -1;
  strided.exscan(buffer_of(mine), buffer_of(before), MPI_MAX);
  EXPECT_EQ(before, strided.rank() == 0 ? -1 : comm.rank() - 2);
}

INSTANTIATE_TEST_SUITE_P(Elements, CollectivesTest, testing::Values(0, 1, 7, 600, 20000),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

TEST(CollectivesOfManyKindsTest, OperatorsThatDoNotCommuteAndDerivedTypes) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const test::AffineType affine;
  const test::Affine mine = test::affine_of_rank(comm.rank());
  for (int root = 0; root < comm.size(); ++root) {
    test::Affine expected, got;
    MPI_Reduce(&mine, &expected, 1, affine.type(), affine.op(), root, MPI_COMM_WORLD);
    comm.reduce(ConstBuffer(&mine, 1, affine.type()), Buffer(&got, 1, affine.type()), affine.op(), root);
    EXPECT_EQ(got, expected);
  }
  const test::GappedInts gapped;
  std::vector<int> data = {comm.rank(), -1, comm.rank() + 100, -1};
  std::vector<int> all(static_cast<std::size_t>(4 * comm.size()), -3), expected = all;
  MPI_Allgather(data.data(), 2, gapped.type(), expected.data(), 2, gapped.type(), MPI_COMM_WORLD);
  comm.allgather(ConstBuffer(data.data(), 2, gapped.type()),
                 Buffer(all.data(), static_cast<std::size_t>(2 * comm.size()), gapped.type()));
  EXPECT_EQ(all, expected);
}

TEST(CollectivesOfManyKindsTest, WorkInPlace) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int p = comm.size();
  int value = comm.rank();
  comm.allreduce(in_place(), buffer_of(value), MPI_SUM);
  EXPECT_EQ(value, p * (p - 1) / 2);
  value = comm.rank();
  comm.iscan(in_place(), buffer_of(value), MPI_SUM).wait();
  EXPECT_EQ(value, comm.rank() * (comm.rank() + 1) / 2);
  std::vector<int> all(static_cast<std::size_t>(p), -1);
  all[static_cast<std::size_t>(comm.rank())] = comm.rank();
  comm.allgather(in_place(), all);
  for (int r = 0; r < p; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], r);
}

}  // namespace
}  // namespace wisp
