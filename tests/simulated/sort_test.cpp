#include "wisp/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <tuple>
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

enum class Way { janus_greedy, janus_deterministic, rquick, merge, chosen };

SortOptions options_by(Way way, int seed) {
  if (way == Way::merge) return {.algorithm = "merge"};
  if (way == Way::rquick) return {.algorithm = "rquick", .seed = static_cast<std::uint64_t>(seed)};
  SortOptions options = options_with(way == Way::janus_deterministic ? SortOptions::Assignment::deterministic
                                                                     : SortOptions::Assignment::greedy,
                                     seed);
  if (way != Way::chosen) options.algorithm = "janus";
  return options;
}

class SimulatedSortTest : public testing::TestWithParam<Way> {};

TEST_P(SimulatedSortTest, AllRankCountsAllInputsUnderRandomDelays) {
  std::mt19937 random(1);
  const int rounds = std::max(1, test::seeds() / 10);
  for (int p = 1; p <= 33; ++p) {
    for (const Kind kind : kinds) {
      for (int seed = 0; seed < rounds; ++seed) {
        const int per_rank = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 3 : 20;
        check_sort(make_input(kind, p, per_rank, random), cluster_with(seed), options_by(GetParam(), seed));
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
      check_sort(input, cluster_with(elements % 4), options_by(GetParam(), elements));
    }
  }
}

TEST_P(SimulatedSortTest, ThousandsOfRanks) {
  std::mt19937 random(2);
  for (const Kind kind : {Kind::random, Kind::equal}) {
    const int ranks = GetParam() == Way::merge ? 521 : 2053;  // each has samples for each
    check_sort(make_input(kind, ranks, 5, random), cluster_with(0), options_by(GetParam(), 1));
  }
}

std::string name_of(const testing::TestParamInfo<Way>& of) {
  if (of.param == Way::merge) return "Merge";
  if (of.param == Way::rquick) return "HypercubeQuicksort";
  if (of.param == Way::chosen) return "Chosen";
  return of.param == Way::janus_greedy ? "JanusGreedy" : "JanusDeterministic";
}
INSTANTIATE_TEST_SUITE_P(Ways, SimulatedSortTest,
                         testing::Values(Way::janus_greedy, Way::janus_deterministic, Way::rquick, Way::merge,
                                         Way::chosen),
                         name_of);

/// Many elements a rank: the splitters take several rounds.
TEST(SimulatedSortOrderTest, WhatAscendsAlreadyStays) {
  std::mt19937 random(11);
  for (int p = 1; p <= 33; ++p) {
    for (const Kind kind : {Kind::sorted, Kind::equal}) {
      const Input input = make_input(kind, p, 7, random);
      const SimulationReport report = check_sort(input, cluster_with(p % 4), {});
      EXPECT_EQ(report.messages, 2 * static_cast<std::uint64_t>(p - 1)) << "more than a census, p = " << p;
    }
    Input uneven(static_cast<std::size_t>(p));
    double next = 0;
    for (auto& part : uneven) part.resize(random() % 3 == 0 ? 0 : random() % 9);
    for (auto& part : uneven)
      std::ranges::generate(part, [&] { return next += static_cast<double>(random() % 2); });
    check_sort(uneven, cluster_with(p % 4), {});
    // One element too small for its place, often the first of a rank.
    for (auto& part : uneven) {
      if (part.empty() || random() % 4 != 0) continue;
      part[random() % 2 == 0 ? 0 : random() % part.size()] -= 5;
      check_sort(uneven, cluster_with(p % 4), {});
    }
    ASSERT_FALSE(HasFailure()) << "p = " << p;
  }
}

TEST(MergeSortTest, BordersAreFoundInFewRounds) {
  std::mt19937 random(3);
  for (const Kind kind : kinds) {
    for (const int p : {2, 3, 5, 16}) {
      const SimulationReport report =
          check_sort(make_input(kind, p, 20000, random), cluster_with(0), {.algorithm = "merge"});
      EXPECT_LE(report.rounds, 60) << static_cast<int>(kind) << " " << p;
      ASSERT_FALSE(HasFailure()) << "kind " << static_cast<int>(kind) << ", " << p << " ranks";
    }
  }
}

TEST(MergeSortTest, ABorderIsBetweenTheSamplesThatTheBracketNames) {
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t ranks = 1 + random() % 5;
    const detail::Slot most = 2 + random() % 6;
    std::vector<detail::OpenRange> ranges(ranks);
    std::vector<std::vector<int>> sorted(ranks);
    std::vector<std::tuple<int, int, detail::Slot>> all;
    std::vector<int> samples;
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t i = random() % 30; i > 0; --i) sorted[r].push_back(static_cast<int>(random() % 9));
      std::sort(sorted[r].begin(), sorted[r].end());
      const detail::Slot first = random() % (sorted[r].size() + 1);
      ranges[r] = {first, first + random() % (sorted[r].size() + 1 - first)};
      for (detail::Slot i = ranges[r].first; i < ranges[r].last; ++i) {
        all.emplace_back(sorted[r][i], static_cast<int>(r), i);
      }
      for (detail::Slot i = 0; i < ranges[r].samples(most); ++i)
        samples.push_back(sorted[r][ranges[r].sample(i, most)]);
    }
    std::sort(all.begin(), all.end());
    for (detail::Slot before = 0; before <= all.size(); ++before) {
      const auto bracket = detail::find_bracket<int>(ranges, samples, most, before, Ascending{});
      const auto index = [&](const detail::PlacedKey<int>& of) {
        const auto found = std::lower_bound(all.begin(), all.end(), std::tuple(of.key, of.run, of.place));
        return static_cast<detail::Slot>(found - all.begin());
      };
      EXPECT_TRUE(!bracket.lower || index(*bracket.lower) <= before);
      const detail::Slot upper = bracket.upper ? index(*bracket.upper) : all.size();
      EXPECT_GE(upper, before);
      EXPECT_TRUE(!bracket.is_exact || upper == before);
      const bool are_all_samples =
          std::ranges::all_of(ranges, [&](const auto& range) { return range.size() <= most; });
      EXPECT_TRUE(bracket.is_exact || !are_all_samples);
      ASSERT_FALSE(HasFailure()) << "round " << round << ", " << before << " before";
    }
  }
}

