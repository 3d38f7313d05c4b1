// The generalized split on the simulated cluster: every algorithm, against a serial sort of all ranks.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "chains.hpp"
#include "clusters.hpp"
#include "split/exact_splitting.hpp"
#include "wisp/collectives.hpp"
#include "wisp/split.hpp"

namespace wisp {
namespace {

using test::cluster_of;
using test::error_of;

/// Who is in which place: the serial reference.
struct Expected {
  int size = 0;
  int rank = MPI_UNDEFINED;
  int left = MPI_PROC_NULL;
  int right = MPI_PROC_NULL;

  friend bool operator==(const Expected&, const Expected&) = default;
};

std::ostream& operator<<(std::ostream& to, const Expected& e) {
  return to << fmt::format("{{size {} rank {} left {} right {}}}", e.size, e.rank, e.left, e.right);
}

template <class Color, class Key>
std::vector<Expected> reference(const std::vector<std::optional<Color>>& colors,
                                const std::vector<Key>& keys) {
  std::map<Color, std::vector<int>> groups;
  for (std::size_t r = 0; r < colors.size(); ++r) {
    if (colors[r]) groups[*colors[r]].push_back(static_cast<int>(r));
  }
  std::vector<Expected> expected(colors.size());
  for (auto& [color, ranks] : groups) {
    if (!keys.empty()) {
      std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
        return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
      });
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      expected[static_cast<std::size_t>(ranks[i])] = {static_cast<int>(ranks.size()), static_cast<int>(i),
                                                      i == 0 ? MPI_PROC_NULL : ranks[i - 1],
                                                      i + 1 == ranks.size() ? MPI_PROC_NULL : ranks[i + 1]};
    }
  }
  return expected;
}

Expected place_of(const Chain& chain) {
  return {chain.size(), chain.rank(), chain.left(), chain.right()};
}

bool is_for_integers(std::string_view algorithm) {
  return algorithm == "radix";
}

std::vector<std::string_view> simulated_algorithms() {
  std::vector<std::string_view> names = split_algorithms();
  std::erase(names, "allgather-mpi");
  names.push_back("");
  return names;
}

/// Splits by the given functions of the rank, and compares; then uses the chains, to see that they work.
template <class ColorOf, class KeyOf>
void expect_split(const SimulationOptions& cluster, std::string_view algorithm, ColorOf color_of,
                  KeyOf key_of, const Order& color_order = {}, const Order& key_order = {}) {
  using Color = typename std::invoke_result_t<ColorOf, int>::value_type;
  using Key = std::invoke_result_t<KeyOf, int>;
  std::vector<std::optional<Color>> colors;
  std::vector<Key> keys;
  for (int r = 0; r < cluster.ranks; ++r) {
    colors.push_back(color_of(r));
    keys.push_back(key_of(r));
  }
  const std::vector<Expected> expected = reference(colors, keys);
  SCOPED_TRACE(fmt::format("p {} seed {} algorithm {}", cluster.ranks, cluster.seed, algorithm));
  simulate(cluster, [&](Comm comm) -> Task<> {
    const auto r = static_cast<std::size_t>(comm.rank());
    const SplitOptions options{algorithm};
    const Chain chain = co_await async_split(comm, colors[r], color_order, keys[r], key_order, options);
    EXPECT_EQ(place_of(chain), expected[r]) << "rank " << r;
    if (chain.empty()) co_return;
    int before = 0;
    int after = 0;
    const int one = 1;
    co_await double_exscan(chain, buffer_of(one), buffer_of(before), buffer_of(after), MPI_SUM);
    EXPECT_EQ(before, chain.rank());
    EXPECT_EQ(before + 1 + after, chain.size());
  });
}

template <class ColorOf, class KeyOf>
void expect_split(int p, int seed, std::string_view algorithm, ColorOf color_of, KeyOf key_of,
                  const Order& color_order = {}, const Order& key_order = {}) {
  expect_split(cluster_of(p, seed), algorithm, color_of, key_of, color_order, key_order);
}

