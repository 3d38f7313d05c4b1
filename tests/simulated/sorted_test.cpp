#include "wisp/sorted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "effort.hpp"
#include "wisp/collectives.hpp"
#include "wisp/exchange.hpp"
#include "wisp/select.hpp"
#include "wisp/simulate.hpp"

// Random distributions, few and many values, against the C++ standard library's algorithms on all elements.

namespace wisp {
namespace {

struct Element {
  int key;
  int place;  ///< in the whole input

  bool operator==(const Element&) const = default;
};
/// One type for all: each takes a compiler long.
using ElementOrder = std::function<bool(const Element&, const Element&)>;
const ElementOrder key_less = [](const Element& a, const Element& b) { return a.key < b.key; };

template <class T>
using Parts = std::vector<std::vector<T>>;

template <class T>
std::vector<T> joined(const Parts<T>& parts) {
  std::vector<T> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

template <class T>
void expect_balanced(const Parts<T>& parts) {
  const std::size_t n = joined(parts).size();
  for (std::size_t r = 0; r < parts.size(); ++r)
    EXPECT_EQ(parts[r].size(), n / parts.size() + (r < n % parts.size() ? 1 : 0)) << "rank " << r;
}

class RandomParts {
 public:
  explicit RandomParts(unsigned seed) : random(seed), ranks(seed % 33 + 1) {}

  Parts<Element> elements(bool sorted = false) {
    Parts<Element> parts(ranks);
    std::vector<Element> all(size());
    const int values = random() % 3 == 0 ? 1 + static_cast<int>(random() % 4) : 1000000;
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {static_cast<int>(random()) % values, static_cast<int>(i)};
    if (sorted) std::stable_sort(all.begin(), all.end(), key_less);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].place = static_cast<int>(i);
    std::vector<std::size_t> cuts{0, all.size()};
    for (std::size_t r = 1; r < ranks; ++r) cuts.push_back(random() % (all.size() + 1));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t r = 0; r < ranks; ++r)
      parts[r].assign(all.begin() + static_cast<std::ptrdiff_t>(cuts[r]),
                      all.begin() + static_cast<std::ptrdiff_t>(cuts[r + 1]));
    return parts;
  }
  std::size_t size() {
    switch (random() % 4) {
      case 0:
        return random() % 3;
      case 1:
        return random() % (2 * ranks + 1);
      case 2:
        return random() % 300;
      default:
        return random() % 6000;
    }
  }
  SimulationOptions cluster() {
    SimulationOptions options;
    options.ranks = static_cast<int>(ranks);
    options.jitter = random() % 2 == 0 ? 0 : 20e-6;
    options.seed = random();
    options.rendezvous = random() % 3 == 0;
    options.shares_cores = random() % 2 == 0;
    return options;
  }

  std::mt19937 random;
  std::size_t ranks;
};

/// Every rank runs `body(comm, rank)`.
template <class Body>
void on_all(RandomParts& given, Body body) {
  simulate(given.cluster(),
           [&](Comm comm) -> Task<> { co_await body(comm, static_cast<std::size_t>(comm.rank())); });
}

template <class Check>
void for_seeds(Check check) {
  const unsigned seeds = static_cast<unsigned>(std::max(33, 10 * test::seeds()));
  for (unsigned seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(seed);
  }
}

TEST(SortedTest, AStableSortKeepsTheOrderOfEqualElements) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    Parts<Element> parts = given.elements();
    std::vector<Element> expected = joined(parts);
    std::stable_sort(expected.begin(), expected.end(), key_less);
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      return async_sort(comm, parts[r], key_less, {.stable = true});
    });
    EXPECT_EQ(joined(parts), expected);
    expect_balanced(parts);
  });
}