template <class T>
void check_local_sort(std::mt19937& random) {
  for (const std::size_t count : {0u, 1u, 127u, 128u, 1000u, 20000u}) {
    std::vector<T> data(count);
    for (T& x : data) x = static_cast<T>(random()) / static_cast<T>(3);
    for (std::size_t i = 0; i < count; i += 7) data[i] = static_cast<T>(0);
    if constexpr (std::is_floating_point_v<T>) {
      for (std::size_t i = 3; i < count; i += 11) data[i] = -std::numeric_limits<T>::infinity();
      for (std::size_t i = 5; i < count; i += 13) data[i] = std::numeric_limits<T>::infinity();
      for (std::size_t i = 6; i < count; i += 5) data[i] = -data[i];
    }
    std::vector<T> ascending = data, descending = data;
    std::sort(ascending.begin(), ascending.end());
    std::sort(descending.begin(), descending.end(), std::greater<T>());
    std::vector<T> result = data;
    detail::local_sort<T>(result, Ascending{});
    EXPECT_EQ(result, ascending);
    result = data;
    detail::local_sort<T>(result, std::greater<>());
    EXPECT_EQ(result, descending);
  }
}

TEST(LocalSortTest, NumbersOfAllKinds) {
  std::mt19937 random(5);
  check_local_sort<std::int32_t>(random);
  check_local_sort<std::uint32_t>(random);
  check_local_sort<std::int64_t>(random);
  check_local_sort<unsigned long long>(random);
  check_local_sort<short>(random);
  check_local_sort<float>(random);
  check_local_sort<double>(random);
  std::vector<double> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = i % 3 == 0   ? std::numeric_limits<double>::quiet_NaN()
              : i % 5 == 0 ? -0.0
                           : 500.0 - static_cast<double>(i);
  detail::local_sort<double>(data, Ascending{});
  EXPECT_TRUE(std::is_sorted(data.begin(), data.end(), Ascending{}));
  EXPECT_EQ(std::ranges::count_if(data, [](double x) { return x != x; }), 334);
}

TEST(SimulatedSortOrderTest, AnAlgorithmThatThereIsNotIsAnError) {
  Input data = {{3, 1}, {2}};
  SimulationOptions cluster;
  cluster.ranks = 2;
  int errors = 0;
  simulate(cluster, [&](Comm comm) -> Task<> {
    try {
      co_await async_sort(comm, data[static_cast<std::size_t>(comm.rank())], Ascending{},
                          {.algorithm = "quick"});
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "wisp::sort: algorithm = quick is not one of janus, rquick, merge");
      ++errors;
    }
  });
  EXPECT_EQ(errors, 2);
}

template <class T>
void check_nan_comes_last() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<std::vector<T>> data = {{3, nan, 1}, {nan, nan, 2}, {5, 0, nan}, {-1, -2, -3}};
  SimulationOptions cluster;
  cluster.ranks = 4;
  simulate(cluster, [&](Comm comm) -> Task<> {
    co_await async_sort(comm, data[static_cast<std::size_t>(comm.rank())]);
  });
  EXPECT_EQ(data[0], (std::vector<T>{-3, -2, -1}));
  EXPECT_EQ(data[1], (std::vector<T>{0, 1, 2}));
  EXPECT_EQ(data[2][0], 3);
  EXPECT_EQ(data[2][1], 5);
  EXPECT_TRUE(data[2][2] != data[2][2]);
  for (const T x : data[3]) EXPECT_TRUE(x != x);
}

TEST(SimulatedSortOrderTest, NanComesLastInTheDefaultOrder) {
  check_nan_comes_last<float>();
  check_nan_comes_last<double>();
  check_nan_comes_last<long double>();
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
    const auto all_of = [](const Input& data) {
      std::vector<double> all;
      for (const auto& part : data) all.insert(all.end(), part.begin(), part.end());
      return all;
    };
    std::vector<double> sorted_first = all_of(first), sorted_second = all_of(second);
    std::ranges::sort(sorted_first);
    std::ranges::sort(sorted_second);
    simulate(cluster, [&](Comm comm) -> Task<> {
      const auto rank = static_cast<std::size_t>(comm.rank());
      Request one = isort(comm, first[rank]);
      Request two = isort(comm, second[rank], Ascending{}, {}, 3);
      co_await two;
      co_await one;
    });
    EXPECT_EQ(all_of(first), sorted_first);
    EXPECT_EQ(all_of(second), sorted_second);
  }
}

}  // namespace
}  // namespace wisp
