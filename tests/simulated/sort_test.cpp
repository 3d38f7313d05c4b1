#include "wisp/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "effort.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using Input = std::vector<std::vector<double>>;

/// Sorts on a simulated cluster and compares with std::sort of all elements; every share must be exact.
template <class Less = Ascending>
SimulationReport check_sort(const Input& input, SimulationOptions cluster, const SortOptions& options,
                            Less less = {}) {
  std::vector<double> expected;
  for (const auto& part : input) expected.insert(expected.end(), part.begin(), part.end());
  std::sort(expected.begin(), expected.end(), less);
  cluster.ranks = static_cast<int>(input.size());
  Input data = input;
  const SimulationReport report = simulate(cluster, [&](Comm comm) -> Task<> {
    co_await async_sort(comm, data[static_cast<std::size_t>(comm.rank())], less, options);
  });
  const std::size_t p = input.size();
  const std::size_t n = expected.size();
  std::vector<double> sorted;
  for (std::size_t rank = 0; rank < p; ++rank) {
    EXPECT_EQ(data[rank].size(), n / p + (rank < n % p ? 1 : 0)) << "rank " << rank << " of " << p;
    sorted.insert(sorted.end(), data[rank].begin(), data[rank].end());
  }
  EXPECT_EQ(sorted, expected);
  return report;
}

SimulationOptions cluster_with(int seed) {
  SimulationOptions cluster;
  cluster.seed = static_cast<std::uint64_t>(seed);
  cluster.jitter = seed == 0 ? 0 : 20e-6;
  cluster.shares_cores = seed % 2 == 1;
  cluster.rendezvous = seed % 3 == 1;
  return cluster;
}

SortOptions options_with(SortOptions::Assignment assignment, int seed) {
  SortOptions options;
  options.assignment = assignment;
  options.seed = static_cast<std::uint64_t>(seed);
  return options;
}

enum class Kind { random, few_values, sorted, reverse, equal, uneven, one_rank_has_all };
constexpr Kind kinds[] = {Kind::random, Kind::few_values, Kind::sorted,          Kind::reverse,
                          Kind::equal,  Kind::uneven,     Kind::one_rank_has_all};

Input make_input(Kind kind, int ranks, int per_rank, std::mt19937& random) {
  Input input(static_cast<std::size_t>(ranks));
  const int all = ranks * per_rank;
  int next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    int count = per_rank;
    if (kind == Kind::uneven) count = random() % 3 == 0 ? static_cast<int>(random() % 40) : 0;
    if (kind == Kind::one_rank_has_all) count = rank == ranks / 2 ? all : 0;
    for (int i = 0; i < count; ++i, ++next) {
      double value = static_cast<double>(random() % 100000);
      if (kind == Kind::few_values) value = static_cast<double>(random() % 3);
      if (kind == Kind::sorted) value = next;
      if (kind == Kind::reverse) value = -next;
      if (kind == Kind::equal) value = 7;
      input[static_cast<std::size_t>(rank)].push_back(value);
    }
  }
  return input;
}

class SimulatedSortTest : public testing::TestWithParam<SortOptions::Assignment> {};

TEST_P(SimulatedSortTest, AllRankCountsAllInputsUnderRandomDelays) {
  std::mt19937 random(1);
  const int rounds = std::max(1, test::seeds() / 10);
  for (int p = 1; p <= 33; ++p) {
    for (const Kind kind : kinds) {
      for (int seed = 0; seed < rounds; ++seed) {
        const int per_rank = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 3 : 20;
        check_sort(make_input(kind, p, per_rank, random), cluster_with(seed), options_with(GetParam(), seed));
        ASSERT_FALSE(HasFailure()) << "p = " << p << ", kind " << static_cast<int>(kind) << ", seed " << seed;
      }
    }
  }
}

TEST_P(SimulatedSortTest, FewerElementsThanRanks) {
  for (const int p : {1, 2, 3, 8, 33}) {
    for (int elements = 0; elements <= p; ++elements) {
      Input input(static_cast<std::size_t>(p));
      for (int i = 0; i < elements; ++i) input[static_cast<std::size_t>(i * 7 % p)].push_back(-i);
      check_sort(input, cluster_with(elements % 4), options_with(GetParam(), elements));
    }
  }
}