TEST(SortedTest, LargeElementsMoveOnce) {
  struct Large {
    int key;
    int place;
    double payload[20];
  };
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    const Parts<Element> small = given.elements();
    Parts<Large> parts(small.size());
    for (std::size_t r = 0; r < small.size(); ++r)
      for (const Element& e : small[r]) {
        parts[r].push_back({e.key, e.place, {}});
        parts[r].back().payload[19] = e.key + 0.5;
      }
    const bool stable = seed % 2 == 0;
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      return async_sort(comm, parts[r], [](const Large& a, const Large& b) { return a.key < b.key; },
                        {.stable = stable});
    });
    expect_balanced(parts);
    const std::vector<Large> all = joined(parts);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].payload[19], all[i].key + 0.5);
      if (i == 0) continue;
      EXPECT_LE(all[i - 1].key, all[i].key);
      EXPECT_TRUE(!stable || all[i - 1].key < all[i].key || all[i - 1].place < all[i].place);
    }
  });
}

TEST(SortedTest, ValuesFollowTheirKeys) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    const Parts<Element> parts = given.elements();
    Parts<int> keys(parts.size()), values(parts.size());
    for (std::size_t r = 0; r < parts.size(); ++r)
      for (const Element& e : parts[r]) {
        keys[r].push_back(e.key);
        values[r].push_back(e.place);
      }
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      return async_sort_by_key(comm, keys[r], values[r], Ascending{}, {.stable = true});
    });
    std::vector<Element> expected = joined(parts);
    std::stable_sort(expected.begin(), expected.end(), key_less);
    const std::vector<int> all_keys = joined(keys), all_values = joined(values);
    ASSERT_EQ(all_keys.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ((Element{all_keys[i], all_values[i]}), expected[i]);
    expect_balanced(keys);
  });
}

TEST(SortedTest, ArgsortIsThePermutationOfAStableSort) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    const Parts<Element> parts = given.elements();
    Parts<std::uint64_t> places(parts.size());
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      places[r] = co_await async_argsort(comm, std::span<const Element>(parts[r]), key_less);
    });
    std::vector<Element> expected = joined(parts);
    std::stable_sort(expected.begin(), expected.end(), key_less);
    std::vector<std::uint64_t> order;
    for (const Element& e : expected) order.push_back(static_cast<std::uint64_t>(e.place));
    EXPECT_EQ(joined(places), order);
    expect_balanced(places);
  });
}

TEST(SortedTest, AMergeIsThatOfTheStandardLibrary) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    Parts<Element> a = given.elements(true);
    Parts<Element> b = given.elements(true);
    for (auto& part : b)
      for (Element& e : part) e.place += 1000000;
    std::vector<Element> expected;
    const std::vector<Element> all_a = joined(a), all_b = joined(b);
    std::merge(all_a.begin(), all_a.end(), all_b.begin(), all_b.end(), std::back_inserter(expected),
               key_less);
    Parts<Element> merged(a.size());
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      merged[r] = co_await async_merge(comm, std::span<const Element>(a[r]), std::span<const Element>(b[r]),
                                       key_less);
    });
    EXPECT_EQ(joined(merged), expected);
    expect_balanced(merged);
  });
}

TEST(SortedTest, UniqueKeepsTheFirstOfEqualOnes) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    Parts<Element> parts = given.elements(seed % 2 == 0);
    std::vector<Element> expected = joined(parts);
    const auto equal = [](const Element& x, const Element& y) { return x.key == y.key; };
    expected.erase(std::unique(expected.begin(), expected.end(), equal), expected.end());
    on_all(given,
           [&](const Comm& comm, std::size_t r) -> Task<> { return async_unique(comm, parts[r], equal); });
    EXPECT_EQ(joined(parts), expected);
  });
}

