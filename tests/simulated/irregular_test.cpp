#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/ordered_tree.hpp"
#include "effort.hpp"
#include "wisp/collectives.hpp"
#include "wisp/simulate.hpp"

// gatherv and scatterv of blocks of all kinds of sizes, by every algorithm: results, messages and bytes
// against the bounds. What happens when ranks disagree is in disagreement_test.cpp.

namespace wisp {
namespace {

using test::cluster_of;

/// Blocks of ints for p ranks; those of the root's buffer lie in any order and with gaps.
struct Problem {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> displacements;
  std::vector<int> expected;  ///< of the root's buffer; -1 in the gaps

  /// `kind` 0: none, 1: all equal, 2: few, 3: any small size, 4: some large, 5: in order without gaps
  Problem(int p, int kind, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for (int rank = 0; rank < p; ++rank) {
      switch (kind) {
        case 0:
          counts.push_back(0);
          break;
        case 1:
          counts.push_back(3);
          break;
        case 2:
          counts.push_back(up_to(6) == 0 ? 1 + up_to(9) : 0);
          break;
        case 4:
          counts.push_back(up_to(3) == 0 ? 1000 + up_to(9000) : up_to(600));
          break;
        default:
          counts.push_back(up_to(20));
          break;
      }
    }
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), 0U);
    if (kind != 5) std::shuffle(order.begin(), order.end(), random);
    displacements.resize(counts.size());
    std::int64_t end = 0;
    for (const std::size_t rank : order) {
      if (kind != 5) end += up_to(2);
      displacements[rank] = end;
      end += counts[rank];
    }
    expected.assign(static_cast<std::size_t>(end), -1);
    for (int rank = 0; rank < p; ++rank) {
      const std::vector<int> block = block_of(rank);
      std::copy(block.begin(), block.end(), expected.begin() + displacements[static_cast<std::size_t>(rank)]);
    }
  }
  std::vector<int> block_of(int rank) const {
    std::vector<int> block(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
    std::iota(block.begin(), block.end(), 1000 * rank);
    return block;
  }
  std::uint64_t bytes(int rank) const {
    return sizeof(int) * static_cast<std::uint64_t>(counts[static_cast<std::size_t>(rank)]);
  }
  std::uint64_t bytes_but(int root) const {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < static_cast<int>(counts.size()); ++rank) sum += rank == root ? 0 : bytes(rank);
    return sum;
  }
};

Task<> gather_problem(Comm comm, const Problem& problem, int root, std::string_view algorithm) {
  const bool is_root = comm.rank() == root;
  std::vector<int> all(is_root ? problem.expected.size() : 0, -1);
  const std::vector<int> mine = problem.block_of(comm.rank());
  const Blocks blocks = is_root ? Blocks(all, problem.counts, problem.displacements) : Blocks();
  co_await gatherv(comm, mine, blocks, root, {.algorithm = algorithm});
  if (is_root) {
    EXPECT_EQ(all, problem.expected);
  }
}

Task<> scatter_problem(Comm comm, const Problem& problem, int root, std::string_view algorithm) {
  const ConstBlocks blocks = comm.rank() == root
                                 ? ConstBlocks(problem.expected, problem.counts, problem.displacements)
                                 : ConstBlocks();
  const std::vector<int> expected = problem.block_of(comm.rank());
  std::vector<int> mine(expected.size(), -1);
  co_await scatterv(comm, blocks, mine, root, {.algorithm = algorithm});
  EXPECT_EQ(mine, expected);
}