TEST(SplitByTest, EveryAlgorithmGivesTheSameGroupsForIntegers) {
  for (int p = 1; p <= 65; ++p) {
    for (const std::string_view algorithm : simulated_algorithms()) {
      std::mt19937_64 random(static_cast<std::uint64_t>(p));
      for (int seed = 0; seed < 3; ++seed) {
        const std::int64_t groups = seed == 0 ? 1 : seed == 1 ? 4 : p;
        const bool has_undefined = seed == 2;
        std::vector<std::int64_t> colors;
        std::vector<std::int64_t> keys;
        for (int r = 0; r < p; ++r) {
          // Huge and negative ones too.
          const auto group = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(groups));
          colors.push_back((group - 1) * (std::numeric_limits<std::int64_t>::max() / (groups + 1)));
          keys.push_back(static_cast<std::int64_t>(random() >> (seed == 1 ? 62 : 0)));
        }
        expect_split(
            p, seed, algorithm,
            [&](int r) -> std::optional<std::int64_t> {
              if (has_undefined && r % 5 == 3) return std::nullopt;
              return colors[static_cast<std::size_t>(r)];
            },
            [&](int r) { return keys[static_cast<std::size_t>(r)]; });
        if (HasFailure()) return;
      }
    }
  }
}

std::string text_of(std::uint64_t number, std::size_t longest) {
  std::string text = fmt::format("{:x}", number);
  text.resize(number % (longest + 1), static_cast<char>('a' + number % 3));
  return text;
}

TEST(SplitByTest, EveryAlgorithmGivesTheSameGroupsForStringsOfAnyLength) {
  for (int p = 1; p <= 65; p += p < 20 ? 1 : 5) {
    for (const std::string_view algorithm : simulated_algorithms()) {
      if (is_for_integers(algorithm)) continue;
      std::mt19937_64 random(static_cast<std::uint64_t>(p) + 1000);
      for (int seed = 0; seed < 3; ++seed) {
        const std::uint64_t groups = seed == 0 ? 3 : static_cast<std::uint64_t>(p);
        std::vector<std::string> colors;
        std::vector<std::string> keys;
        for (int r = 0; r < p; ++r) {
          colors.push_back(text_of(random() % groups, seed == 2 ? 100 : 3));
          keys.push_back(text_of(random() % 7, 5));
        }
        expect_split(
            p, seed, algorithm,
            [&](int r) -> std::optional<std::string> {
              if (seed == 1 && r % 4 == 1) return std::nullopt;
              return colors[static_cast<std::size_t>(r)];
            },
            [&](int r) { return keys[static_cast<std::size_t>(r)]; });
        if (HasFailure()) return;
      }
    }
  }
}

TEST(SplitByTest, WithoutAColorRanksAreOrderedAndWithoutAKeyTheyStayInOrder) {
  for (const int p : {1, 2, 3, 31, 64, 65, 200}) {
    for (const std::string_view algorithm : simulated_algorithms()) {
      SCOPED_TRACE(fmt::format("p {} algorithm {}", p, algorithm));
      const SplitOptions options{algorithm};
      simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
        // Downwards by key, then by color alone, then neither.
        const int rank = comm.rank();
        const Chain turned = co_await async_split(comm, {}, {}, -rank, {}, options);
        EXPECT_EQ(place_of(turned), (Expected{p, p - 1 - rank, rank + 1 < p ? rank + 1 : MPI_PROC_NULL,
                                              rank > 0 ? rank - 1 : MPI_PROC_NULL}));
        const Chain odd = co_await async_split(turned, rank % 2, {}, {}, {}, options);
        EXPECT_EQ(odd.size(), (p + 1 - rank % 2) / 2);
        EXPECT_EQ(odd.left(), rank + 2 < p ? rank + 2 : MPI_PROC_NULL);
        EXPECT_EQ(odd.right(), rank > 1 ? rank - 2 : MPI_PROC_NULL);
        const Chain same = co_await async_split(odd, {}, {}, {}, {}, options);
        EXPECT_EQ(place_of(same), place_of(odd));
      });
      if (HasFailure()) return;
    }
  }
}