TEST(SortedTest, BoundsOfAnyValues) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    const Parts<Element> parts = given.elements(true);
    const std::vector<Element> all = joined(parts);
    Parts<Element> values(parts.size());
    for (auto& part : values)
      for (std::size_t i = given.random() % 20; i > 0; --i)
        part.push_back(all.empty() || i % 3 == 0 ? Element{static_cast<int>(given.random()) % 2000000, 0}
                                                 : all[given.random() % all.size()]);
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      for (const Bound bound : {Bound::lower, Bound::upper}) {
        const auto places = co_await async_bound(comm, std::span<const Element>(parts[r]),
                                                 std::span<const Element>(values[r]), bound, key_less);
        EXPECT_EQ(places.size(), values[r].size());
        for (std::size_t i = 0; i < places.size(); ++i) {
          const auto expected = bound == Bound::lower
                                    ? std::lower_bound(all.begin(), all.end(), values[r][i], key_less)
                                    : std::upper_bound(all.begin(), all.end(), values[r][i], key_less);
          EXPECT_EQ(places[i], static_cast<std::uint64_t>(expected - all.begin()));
        }
      }
    });
  });
}

TEST(SortedTest, RebalancingKeepsTheOrder) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    Parts<Element> parts = given.elements();
    const std::vector<Element> expected = joined(parts);
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> { return async_rebalance(comm, parts[r]); });
    EXPECT_EQ(joined(parts), expected);
    expect_balanced(parts);

    // Of numbers whose sums depend on who makes them.
    const auto weight = [](const Element& e) { return e.place % 7 == 0 ? 50 : 0.1 * (e.place % 3); };
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      return async_rebalance(comm, parts[r], weight);
    });
    EXPECT_EQ(joined(parts), expected);
    double total = 0;
    for (const Element& e : expected) total += weight(e);
    for (const auto& part : parts) {
      double sum = 0;
      for (const Element& e : part) sum += weight(e);
      EXPECT_LE(sum, total / static_cast<double>(parts.size()) + 50 + 1e-6) << total;
    }
  });
}

TEST(SelectTest, TheElementAtEachPlace) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    const Parts<Element> parts = given.elements();
    std::vector<Element> expected = joined(parts);
    if (expected.empty()) return;
    std::sort(expected.begin(), expected.end(), key_less);
    for (const std::size_t n :
         {std::size_t{0}, expected.size() / 2, given.random() % expected.size(), expected.size() - 1}) {
      on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
        const Element found =
            co_await async_nth_element(comm, std::span<const Element>(parts[r]), n, key_less);
        EXPECT_EQ(found.key, expected[n].key);
      });
    }
  });
}

TEST(SelectTest, TheLargestOnEveryRank) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    Parts<int> parts;
    for (const auto& part : given.elements()) {
      parts.emplace_back();
      for (const Element& e : part) parts.back().push_back(e.key);
    }
    std::vector<int> expected = joined(parts);
    std::sort(expected.begin(), expected.end(), std::greater<>());
    for (const std::size_t k :
         {std::size_t{0}, std::size_t{1}, given.random() % 100, expected.size(), expected.size() + 5}) {
      on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
        const std::vector<int> top = co_await async_top_k(comm, std::span<const int>(parts[r]), k);
        const std::size_t count = std::min(k, expected.size());
        EXPECT_EQ(top,
                  std::vector<int>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count)));
      });
    }
  });
}

/// An order that throws on one rank after some comparisons: all ranks come to the end, that one with the
/// exception.
TEST(SortedTest, AnOrderThatThrowsLeavesNobodyWaiting) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    Parts<Element> parts = given.elements();
    const auto by_place = [](std::vector<Element> all) {
      std::sort(all.begin(), all.end(), [](const Element& a, const Element& b) { return a.place < b.place; });
      return all;
    };
    const std::vector<Element> elements = by_place(joined(parts));
    if (elements.size() < 50) return;
    const std::size_t faulty = seed % parts.size();
    int left = 1 + static_cast<int>(given.random() % 100);
    int thrown = 0;
    const char* algorithms[] = {"", "merge", "janus", "rquick"};
    on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
      const ElementOrder less = [&left, is_faulty = r == faulty](const Element& a, const Element& b) {
        if (is_faulty && --left == 0) throw std::logic_error("no order");
        return a.key < b.key;
      };
      SortOptions options;
      options.algorithm = algorithms[seed % 4];
      if (seed % 8 == 2) options.assignment = SortOptions::Assignment::deterministic;
      try {
        co_await async_sort(comm, parts[r], less, options);
      } catch (const std::logic_error& error) {
        EXPECT_STREQ(error.what(), "no order");
        EXPECT_EQ(r, faulty);
        ++thrown;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("no strict weak order"), std::string::npos);
      }
    });
    EXPECT_EQ(thrown, left <= 0 ? 1 : 0);
    EXPECT_EQ(by_place(joined(parts)), elements);
  });
}