TEST(IrregularTest, EveryAlgorithmGathersAndScattersBlocksOfAllSizes) {
  for (int p = 1; p <= 33; ++p) {
    for (int kind = 0; kind <= 5; ++kind) {
      const Problem problem(p, kind, static_cast<std::uint64_t>(p * 6 + kind));
      for (const int root : {0, p / 2, p - 1}) {
        for (const int seed : {0, 1, 2}) {
          for (const std::string_view algorithm : algorithms_of("gatherv")) {
            SCOPED_TRACE("gatherv by " + std::string(algorithm) + ", p = " + std::to_string(p) + ", kind " +
                         std::to_string(kind) + ", root " + std::to_string(root) + ", seed " +
                         std::to_string(seed));
            simulate(cluster_of(p, seed),
                     [&](Comm comm) { return gather_problem(comm, problem, root, algorithm); });
          }
          for (const std::string_view algorithm : algorithms_of("scatterv")) {
            SCOPED_TRACE("scatterv by " + std::string(algorithm) + ", p = " + std::to_string(p) + ", kind " +
                         std::to_string(kind) + ", root " + std::to_string(root) + ", seed " +
                         std::to_string(seed));
            simulate(cluster_of(p, seed),
                     [&](Comm comm) { return scatter_problem(comm, problem, root, algorithm); });
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(IrregularTest, EveryRootOfASmallCluster) {
  for (int p = 1; p <= 9; ++p) {
    for (int root = 0; root < p; ++root) {
      const Problem problem(p, 3, static_cast<std::uint64_t>(100 * p + root));
      for (const std::string_view algorithm : algorithms_of("gatherv")) {
        simulate(cluster_of(p, 2), [&](Comm comm) { return gather_problem(comm, problem, root, algorithm); });
      }
      for (const std::string_view algorithm : algorithms_of("scatterv")) {
        simulate(cluster_of(p, 2),
                 [&](Comm comm) { return scatter_problem(comm, problem, root, algorithm); });
      }
    }
  }
}

/// Bytes that travel up the tree that fits the sizes, each edge once: computed by one process that knows them
/// all.
struct TreeTraffic {
  std::uint64_t messages = 0;  ///< with blocks
  std::uint64_t bytes = 0;

  TreeTraffic(const Problem& problem, int p, int root) {
    const detail::OrderedHypercube cubes(p, root);
    struct Gathered {
      detail::Cube cube;
      std::uint64_t bytes;
    };
    std::vector<Gathered> all;
    for (int rank = 0; rank < p; ++rank)
      all.push_back({{rank, rank}, rank == root ? 0 : problem.bytes(rank)});
    for (int d = 0; d < cubes.dimensions(); ++d) {
      std::vector<Gathered> joined;
      for (std::size_t i = 0; i < all.size(); i += 2) {
        if (i + 1 == all.size()) {
          joined.push_back(all[i]);
          continue;
        }
        const Gathered &left = all[i], &right = all[i + 1];
        const std::uint64_t moved = left.cube.contains(root)    ? right.bytes
                                    : right.cube.contains(root) ? left.bytes
                                                                : std::min(left.bytes, right.bytes);
        messages += moved > 0 ? 1 : 0;
        bytes += moved;
        joined.push_back({detail::join(left.cube, right.cube), left.bytes + right.bytes});
      }
      all = joined;
    }
  }
};

/// The paper's tree without a threshold.
Task<> gather_by_tree(Comm comm, const Problem& problem, int root) {
  const Channel channel = comm.channel("gatherv_tree", {});
  std::vector<int> all(comm.rank() == root ? problem.expected.size() : 0, -1);
  const std::vector<int> mine = problem.block_of(comm.rank());
  detail::BlockList blocks;
  if (comm.rank() == root) {
    blocks = detail::BlockList::irregular(Blocks(all, problem.counts, problem.displacements), comm.size());
  }
  co_await detail::gatherv_tree(channel, mine, blocks, root, detail::no_threshold,
                                std::make_shared<detail::OrderedMemory>());
  if (comm.rank() == root) {
    EXPECT_EQ(all, problem.expected);
  }
}
Task<> scatter_by_tree(Comm comm, const Problem& problem, int root) {
  const Channel channel = comm.channel("scatterv_tree", {});
  const std::vector<int> expected = problem.block_of(comm.rank());
  std::vector<int> mine(expected.size(), -1);
  detail::BlockList blocks;
  if (comm.rank() == root) {
    blocks = detail::BlockList::irregular(
        ConstBlocks(problem.expected, problem.counts, problem.displacements), comm.size());
  }
  co_await detail::scatterv_tree(channel, blocks, mine, root, detail::no_threshold,
                                 std::make_shared<detail::OrderedMemory>());
  EXPECT_EQ(mine, expected);
}

/// Theorem 1: at most 3 ⌈log2 p⌉ dependent messages, and linear time.
void expect_theorem_1(int p, int kind, int root) {
  SCOPED_TRACE("p = " + std::to_string(p) + ", kind " + std::to_string(kind) + ", root " +
               std::to_string(root));
  const Problem problem(p, kind, static_cast<std::uint64_t>(p + 7 * kind));
  const TreeTraffic traffic(problem, p, root);
  const int log = detail::OrderedHypercube(p, root).dimensions();
  SimulationOptions cluster = cluster_of(p, 0);
  cluster.overhead = 0;
  const auto exchanged = static_cast<std::uint64_t>(2 * (p - 1));
  for (const bool gathers : {true, false}) {
    const SimulationReport report = simulate(cluster, [&](Comm comm) {
      return gathers ? gather_by_tree(comm, problem, root) : scatter_by_tree(comm, problem, root);
    });
    // Each pair of cubes exchanges two records, and each cube tells its gather root at most once.
    EXPECT_GE(report.messages, exchanged + traffic.messages);
    EXPECT_LE(report.messages, 2 * exchanged + traffic.messages);
    const std::uint64_t records = report.messages - traffic.messages;
    EXPECT_EQ(report.bytes, traffic.bytes + records * sizeof(detail::CubeRecord));
    EXPECT_LE(report.rounds, 3 * log);
    // In the paper's model a message of m bytes takes α + βm; here α is the latency and a few bytes of a
    // record.
    const double alpha = cluster.latency + 2 * sizeof(detail::CubeRecord) / cluster.bandwidth;
    const double linear = static_cast<double>(problem.bytes_but(root)) / cluster.bandwidth;
    EXPECT_LE(report.seconds, 3 * log * alpha + 2 * linear + 1e-12);
  }
}

TEST(IrregularTest, TheTreeKeepsTheoremOne) {
  for (int p = 1; p <= 64; ++p) {
    for (const int kind : {0, 1, 2, 3, 4}) {
      for (const int root : {0, p / 2, p - 1}) expect_theorem_1(p, kind, root);
    }
  }
  for (int p = 1; p <= 9; ++p) {
    for (int root = 0; root < p; ++root) expect_theorem_1(p, 3, root);
  }
  for (const int p : {1000, 4099, 32768}) expect_theorem_1(p, 3, p / 2);
}

TEST(IrregularTest, LedRanksWithoutABlockTakeNoPart) {
  for (const int p : {2, 3, 8, 33, 1000}) {
    Problem problem(p, 0, 1);
    const int root = p / 2;
    problem.counts.front() = 5;
    problem.counts.back() = 6;
    std::iota(problem.displacements.begin(), problem.displacements.end(), 0);
    problem.displacements.back() = 100;
    const auto others = static_cast<std::uint64_t>(root == p - 1 ? 1 : 2);
    std::vector<int> all(106);
    const SimulationReport gathered = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      const std::vector<int> mine = problem.block_of(comm.rank());
      co_await gatherv(comm, mine, {all, problem.counts, problem.displacements}, root, {.algorithm = "led"});
    });
    EXPECT_EQ(gathered.messages, 2 * others);
    EXPECT_EQ(gathered.rounds, 2);
    const SimulationReport scattered = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      std::vector<int> mine = problem.block_of(comm.rank());
      co_await scatterv(comm, {all, problem.counts, problem.displacements}, mine, root, {.algorithm = "led"});
    });
    EXPECT_EQ(scattered.messages, others);
    EXPECT_EQ(scattered.rounds, 1);
  }
}

/// Ranks of which one is behind while the others have gone on to a later operation with the same tag, in
/// which words pass other ranks than before.
Task<> meet_earlier(Comm comm, CollectiveOptions options, int between) {
  options.algorithm = "led";
  const std::vector<int> each = {0, 1, 1, 1, 1, 1}, none(6), last = {0, 0, 0, 0, 0, 1};
  const std::vector<int> five = {11, 12, 13, 14, 15}, one = {25};
  const auto me = static_cast<std::size_t>(comm.rank());
  const auto own = [&](const std::vector<int>& counts, int& value) {
    return Buffer(&value, static_cast<std::size_t>(counts[me]), MPI_INT);
  };
  const auto skip = [&]() -> Task<> {
    int nothing = 0;
    for (int i = 0; i < between; ++i) {
      co_await scatterv(comm, {five, none}, own(none, nothing), 0, {.algorithm = "direct"});
    }
  };
  int first = -1;
  int second = -1;
  if (me == 4) simulated_work(comm, 1);
  co_await scatterv(comm, {five, each}, own(each, first), 0, options);
  co_await skip();
  co_await scatterv(comm, {one, last}, own(last, second), 0, options);
  EXPECT_EQ(first, me == 0 ? -1 : 10 + comm.rank()) << between;
  EXPECT_EQ(second, me == 5 ? 25 : -1) << between;

  std::vector<int> all(5), alone(1);
  if (me == 4) simulated_work(comm, 1);
  co_await gatherv(comm, own(each, first), {all, each}, 0, options);
  co_await skip();
  co_await gatherv(comm, own(last, second), {alone, last}, 1, options);
  if (me == 0) {
    EXPECT_EQ(all, five) << between;
  }
  if (me == 1) {
    EXPECT_EQ(alone, one) << between;
  }
}

TEST(IrregularTest, WhoIsBehindTakesNoWordOfALaterOperationWithItsTag) {
  const SimulationOptions cluster = cluster_of(6, 0);
  simulate(cluster, [](Comm comm) { return meet_earlier(comm, {.own_tag = 5}, 0); });
  simulate(cluster, [](Comm comm) { return meet_earlier(comm.raw(), {.own_tag = 5}, 0); });
}

TEST(IrregularTest, WhoIsBehindTakesNoWordOfALaterOperationWithItsNumber) {
  SimulationOptions cluster = cluster_of(6, 0);
  cluster.tag_upper_bound = 32767;  // few numbers: they come back soon
  for (int between = 0; between < 140; ++between) {
    simulate(cluster, [&](Comm comm) { return meet_earlier(comm, {}, between); });
  }
}

TEST(IrregularTest, LedGathersAndScattersTakeLogPRoundsAndEveryByteReachesTheRootOnce) {
  for (const int p : {5, 17, 64, 65, 257, 3200}) {
    const Problem problem(p, 3, 11);
    const int root = p / 2;
    const int log = detail::OrderedHypercube(p, 0).dimensions();
    const SimulationReport gathered =
        simulate(cluster_of(p, 0), [&](Comm comm) { return gather_problem(comm, problem, root, "led"); });
    EXPECT_LE(gathered.rounds, log + 2);
    EXPECT_EQ(gathered.ranks[static_cast<std::size_t>(root)].bytes_received, problem.bytes_but(root));
    const SimulationReport scattered =
        simulate(cluster_of(p, 0), [&](Comm comm) { return scatter_problem(comm, problem, root, "led"); });
    EXPECT_LE(scattered.rounds, log / 2 + 1);
    // Beside the blocks, two to four bytes for each rank.
    const std::uint64_t sent = scattered.ranks[static_cast<std::size_t>(root)].bytes_sent;
    EXPECT_GE(sent, problem.bytes_but(root));
    EXPECT_LE(sent, problem.bytes_but(root) + static_cast<std::uint64_t>(4 * p) + 16 * 18);
  }
}

TEST(IrregularTest, APersistentOperationFindsItsTreeOnce) {
  for (const int p : {2, 7, 33, 100}) {
    const Problem problem(p, 3, 21);
    for (const std::string_view algorithm : {"led", "tree"}) {
      const auto messages_of = [&](int runs) {
        const SimulationReport report = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
          std::vector<int> all(problem.expected.size(), -1);
          const std::vector<int> mine = problem.block_of(comm.rank());
          Request gather = comm.gatherv_init(mine, {all, problem.counts, problem.displacements}, 1,
                                             {.algorithm = algorithm});
          for (int run = 0; run < runs; ++run) {
            std::fill(all.begin(), all.end(), -1);
            gather.start();
            co_await gather;
            if (comm.rank() == 1) {
              EXPECT_EQ(all, problem.expected);
            }
          }
        });
        return report.messages;
      };
      const std::uint64_t first = messages_of(1), second = messages_of(2) - first;
      EXPECT_EQ(messages_of(5), first + 4 * second);
      EXPECT_LE(second, static_cast<std::uint64_t>(p - 1)) << algorithm;
      EXPECT_GE(first, 2 * second) << algorithm;
    }
  }
}