TEST(SplitByTest, ThousandsOfRanks) {
  for (const int p : {1000, 2048, 3001}) {
    for (const std::string_view algorithm : simulated_algorithms()) {
      // Every rank with all items: too much memory.
      if (p > 1000 && algorithm == "allgather") continue;
      std::mt19937_64 random(static_cast<std::uint64_t>(p));
      std::vector<int> colors;
      std::vector<int> keys;
      for (int r = 0; r < p; ++r) {
        colors.push_back(static_cast<int>(random() % 50) - 25);
        keys.push_back(static_cast<int>(random()));
      }
      expect_split(
          p, 0, algorithm, [&](int r) { return std::optional<int>(colors[static_cast<std::size_t>(r)]); },
          [&](int r) { return keys[static_cast<std::size_t>(r)]; });
      if (HasFailure()) return;
    }
  }
}

TEST(SplitByTest, RanksOfOneColorAreOrderedAsIsChosenForThem) {
  // Messages that cost next to nothing: what a rank does with all items counts.
  SimulationOptions cluster;
  cluster.latency = 1e-8;
  cluster.overhead = 1e-9;
  cluster.bandwidth = 1e13;
  for (const int p : {130, 500, 1000}) {
    cluster.ranks = p;
    cluster.seed = 0;
    simulate(cluster, [](Comm comm) -> Task<> {
      EXPECT_EQ(chosen_split(comm, {}, {}, 1), "radix");
      co_return;
    });
    const auto color_of = [](int r) { return std::optional<std::string>(r % 17 == 3 ? "few" : "most"); };
    expect_split(cluster, "hash-64", color_of, [](int r) { return r * 7919 % 101 - 50; });
    expect_split(cluster, "hash-64", color_of, [](int r) { return std::to_string(r * 7919 % 101); });
    cluster.jitter = 1e-6;
    cluster.seed = 5;
    expect_split(cluster, "hash-64", color_of, [](int r) { return r * 7919 % 101 - 50; });
    cluster.jitter = 0;
  }
}

TEST(SplitByTest, ColorsWhoseHashesAgreeAreToldApartByTheirBytes) {
  struct Hashes {
    const char* name;
    std::uint64_t (*of)(Order::Bytes);
  };
  constexpr Hashes adversaries[] = {
      {"all the same", [](Order::Bytes) -> std::uint64_t { return 42; }},
      {"length", [](Order::Bytes bytes) -> std::uint64_t { return bytes.size(); }},
      {"one bit", [](Order::Bytes bytes) -> std::uint64_t {
         return bytes.empty() ? 0 : std::to_integer<std::uint64_t>(bytes[0]) & 1;
       }}};
  for (const Hashes& hashes : adversaries) {
    for (const char* algorithm : {"hash", "hash-64"}) {
      for (const int p : {1, 2, 3, 5, 17, 64, 65, 130, 1000}) {
        SCOPED_TRACE(hashes.name);
        Order order;
        order.hash = hashes.of;
        expect_split(
            p, p % 3, algorithm,
            [&](int r) { return std::optional<std::string>(fmt::format("color {}", r * 7 % 13)); },
            [&](int r) { return std::to_string(r * 31 % 11); }, order);
        if (HasFailure()) return;
      }
    }
  }
}

static_assert(!std::is_constructible_v<Label, std::span<const int>>, "a label is not where its data lie");
static_assert(!std::is_constructible_v<Label, int*>);

struct Point {
  float x;
  char label;  // and padding behind it

  friend bool operator<(const Point& a, const Point& b) {
    return a.x < b.x || (a.x == b.x && a.label < b.label);
  }
};