TEST(SelectTest, AnOrderThatThrowsLeavesNobodyWaiting) {
  for_seeds([](unsigned seed) {
    RandomParts given(seed);
    const Parts<Element> parts = given.elements();
    const std::size_t elements = joined(parts).size();
    const std::size_t faulty = seed % parts.size();
    if (elements < 2 || parts[faulty].size() < 2) return;
    for (const bool is_nth : {true, false}) {
      int left = 1 + static_cast<int>(given.random() % (2 * parts[faulty].size()));
      int thrown = 0;
      int ended = 0;
      on_all(given, [&](const Comm& comm, std::size_t r) -> Task<> {
        const ElementOrder less = [&left, is_faulty = r == faulty](const Element& a, const Element& b) {
          if (is_faulty && --left == 0) throw std::logic_error("no order");
          return a.key < b.key;
        };
        const std::span<const Element> part = parts[r];
        try {
          if (is_nth) {
            co_await async_nth_element(comm, part, elements / 2, less);
          } else {
            co_await async_top_k(comm, part, elements / 2, less);
          }
          ++ended;
        } catch (const std::logic_error&) {
          EXPECT_EQ(r, faulty);
          ++thrown;
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("has thrown an exception on 1 ranks"), std::string::npos);
          ++ended;
        }
      });
      EXPECT_EQ(thrown, left <= 0 ? 1 : 0);
      EXPECT_EQ(thrown + ended, static_cast<int>(parts.size()));
    }
  });
}

TEST(SortedTest, KeysAndValuesOfASortThatFailsAreStillThere) {
  SimulationOptions cluster;
  cluster.ranks = 3;
  for (const bool is_misnamed : {true, false}) {
    Parts<int> all(3);
    simulate(cluster, [&](Comm comm) -> Task<> {
      std::vector<int> keys(50);
      std::iota(keys.begin(), keys.end(), 50 * comm.rank());
      std::vector<int> values = keys;
      int left = 20;
      const auto less = [&](int a, int b) {
        if (!is_misnamed && comm.rank() == 1 && --left == 0) throw std::logic_error("no order");
        return a > b;
      };
      try {
        co_await async_sort_by_key(comm, keys, values, less,
                                   {.algorithm = is_misnamed ? "quickest" : "janus"});
      } catch (const std::exception&) {
        // what it says is tested elsewhere
      }
      EXPECT_EQ(keys, values);
      all[static_cast<std::size_t>(comm.rank())] = keys;
    });
    std::vector<int> keys = joined(all);
    std::sort(keys.begin(), keys.end());
    std::vector<int> expected(150);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(keys, expected) << is_misnamed;
  }
}