TEST(IrregularTest, ALargeBlockIsSentOnceWhateverTheAlgorithm) {
  constexpr int p = 33;
  constexpr std::int64_t large = 100'000;
  for (const std::string_view algorithm : {"direct", "led", "tree"}) {
    Problem problem(p, 1, 1);
    problem.counts[9] = large;
    std::exclusive_scan(problem.counts.begin(), problem.counts.end(), problem.displacements.begin(),
                        std::int64_t{0});
    std::vector<int> all(large + 3 * p);
    const SimulationReport report = simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      const std::vector<int> mine = problem.block_of(comm.rank());
      co_await gatherv(comm, mine, {all, problem.counts, problem.displacements}, 20,
                       {.algorithm = algorithm});
    });
    EXPECT_LT(report.bytes, large * sizeof(int) + 20'000) << algorithm;
  }
}

TEST(IrregularTest, MoreRanksThanTheCrossingAreLedAndFewerAreNot) {
  const auto messages_of = [](int p) {
    const Problem problem(p, 1, 1);
    return simulate(cluster_of(p, 0), [&](Comm comm) { return gather_problem(comm, problem, 0, ""); })
        .messages;
  };
  int crossing = 0;
  simulate(cluster_of(2, 0), [&](Comm comm) -> Task<> {
    crossing = direct_gatherv_ranks(comm);
    co_return;
  });
  ASSERT_GT(crossing, 2);
  ASSERT_LT(crossing, 1000);
  EXPECT_EQ(messages_of(crossing), static_cast<std::uint64_t>(crossing - 1));
  EXPECT_EQ(messages_of(crossing + 1), static_cast<std::uint64_t>(2 * crossing));
}

