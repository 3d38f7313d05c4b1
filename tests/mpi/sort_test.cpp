#include "wisp/sort.hpp"
#include "wisp/select.hpp"
#include "wisp/sort_strings.hpp"
#include "wisp/sorted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
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
  for (const std::string_view way : {"greedy", "deterministic", "rquick", "merge", ""}) {
    for (const std::size_t per_rank : {0u, 1u, 2u, 33u, 1000u, 60000u}) {
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
        if (!way.empty()) options.algorithm = way == "merge" || way == "rquick" ? way : "janus";
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
  std::vector<double> all_first = all_elements(first), all_second = all_elements(second);
  std::ranges::sort(all_first);
  std::ranges::sort(all_second);
  Request one = isort(comm, first);
  Request two = isort(comm, second);
  two.wait();
  one.wait();
  EXPECT_EQ(all_elements(first), all_first);
  EXPECT_EQ(all_elements(second), all_second);
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

std::size_t share_of(std::size_t elements, const Comm& comm) {
  const auto p = static_cast<std::size_t>(comm.size());
  return elements / p + (static_cast<std::size_t>(comm.rank()) < elements % p ? 1 : 0);
}

/// Every rank's numbers are those that all ranks have, dealt out.
std::vector<int> own_part(const Comm& comm, const std::vector<int>& all) {
  std::vector<int> part;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i * i) % comm.size() == comm.rank()) part.push_back(all[i]);
  return part;
}

std::vector<int> numbers(std::size_t count, int below) {
  std::mt19937 random(7);
  std::vector<int> all(count);
  for (int& x : all) x = static_cast<int>(random() % static_cast<unsigned>(below));
  return all;
}

std::vector<int> gathered(const std::vector<int>& mine) {
  const std::vector<double> all = all_elements({mine.begin(), mine.end()});
  return {all.begin(), all.end()};
}

TEST(SortTest, WhatElseIsDoneWithAnOrder) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  for (const std::size_t count : {0u, 1u, 5u, 1000u}) {
    const std::vector<int> all = numbers(count, 50);
    const std::vector<int> part = own_part(comm, all);
    const std::vector<int> in_rank_order = gathered(part);
    std::vector<int> expected = in_rank_order;
    std::sort(expected.begin(), expected.end());
    std::vector<int> sorted = part;
    sort(comm, sorted);

    const std::vector<std::uint64_t> order = argsort(comm, part);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(in_rank_order[order[i]], sorted[i]);

    const std::vector<int> both = merge(comm, sorted, sorted);
    EXPECT_EQ(both.size(), share_of(2 * count, comm));
    std::vector<int> twice;
    for (const int x : expected) twice.insert(twice.end(), {x, x});
    EXPECT_EQ(gathered(both), twice);

    const auto places = lower_bound(comm, sorted, std::vector<int>{-1, 25, 100});
    EXPECT_EQ(places[0], 0u);
    EXPECT_EQ(places[1], static_cast<std::uint64_t>(std::lower_bound(expected.begin(), expected.end(), 25) -
                                                    expected.begin()));
    EXPECT_EQ(places[2], count);
    const auto behind = upper_bound(comm, sorted, std::vector<int>{25});
    EXPECT_EQ(behind[0], static_cast<std::uint64_t>(std::upper_bound(expected.begin(), expected.end(), 25) -
                                                    expected.begin()));
    std::vector<int> weighed = sorted;
    rebalance(comm, weighed, [](int x) { return x + 1; });
    EXPECT_EQ(gathered(weighed), expected);
    const auto weight_of = [](const std::vector<int>& some) {
      return std::accumulate(some.begin(), some.end(), 0) + static_cast<int>(some.size());
    };
    EXPECT_LE(weight_of(weighed), weight_of(expected) / comm.size() + 1 + 50);

    if (count > 0) {
      EXPECT_EQ(nth_element(comm, part, count / 2), expected[count / 2]);
    }
    const std::vector<int> largest = top_k(comm, part, 3);
    EXPECT_TRUE(std::equal(largest.begin(), largest.end(), expected.rbegin()));

    unique(comm, sorted);
    rebalance(comm, sorted);
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    EXPECT_EQ(gathered(sorted), expected);
    EXPECT_EQ(sorted.size(), share_of(expected.size(), comm));
  }
}

TEST(SortTest, ByOneOfTheMembers) {
  struct Row {
    int time;
    int from;
  };
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  std::vector<Row> rows;
  for (const int x : own_part(comm, numbers(500, 40))) rows.push_back({x, comm.rank()});
  std::vector<int> times, from;
  const auto take_apart = [&] {
    times.clear();
    from.clear();
    for (const Row& row : rows) {
      times.push_back(row.time);
      from.push_back(row.from);
    }
    times = gathered(times);
    from = gathered(from);
  };
  take_apart();
  std::vector<std::pair<int, int>> expected;
  for (std::size_t i = 0; i < times.size(); ++i) expected.emplace_back(times[i], from[i]);
  std::ranges::sort(expected);
  sort(comm, rows, Ascending{}, &Row::time);
  take_apart();
  EXPECT_TRUE(std::ranges::is_sorted(times));
  std::vector<std::pair<int, int>> sorted;
  for (std::size_t i = 0; i < times.size(); ++i) sorted.emplace_back(times[i], from[i]);
  std::ranges::sort(sorted);  // which of equal ones is first, nobody says
  EXPECT_EQ(sorted, expected);
}

TEST(SortTest, StringsOfAnyLength) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  for (const auto balance : {StringSortOptions::Balance::strings, StringSortOptions::Balance::characters}) {
    std::vector<std::string> all;
    for (const int x : numbers(2000, 10000)) {
      all.push_back(std::string(static_cast<std::size_t>(x % 7) * 10, 'p') + std::to_string(x));
      if (x % 500 == 0) all.back() += std::string(20000, 'l');
    }
    std::vector<std::string> part;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<int>(i % 31) % comm.size() == comm.rank()) part.push_back(all[i]);
    std::sort(all.begin(), all.end());
    sort(comm, part, {balance});
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    std::uint64_t count = part.size();
    std::uint64_t before = 0;
    comm.exscan(buffer_of(count), buffer_of(before), MPI_SUM);
    ASSERT_LE(before + count, all.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(before)));
    if (balance == StringSortOptions::Balance::strings) {
      EXPECT_EQ(part.size(), share_of(all.size(), comm));
    }
    comm.allreduce(in_place(), buffer_of(count), MPI_SUM);
    EXPECT_EQ(count, all.size());
  }
}

}  // namespace
}  // namespace wisp