TEST(SortedTest, BoundsAndWeightsThatThrowLeaveNobodyWaiting) {
  SimulationOptions cluster;
  cluster.ranks = 5;
  for (int last = 1; last < 12; ++last) {
    int thrown = 0;
    int errors = 0;
    simulate(cluster, [&](Comm comm) -> Task<> {
      std::vector<int> part(5);
      std::iota(part.begin(), part.end(), 5 * comm.rank());
      const std::vector<int> values = {3, 12, 21, 30};
      int left = comm.rank() == 2 ? last : 1000;
      const auto less = [&left](int a, int b) {
        if (--left == 0) throw std::logic_error("no order");
        return a < b;
      };
      try {
        co_await async_bound<int>(comm, part, values, Bound::lower, less);
      } catch (const std::logic_error&) {
        ++thrown;
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "wisp::lower_bound: the order has thrown an exception on 1 ranks");
        ++errors;
      }
      left = comm.rank() == 2 ? 3 : 1000;
      const auto weight = [&left](int) {
        if (--left == 0) throw std::logic_error("no weight");
        return 1.0;
      };
      try {
        co_await async_rebalance(comm, part, weight);
      } catch (const std::logic_error&) {
        ++thrown;
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "wisp::rebalance: 1 ranks have weights that are negative, no number, or "
                     "cannot be computed");
        ++errors;
      }
    });
    EXPECT_EQ(thrown, 2) << last;
    EXPECT_EQ(errors, 8) << last;
  }
}

TEST(SelectTest, AnOrderThatIsNoneSelectsNoMoreThanIsAskedFor) {
  SimulationOptions cluster;
  cluster.ranks = 4;
  int errors = 0;
  simulate(cluster, [&](Comm comm) -> Task<> {
    const std::vector<int> equal(20, 7);
    try {
      co_await async_top_k<int>(comm, equal, 5, [](int a, int b) noexcept { return a <= b; });
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("wisp::top_k: the order is no strict weak order"),
                std::string::npos);
      ++errors;
    }
  });
  EXPECT_EQ(errors, 4);
}

/// Rank 1 waits for what comes to it from any source, while others go on to an exchange with the same tag.
Task<> rebalance_and_exchange(Comm comm, std::optional<int> tag, int between) {
  const int me = comm.rank();
  std::vector<long> data(me == 0 ? 40000 : me == 2 ? 80000 : 0, 100 + me);
  const std::vector<long> large(20000, 7);
  if (me == 2) simulated_work(comm, 1);
  co_await async_rebalance(comm, data, tag);
  for (int i = 0; i < between; ++i) {
    const std::vector<int> none(3);
    int nothing = 0;
    co_await scatterv(comm, {large, none}, {&nothing, 0, MPI_LONG}, 0, {.algorithm = "direct"});
  }
  std::vector<Outgoing> messages;
  if (me == 0) messages.push_back({1, large});
  Arrivals arrivals;
  co_await exchange(comm, messages, arrivals, {.own_tag = tag, .algorithm = "grid"});
  EXPECT_EQ(data, std::vector<long>(40000, me == 0 ? 100 : 102)) << between;
  EXPECT_EQ(arrivals.size(), me == 1 ? 1U : 0U) << between;
}

TEST(SortedTest, WhoIsBehindInARebalanceTakesNoMessageOfALaterOperationWithItsTag) {
  SimulationOptions cluster;
  cluster.ranks = 3;
  simulate(cluster, [](Comm comm) { return rebalance_and_exchange(comm, 5, 0); });
  simulate(cluster, [](Comm comm) { return rebalance_and_exchange(comm.raw(), 5, 0); });
}

TEST(SortedTest, WhoIsBehindInARebalanceTakesNoMessageOfALaterOperationWithItsNumber) {
  SimulationOptions cluster;
  cluster.ranks = 3;
  cluster.tag_upper_bound = 32767;  // few numbers: they come back soon
  for (int between = 0; between < 70; ++between) {
    simulate(cluster, [&](Comm comm) { return rebalance_and_exchange(comm, {}, between); });
  }
}

template <class Body>
void expect_error(const std::string& sentence, Body body) {
  SimulationOptions cluster;
  cluster.ranks = 3;
  int errors = 0;
  simulate(cluster, [&](Comm comm) -> Task<> {
    try {
      co_await body(comm, static_cast<std::size_t>(comm.rank()));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(sentence), std::string::npos) << error.what();
      ++errors;
    }
  });
  EXPECT_EQ(errors, 3) << sentence;
}