TEST(SplitByTest, AnyTypeWithAnOrder) {
  const Order by_value = Order::by<Point>();
  const Order backwards = Order::by<std::string_view>(std::greater<>());
  for (const char* algorithm : {"allgather", "gather-scatter", "cheng-128", "bitonic", ""}) {
    for (const int p : {1, 5, 33, 300}) {
      const auto point_of = [](int r) {
        return Point{static_cast<float>(r % 3) / 2, static_cast<char>(r % 2)};
      };
      std::vector<std::optional<Point>> colors;
      for (int r = 0; r < p; ++r) colors.push_back(point_of(r));
      simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
        const auto r = static_cast<std::size_t>(comm.rank());
        const Label key = fmt::format("{:05}", comm.rank());
        const Chain chain = co_await async_split(comm, colors[r], by_value, key, backwards, {algorithm});
        const int mine = comm.rank() % 6;
        EXPECT_EQ(chain.size(), (p - mine + 5) / 6);
        EXPECT_EQ(chain.left(), comm.rank() + 6 < p ? comm.rank() + 6 : MPI_PROC_NULL);
        EXPECT_EQ(chain.rank(), (p - 1 - comm.rank()) / 6);
      });
    }
  }
}

TEST(SplitByTest, AnOrderDecidesWhichColorsAreOneGroup) {
  Order ignoring_case = Order::by<std::string_view>([](std::string_view a, std::string_view b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](char x, char y) { return std::tolower(x) < std::tolower(y); });
  });
  ignoring_case.hashed_by<std::string_view>([](std::string_view text) {
    std::uint64_t hash = 5;
    for (const char c : text) hash = hash * 131 + static_cast<std::uint64_t>(std::tolower(c));
    return hash;
  });
  for (const char* algorithm : {"allgather", "bitonic", "hash", "hash-64", "cheng-128"}) {
    simulate(cluster_of(100, 0), [&](Comm comm) -> Task<> {
      constexpr const char* colors[] = {"Node", "node", "NODE", "switch"};
      const Chain chain =
          co_await async_split(comm, colors[comm.rank() % 4], ignoring_case, {}, {}, {algorithm});
      EXPECT_EQ(chain.size(), comm.rank() % 4 == 3 ? 25 : 75) << algorithm;
    });
  }
}

TEST(SplitByTest, FloatingPointNumbersAreOrderedAndEqualAsNumbers) {
  const double nan = std::nan("");
  const std::vector<double> values = {1.5,  -0.0,  nan, -1e300, 0.0, -std::numeric_limits<double>::infinity(),
                                      -nan, 2e-310};
  const std::vector<int> order = {5, 3, 1, 4, 7, 0, 2, 6};
  for (const std::string_view algorithm : simulated_algorithms()) {
    if (is_for_integers(algorithm)) continue;
    simulate(cluster_of(8, 0), [&](Comm comm) -> Task<> {
      const auto r = static_cast<std::size_t>(comm.rank());
      const Chain by_key = co_await async_split(comm, {}, {}, values[r], {}, {algorithm});
      EXPECT_EQ(order[static_cast<std::size_t>(by_key.rank())], comm.rank()) << algorithm;
      const Chain by_color = co_await async_split(comm, values[r], {}, {}, {}, {algorithm});
      EXPECT_EQ(by_color.size(), values[r] == 0 || values[r] != values[r] ? 2 : 1) << algorithm;
    });
  }
}

TEST(SplitByTest, ArraysOfNumbersAreOrderedByTheFirstThatDiffers) {
  for (const std::string_view algorithm : {"bitonic", "allgather"}) {
    simulate(cluster_of(20, 0), [&](Comm comm) -> Task<> {
      const std::array<int, 2> key = {-(comm.rank() / 10), comm.rank() % 10 - 5};
      const Chain chain = co_await async_split(comm, {}, {}, key, {}, {algorithm});
      EXPECT_EQ(chain.rank(), (comm.rank() + 10) % 20);
      const int plain[] = {300 - comm.rank() / 10 * 299, comm.rank() % 10 - 5};
      const Chain same = co_await async_split(comm, {}, {}, plain, {}, {algorithm});
      EXPECT_EQ(same.rank(), (comm.rank() + 10) % 20);
    });
  }
}