TEST(IrregularTest, ScattervReadsOverlappingBlocks) {
  for (const std::string_view algorithm : algorithms_of("scatterv")) {
    constexpr int p = 20;
    std::vector<int> data(p + 2);
    std::iota(data.begin(), data.end(), 0);
    const std::vector<int> counts(p, 3);
    std::vector<int> begins(p);
    std::iota(begins.begin(), begins.end(), 0);
    simulate(cluster_of(p, 2), [&](Comm comm) -> Task<> {
      std::vector<int> mine(3, -1);
      co_await scatterv(comm, {data, counts, begins}, mine, 6, {.algorithm = algorithm});
      EXPECT_EQ(mine, (std::vector<int>{comm.rank(), comm.rank() + 1, comm.rank() + 2})) << algorithm;
    });
  }
}

/// Every second int.
struct Strided {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Strided() {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
  }
  ~Strided() { MPI_Type_free(&type); }
};

TEST(IrregularTest, DatatypesMayDifferBetweenRanksAndHaveGaps) {
  const Strided strided;
  constexpr int p = 19;
  for (const int root : {0, 7, 18}) {
    const Problem problem(p, 3, 77);
    for (const std::string_view algorithm : algorithms_of("gatherv")) {
      simulate(cluster_of(p, 2), [&](Comm comm) -> Task<> {
        // Odd ranks have their elements apart from each other; so has the root's buffer.
        const std::vector<int> mine = problem.block_of(comm.rank());
        std::vector<int> apart(2 * mine.size(), -7);
        for (std::size_t i = 0; i < mine.size(); ++i) apart[2 * i] = mine[i];
        const ConstBuffer send =
            comm.rank() % 2 == 0 ? ConstBuffer(mine) : ConstBuffer(apart.data(), mine.size(), strided.type);
        std::vector<int> all(2 * problem.expected.size(), -1);
        co_await gatherv(comm, send, Blocks(all.data(), problem.counts, problem.displacements, strided.type),
                         root, {.algorithm = algorithm});
        for (std::size_t i = 0; comm.rank() == root && i < problem.expected.size(); ++i) {
          EXPECT_EQ(all[2 * i], problem.expected[i]) << algorithm;
          EXPECT_EQ(all[2 * i + 1], -1) << "gaps stay as they are";
        }
      });
    }
    for (const std::string_view algorithm : algorithms_of("scatterv")) {
      simulate(cluster_of(p, 2), [&](Comm comm) -> Task<> {
        std::vector<int> all(2 * problem.expected.size(), -1);
        for (std::size_t i = 0; i < problem.expected.size(); ++i) all[2 * i] = problem.expected[i];
        const std::vector<int> expected = problem.block_of(comm.rank());
        std::vector<int> mine(expected.size(), -1);
        co_await scatterv(comm, ConstBlocks(all.data(), problem.counts, problem.displacements, strided.type),
                          mine, root, {.algorithm = algorithm});
        EXPECT_EQ(mine, expected) << algorithm;
      });
    }
  }
}

TEST(IrregularTest, TheRootsBlockMayBeInPlace) {
  constexpr int p = 14;
  const Problem problem(p, 3, 5);
  for (const std::string_view algorithm : algorithms_of("gatherv")) {
    simulate(cluster_of(p, 2), [&](Comm comm) -> Task<> {
      const bool is_root = comm.rank() == 4;
      const std::vector<int> mine = problem.block_of(comm.rank());
      std::vector<int> all(problem.expected.size(), -1);
      std::copy(mine.begin(), mine.end(), all.begin() + problem.displacements[4]);
      co_await gatherv(comm, is_root ? in_place() : ConstBuffer(mine),
                       {all, problem.counts, problem.displacements}, 4, {.algorithm = algorithm});
      if (is_root) {
        EXPECT_EQ(all, problem.expected) << algorithm;
      }
    });
  }
}

}  // namespace
}  // namespace wisp