TEST(SortedTest, WrongInputIsAnErrorOnEveryRank) {
  Parts<int> keys = {{1, 2}, {3}, {}};
  Parts<int> values = {{1, 2}, {3, 4}, {}};
  expect_error("1 ranks have other numbers of keys and values",
               [&](const Comm& comm, std::size_t r) { return async_sort_by_key(comm, keys[r], values[r]); });
  const Parts<int> unsorted = {{1, 2}, {3, 2}, {}};
  expect_error("on 1 ranks what should be merged is not sorted",
               [&](const Comm& comm, std::size_t r) -> Task<> {
                 co_await async_merge(comm, std::span<const int>(unsorted[r]), std::span<const int>(keys[r]));
               });
  // Whose order throws gets what it threw, though another rank's part is wrong.
  int own = 0;
  expect_error("is not sorted", [&](const Comm& comm, std::size_t r) -> Task<> {
    const auto less = [r](int a, int b) {
      if (r == 0) throw std::logic_error("no order");
      return a < b;
    };
    try {
      co_await async_merge(comm, std::span<const int>(unsorted[r]), std::span<const int>(keys[r]), less);
    } catch (const std::logic_error&) {
      ++own;
      throw Error(MPI_ERR_OTHER, "is not sorted");
    }
  });
  EXPECT_EQ(own, 1);
  expect_error("n = 4 is no place among the 4 elements", [&](const Comm& comm, std::size_t r) -> Task<> {
    co_await async_nth_element(comm, std::span<const int>(unsorted[r]), 4);
  });
  expect_error("the ranks give from 0 to 2", [&](const Comm& comm, std::size_t r) -> Task<> {
    co_await async_nth_element(comm, std::span<const int>(unsorted[r]), r);
  });
  expect_error("the ranks give from 1 to 5", [&](const Comm& comm, std::size_t r) -> Task<> {
    co_await async_top_k(comm, std::span<const int>(unsorted[r]), r == 1 ? 5 : 1);
  });
  expect_error("weights that are negative", [&](const Comm& comm, std::size_t r) {
    return async_rebalance(comm, values[r], [](int x) { return 3.5 - x; });
  });
  // Of a sequence that ascends already, too; what the algorithm does not look at may differ.
  for (const char* named : {"", "merge"}) {
    expect_error("options differ between ranks (algorithm", [&](const Comm& comm, std::size_t r) {
      return async_sort(comm, keys[r], Ascending{}, {.algorithm = r == 1 ? "janus" : named});
    });
  }
  expect_error("wisp::sort_by_key: options differ between ranks (algorithm",
               [&](const Comm& comm, std::size_t r) {
                 return async_sort_by_key(comm, keys[r], keys[r], Ascending{}, {.stable = r == 1});
               });
  expect_error("options differ between ranks (seed", [&](const Comm& comm, std::size_t r) {
    return async_sort(comm, values[r], Ascending{}, {.algorithm = "janus", .seed = r});
  });
  for (const char* named : {"merge", "rquick"}) {
    Parts<int> parts = {{5, 2}, {9}, {7, 1}};
    SimulationOptions cluster;
    cluster.ranks = 3;
    simulate(cluster, [&](Comm comm) -> Task<> {
      const auto r = static_cast<std::size_t>(comm.rank());
      co_await async_sort(comm, parts[r], Ascending{}, {.algorithm = named, .seed = r});
    });
    EXPECT_EQ(parts, (Parts<int>{{1, 2}, {5, 7}, {9}}));
  }
  expect_error("algorithm = janus is not stable", [&](const Comm& comm, std::size_t r) {
    return async_sort(comm, values[r], Ascending{}, {.algorithm = "janus", .stable = true});
  });
}

}  // namespace
}  // namespace wisp
