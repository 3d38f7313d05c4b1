#include "wisp/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace wisp {
namespace {

/// All ranks' elements, in rank order, on every rank.
std::vector<double> all_elements(const std::vector<double>& mine) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), begins(counts.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::vector<double> all(static_cast<std::size_t>(begins.back() + counts.back()));
  MPI_Allgatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), begins.data(), MPI_DOUBLE,
                 MPI_COMM_WORLD);
  return all;
}

TEST(SortTest, GivesEveryRankItsShareInOrder) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const auto p = static_cast<std::size_t>(comm.size());
  std::mt19937 random(static_cast<unsigned>(comm.rank()) + 1);
  for (const std::string_view way : {"greedy", "deterministic", "merge", ""}) {
    for (const std::size_t per_rank : {0, 1, 2, 33, 1000, 60000}) {
      for (int kind = 0; kind < 4; ++kind) {
        std::size_t count = per_rank;
        if (kind == 3) count = comm.rank() % 3 == 1 ? random() % (3 * per_rank + 1) : 0;
        std::vector<double> data(count);
        for (double& x : data) {
          const auto drawn = static_cast<double>(random() % 1000000);
          x = kind == 0 ? drawn : kind == 1 ? static_cast<double>(random() % 2) : -comm.rank();
        }
        std::vector<double> expected = all_elements(data);
        std::sort(expected.begin(), expected.end());
        SortOptions options;
        if (way == "deterministic") options.assignment = SortOptions::Assignment::deterministic;
        if (!way.empty()) options.algorithm = way == "merge" ? "merge" : "janus";
        sort(comm, data, Ascending{}, options);
        const std::size_t n = expected.size();
        EXPECT_EQ(data.size(), n / p + (static_cast<std::size_t>(comm.rank()) < n % p ? 1 : 0));
        EXPECT_EQ(all_elements(data), expected) << "kind " << kind << ", " << per_rank << " per rank";
      }
    }
  }
}

TEST(SortTest, TwoSortsRunAtOnce) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  std::mt19937 random(static_cast<unsigned>(comm.rank()) + 1);
  std::vector<double> first(500), second(700);
  for (double& x : first) x = static_cast<double>(random());
  for (double& x : second) x = static_cast<double>(random() % 10);
  Request one = isort(comm, first);
  Request two = isort(comm, second);
  two.wait();
  one.wait();
  const std::vector<double> all_first = all_elements(first), all_second = all_elements(second);
  EXPECT_TRUE(std::is_sorted(all_first.begin(), all_first.end()));
  EXPECT_TRUE(std::is_sorted(all_second.begin(), all_second.end()));
}

TEST(SortTest, OnTwoHalvesAtOnce) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP();
  const int middle = comm.size() / 2;
  const Comm half = comm.rank() < middle ? comm.range(0, middle - 1) : comm.range(middle, comm.size() - 1);
  std::vector<int> data(100);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<int>(i) * half.size() + (half.size() - 1 - half.rank());
  sort(half, data);
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], half.rank() * 100 + static_cast<int>(i));
}

}  // namespace
}  // namespace wisp