TEST(SplitByTest, EveryRankLearnsItsGroupAndTheLeadersMeet) {
  for (const int p : {1, 4, 13, 100}) {
    simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
      const int rank = comm.rank();
      const std::string color = fmt::format("host {}", rank % 3);
      const GroupRank found = co_await async_group_rank(comm, color);
      EXPECT_EQ(found.groups, std::min(p, 3));
      EXPECT_EQ(found.group, rank % 3);
      EXPECT_EQ(found.rank, rank / 3);
      EXPECT_EQ(found.size, (p - rank % 3 + 2) / 3);
      const TwoLevels levels = co_await async_two_level(comm, color);
      EXPECT_EQ(levels.members.size(), found.size);
      EXPECT_EQ(levels.leaders.size(), rank < 3 ? std::min(p, 3) : 0);
      if (rank < 3) {
        EXPECT_EQ(levels.leaders.rank(), rank);
      }
      const GroupRank left_out =
          co_await async_group_rank(comm, rank % 2 == 0 ? std::optional<int>(7) : std::nullopt);
      EXPECT_EQ(left_out.groups, 1);
      EXPECT_EQ(left_out.group, rank % 2 == 0 ? 0 : -1);
    });
  }
}

TEST(SplitByTest, GroupRanksAndLevelsInFlightDoNotMeet) {
  for (int seed = 0; seed < 30; ++seed) {
    const int p = 2 + seed;
    simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
      const int rank = comm.rank();
      const Chain chain = comm;
      GroupRank found[2];
      TwoLevels levels;
      int sum = 0;
      const int one = 1;
      std::vector<Request> requests;
      const auto put = [](auto task, auto& to) -> Task<> { to = co_await std::move(task); };
      requests.push_back(chain.start(put(async_group_rank(chain, rank % 3), found[0])));
      requests.push_back(chain.start(put(async_two_level(chain, rank % 2), levels)));
      requests.push_back(chain.iallreduce(buffer_of(one), buffer_of(sum), MPI_SUM));
      requests.push_back(chain.start(put(async_group_rank(chain, -rank), found[1])));
      for (Request& request : requests) co_await request;
      EXPECT_EQ(sum, p);
      EXPECT_EQ(found[0].group, rank % 3);
      EXPECT_EQ(found[0].groups, std::min(p, 3));
      EXPECT_EQ(found[1].group, rank);
      EXPECT_EQ(levels.members.rank(), rank / 2);
      EXPECT_EQ(levels.leaders.size(), rank < 2 ? 2 : 0);
    });
    if (HasFailure()) return;
  }
}

TEST(SplitByTest, NobodyAndNothing) {
  for (const std::string_view algorithm : simulated_algorithms()) {
    for (const int p : {1, 3, 70}) {
      SCOPED_TRACE(fmt::format("{} {}", algorithm, p));
      simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
        const Chain nobody = co_await async_split(comm, std::optional<int>(), {}, {}, {}, {algorithm});
        EXPECT_TRUE(nobody.empty());
        if (algorithm == "radix") co_return;
        const Chain all = co_await async_split(comm, "", {}, "", {}, {algorithm});
        EXPECT_EQ(all.rank(), comm.rank());
        const char* text = nullptr;
        std::optional<const char*> none;
        if (comm.rank() > 0) none = "some";
        const Chain some = co_await async_split(comm, none, {}, {}, {}, {algorithm});
        EXPECT_EQ(some.size(), comm.rank() > 0 ? p - 1 : 0);
        static_cast<void>(text);
      });
      if (HasFailure()) return;
    }
  }
}

TEST(SplitByTest, WithFewTagsAsMpiGuaranteesThem) {
  SimulationOptions cluster = cluster_of(300, 0);
  cluster.tag_upper_bound = 32767;
  for (const std::string_view algorithm : simulated_algorithms()) {
    simulate(cluster, [&](Comm comm) -> Task<> {
      const Chain half = co_await async_split(comm, comm.rank() % 2, {}, -comm.rank(), {}, {algorithm});
      const Chain quarter = co_await async_split(half, half.rank() % 2, {}, -half.rank(), {}, {algorithm});
      EXPECT_EQ(quarter.size(), 75);
      EXPECT_EQ(quarter.rank(), comm.rank() / 4);
    });
    if (HasFailure()) return;
  }
}