TEST_P(SimulatedSortTest, ThousandsOfRanks) {
  std::mt19937 random(2);
  for (const Kind kind : {Kind::random, Kind::equal}) {
    check_sort(make_input(kind, 2053, 5, random), cluster_with(0), options_with(GetParam(), 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Assignments, SimulatedSortTest,
                         testing::Values(SortOptions::Assignment::greedy,
                                         SortOptions::Assignment::deterministic),
                         [](const auto& parameter) {
                           return parameter.param == SortOptions::Assignment::greedy ? "Greedy"
                                                                                     : "Deterministic";
                         });

TEST(SimulatedSortOrderTest, NanComesLastInTheDefaultOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Input data = {{3, nan, 1}, {nan, nan, 2}, {5, 0, nan}, {-1, -2, -3}};
  SimulationOptions cluster;
  cluster.ranks = 4;
  simulate(cluster, [&](Comm comm) -> Task<> {
    co_await async_sort(comm, data[static_cast<std::size_t>(comm.rank())]);
  });
  EXPECT_EQ(data[0], (std::vector<double>{-3, -2, -1}));
  EXPECT_EQ(data[1], (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(data[2][0], 3);
  EXPECT_EQ(data[2][1], 5);
  EXPECT_TRUE(data[2][2] != data[2][2]);
  for (const double x : data[3]) EXPECT_TRUE(x != x);
}

TEST(SimulatedSortOrderTest, NanInAnOrderThatCannotPlaceItIsAnErrorOnEveryRank) {
  Input data = {{3, 1}, {2, std::numeric_limits<double>::quiet_NaN()}, {5, 0}};
  const Input before = data;
  SimulationOptions cluster;
  cluster.ranks = 3;
  int errors = 0;
  simulate(cluster, [&](Comm comm) -> Task<> {
    try {
      co_await async_sort(comm, data[static_cast<std::size_t>(comm.rank())], std::greater<double>());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("NaN"), std::string::npos);
      ++errors;
    }
  });
  EXPECT_EQ(errors, 3);
  EXPECT_EQ(data[0], before[0]);
}

TEST(SimulatedSortOrderTest, AnyOrderWorks) {
  std::mt19937 random(9);
  check_sort(make_input(Kind::random, 9, 11, random), cluster_with(2), {}, std::greater<double>());
}

TEST(SimulatedSortOrderTest, ElementsOfManyBytesTravelWhole) {
  struct Particle {
    std::uint64_t key;
    double payload[11];
  };
  constexpr int p = 6;
  std::vector<std::vector<Particle>> data(p);
  for (int i = 0; i < 60; ++i) {
    const auto key = static_cast<std::uint64_t>((i * 37) % 60);
    Particle particle{key, {}};
    for (double& x : particle.payload) x = static_cast<double>(key) / 3;
    data[static_cast<std::size_t>(i % p)].push_back(particle);
  }
  SimulationOptions cluster;
  cluster.ranks = p;
  simulate(cluster, [&](Comm comm) -> Task<> {
    co_await async_sort(comm, data[static_cast<std::size_t>(comm.rank())],
                        [](const Particle& a, const Particle& b) { return a.key < b.key; });
  });
  std::uint64_t next = 0;
  for (const auto& part : data) {
    for (const Particle& particle : part) {
      EXPECT_EQ(particle.key, next++);
      for (const double x : particle.payload) EXPECT_EQ(x, static_cast<double>(particle.key) / 3);
    }
  }
}

TEST(SimulatedSortOrderTest, TwoSortsOnOneCommunicatorRunAtOnce) {
  std::mt19937 random(4);
  for (int seed = 0; seed < std::max(1, test::seeds() / 10); ++seed) {
    SimulationOptions cluster = cluster_with(seed);
    cluster.ranks = 7;
    Input first = make_input(Kind::random, 7, 9, random);
    Input second = make_input(Kind::few_values, 7, 9, random);
    simulate(cluster, [&](Comm comm) -> Task<> {
      const auto rank = static_cast<std::size_t>(comm.rank());
      Request one = isort(comm, first[rank]);
      Request two = isort(comm, second[rank], Ascending{}, {}, 3);
      co_await two;
      co_await one;
    });
    for (const Input& data : {first, second}) {
      std::vector<double> all;
      for (const auto& part : data) all.insert(all.end(), part.begin(), part.end());
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    }
  }
}

}  // namespace
}  // namespace wisp