TEST(SplitByTest, SplitsInFlightOnOneChainDoNotMeet) {
  for (int seed = 0; seed < 30; ++seed) {
    const int p = 3 + seed;
    simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
      const int rank = comm.rank();
      const std::vector<std::string_view> names = simulated_algorithms();
      const auto name = [&](int k) { return names[static_cast<std::size_t>(seed + k) % names.size()]; };
      Chain by_three;
      Chain by_five;
      Chain turned;
      Request first = isplit(comm, by_three, rank % 3, {}, {}, {}, {name(0)});
      Request second = isplit(comm, by_five, rank % 5, {}, -rank, {}, {name(1)});
      Request third = isplit(comm, turned, {}, {}, -rank, {}, {name(2)});
      co_await third;
      co_await second;
      co_await first;
      EXPECT_EQ(by_three.rank(), rank / 3);
      EXPECT_EQ(by_five.rank(), (p - 1 - rank) / 5);
      EXPECT_EQ(turned.rank(), p - 1 - rank);
    });
  }
}

TEST(SplitByTest, WrongArgumentsAreNamedBeforeAnyMessage) {
  const auto error_with = [](const Label& color, const Order& color_order, const Label& key,
                             const char* algorithm) {
    return error_of(2, [&](Comm comm) -> Task<> {
      co_await async_split(comm, color, color_order, key, {}, {algorithm});
    });
  };
  EXPECT_EQ(error_with(1, {}, {}, "quick").substr(0, 60),
            "wisp::split: algorithm = quick is none of allgather, allgath");
  EXPECT_EQ(
      error_with("a", {}, {}, "radix"),
      "wisp::split: algorithm = radix needs integers of at most 8 bytes, without an Order, as color and key");
  EXPECT_EQ(error_with("a", Order::by<std::string_view>(), {}, "hash"),
            "wisp::split: algorithm = hash needs a hash in a color_order with a compare");
  EXPECT_EQ(error_with("a", {}, {}, "allgather-mpi"),
            "wisp::split: algorithm = allgather-mpi needs MPI, which a simulated cluster has not");
  EXPECT_EQ(error_with(Point{1, 'a'}, {}, {}, ""),
            "wisp::split: the type of color has padding or bytes that do not say all: give an Order");
  Label untyped;
  untyped.leave_out();
  EXPECT_EQ(error_with(untyped, {}, {}, ""),
            "wisp::split: color is undefined, but has no type; give that of the others");
  EXPECT_EQ(error_with(1, Order::by<std::int64_t>(), {}, ""),
            "wisp::split: color has 4 bytes, but its order is of values of 8");
  EXPECT_EQ(error_with(std::optional<int>(), Order::by<std::int64_t>(), {}, ""),
            "wisp::split: color has 4 bytes, but its order is of values of 8");
  EXPECT_EQ(error_of(1,
                     [](Comm) -> Task<> {
                       Label(Label::Kind::floating_numbers, "halves", 3, 2);
                       co_return;
                     }),
            "wisp::Label: width = 2 is none of such numbers");
  static_assert(!FixedLabel<std::array<int, 0>>);
  EXPECT_EQ(error_with(1, Order({[](Order::Bytes, Order::Bytes) { return 1; }, {}}), {}, ""),
            "wisp::split: the order of color says that a label differs from itself");
  EXPECT_EQ(error_with(1, {}, std::optional<int>(), ""),
            "wisp::split: key is undefined; only a color can be");
  EXPECT_EQ(error_of(1, [](Comm) -> Task<> { co_await async_split(Chain(), 1); }),
            "wisp::split: the chain is empty");
}

TEST(SplitByTest, DifferentSizesAreAnError) {
  const std::string error = error_of(2, [](Comm comm) -> Task<> {
    Label color = 1;
    if (comm.rank() == 1) color = std::int64_t{1};
    co_await async_split(comm, color, {}, {}, {}, {"bitonic"});
  });
  EXPECT_NE(error.find("sizes must be the same on all ranks"), std::string::npos) << error;
}

/// One item with a key; the old rank tells it from others.
detail::SplitCase case_of_key(int key) {
  detail::SplitCase of;
  of.key.is_given = true;
  of.key.bytes = Label(key).ordered_bytes("test", "key");
  return of;
}

TEST(SplitByTest, WideIntegersAreNumbers) {
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  EXPECT_EQ(Label(Wide{1}).kind(), Label::Kind::signed_numbers);
  EXPECT_EQ(Label(UnsignedWide{1}).kind(), Label::Kind::unsigned_numbers);
  const auto ordered = [](Wide number) { return Label(number).ordered_bytes("test", "key"); };
  EXPECT_LT(ordered(258), ordered(513));
  EXPECT_LT(ordered(Wide{-1} << 100), ordered(-1));
  EXPECT_LT(ordered(-1), ordered(Wide{1} << 100));
}

TEST(SplitByTest, ExactSplittingLeavesEveryRankWithTheItemsWhoseTurnItIs) {
  std::mt19937 random(23);
  for (int p = 1; p <= 17; ++p) {
    for (int each = 1; each <= 9; ++each) {
      const int on_last = 1 + static_cast<int>(random() % static_cast<unsigned>(each));
      const int total = each * (p - 1) + on_last;
      std::vector<std::pair<int, int>> items;
      for (int i = 0; i < total; ++i) items.emplace_back(static_cast<int>(random() % 7), i);
      std::vector<int> order;
      simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
        const detail::SplitCase any = case_of_key(0);
        const detail::ItemLayout layout(any, 0, sizeof(int));
        const auto first = static_cast<std::size_t>(comm.rank() * each);
        const auto count = static_cast<std::size_t>(comm.rank() + 1 < p ? each : on_last);
        std::vector<std::pair<int, int>> own(&items[first], &items[first] + count);
        std::sort(own.begin(), own.end());
        detail::ItemTable table(layout, count);
        for (std::size_t i = 0; i < count; ++i) {
          const detail::SplitCase of = case_of_key(own[i].first);
          detail::ItemLayout(of, 0, sizeof(int)).write(own[i].second, table[i]);
        }
        const detail::ItemTable sorted = co_await detail::sort_exactly(comm, layout, std::move(table));
        EXPECT_EQ(sorted.size(), count);
        if (comm.rank() == 0) order.resize(static_cast<std::size_t>(total), -1);
        co_await barrier(comm);
        for (std::size_t i = 0; i < sorted.size(); ++i) order[first + i] = layout.old_rank(sorted[i]);
      });
      std::sort(items.begin(), items.end());
      for (std::size_t i = 0; i < items.size(); ++i) ASSERT_EQ(order[i], items[i].second) << p << " " << each;
    }
  }
}

std::size_t peak_of(int p, std::string_view algorithm, bool orders) {
  const SimulationReport report = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
    Label color;
    Label key;
    if (orders) {
      key = comm.rank() * 7919 % 10007;
    } else {
      color = comm.rank() % 16;
    }
    co_await async_split(comm, color, {}, key, {}, {algorithm});
  });
  std::size_t peak = 0;
  for (const auto& rank : report.ranks) peak = std::max(peak, rank.peak_bytes);
  return peak;
}

TEST(SplitByTest, MemoryOfARankDoesNotGrowWithTheNumberOfRanks) {
  for (const char* algorithm : {"hash", "radix", "bitonic"}) {
    for (const bool orders : {false, true}) {
      const std::size_t few = peak_of(64, algorithm, orders);
      const std::size_t many = peak_of(4096, algorithm, orders);
      EXPECT_LE(many, few + few / 20) << algorithm;
    }
  }
  EXPECT_GE(peak_of(512, "allgather", false), 512 * 21U);
}

TEST(SplitByTest, ABitonicSortTakesTheRoundsOfItsNetwork) {
  for (int k = 1; k <= 10; ++k) {
    const int p = 1 << k;
    const SimulationReport report = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      co_await async_split(comm, {}, {}, comm.rank() * 7919 % 10007, {}, {"bitonic"});
    });
    const int network = k * (k + 1) / 2;
    EXPECT_EQ(report.rounds, k - 1 + network + 2) << p;  // addresses, network, neighbors, result
  }
}

}  // namespace
}  // namespace wisp
