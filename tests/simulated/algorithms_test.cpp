#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "noncommutative.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

// Every named algorithm of every collective, against the result computed in one place; then what RBC does
// wrong, and bounds on messages and bytes.

namespace wisp {
namespace {

using test::cluster_of;

using test::Affine;
using test::affine_of_rank;

/// The composition of the maps of ranks first … last, each scaled by its position in the vector.
Affine input_of(int rank, std::size_t position) {
  Affine map = affine_of_rank(rank);
  map.shift += position;
  return map;
}
Affine product(int first, int last, std::size_t position) {
  Affine result;
  for (int rank = first; rank <= last; ++rank) result = result * input_of(rank, position);
  return result;
}

/// Runs `check(comm, algorithm)` for all algorithms of an operation, on 1 … 33 ranks and with random delays.
/// One that says it does not work with so many ranks, or such an operator, is passed over.
template <class Check>
void for_all(const std::string& operation, Check check) {
  for (const std::string_view algorithm : algorithms_of(operation)) {
    for (int p = 1; p <= 33; ++p) {
      for (const int seed : {0, 1, 2, 3, 4}) {
        SCOPED_TRACE(operation + " by " + std::string(algorithm) + ", p = " + std::to_string(p) + ", seed " +
                     std::to_string(seed));
        try {
          simulate(cluster_of(p, seed), [&](Comm comm) { return check(comm, algorithm); });
        } catch (const Error& error) {
          if (std::string(error.what()).find("does not work with") == std::string::npos) throw;
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

constexpr std::size_t counts[] = {0, 1, 5, 40};

class AlgorithmsTest : public testing::Test {
 protected:
  static std::vector<int> roots(int p) { return {0, p / 2, p - 1}; }

  ConstBuffer read(const std::vector<Affine>& data) const {
    return {data.data(), data.size(), affine.type()};
  }
  Buffer write(std::vector<Affine>& data) const { return {data.data(), data.size(), affine.type()}; }
  static std::vector<Affine> input(int rank, std::size_t count) {
    std::vector<Affine> data;
    for (std::size_t i = 0; i < count; ++i) data.push_back(input_of(rank, i));
    return data;
  }
  static std::vector<Affine> products(int first, int last, std::size_t count) {
    std::vector<Affine> data;
    for (std::size_t i = 0; i < count; ++i) data.push_back(product(first, last, i));
    return data;
  }

  const test::AffineType affine;
};

TEST_F(AlgorithmsTest, Barrier) {
  for_all("barrier", [](Comm comm, std::string_view algorithm) -> Task<> {
    co_await barrier(comm, {.algorithm = algorithm});
    co_await barrier(comm, {.algorithm = algorithm});
  });
}

TEST_F(AlgorithmsTest, Bcast) {
  for_all("bcast", [](Comm comm, std::string_view algorithm) -> Task<> {
    for (const int root : roots(comm.size())) {
      for (const std::size_t count : counts) {
        std::vector<int> expected(count), data(count, -1);
        std::iota(expected.begin(), expected.end(), root);
        if (comm.rank() == root) data = expected;
        co_await bcast(comm, data, root, {.algorithm = algorithm});
        EXPECT_EQ(data, expected);
      }
    }
  });
}

TEST_F(AlgorithmsTest, Reduce) {
  for_all("reduce", [this](Comm comm, std::string_view algorithm) -> Task<> {
    for (const int root : roots(comm.size())) {
      for (const std::size_t count : counts) {
        const std::vector<Affine> untouched(count, Affine{9, 9});
        std::vector<Affine> mine = input(comm.rank(), count), result = untouched;
        co_await reduce(comm, read(mine), write(result), affine.op(), root, {.algorithm = algorithm});
        EXPECT_EQ(result, comm.rank() == root ? products(0, comm.size() - 1, count) : untouched);
        EXPECT_EQ(mine, input(comm.rank(), count));
        const ConstBuffer send = comm.rank() == root ? in_place() : read(mine);
        co_await reduce(comm, send, write(mine), affine.op(), root, {.algorithm = algorithm});
        if (comm.rank() == root) {
          EXPECT_EQ(mine, result) << "in place";
        }
      }
    }
  });
}

TEST_F(AlgorithmsTest, Allreduce) {
  for_all("allreduce", [this](Comm comm, std::string_view algorithm) -> Task<> {
    for (const std::size_t count : counts) {
      // Some algorithms need an operator that commutes.
      std::vector<std::uint64_t> numbers(count), sums(count), expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = static_cast<std::uint64_t>(comm.rank()) + i;
        const auto p = static_cast<std::uint64_t>(comm.size());
        expected[i] = p * (p - 1) / 2 + p * i;
      }
      co_await allreduce(comm, numbers, sums, MPI_SUM, {.algorithm = algorithm});
      EXPECT_EQ(sums, expected);
      co_await allreduce(comm, in_place(), numbers, MPI_SUM, {.algorithm = algorithm});
      EXPECT_EQ(numbers, expected) << "in place";
    }
    for (const std::size_t count : counts) {
      std::vector<Affine> mine = input(comm.rank(), count), result(count);
      co_await allreduce(comm, read(mine), write(result), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(result, products(0, comm.size() - 1, count));
      co_await allreduce(comm, in_place(), write(mine), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(mine, result) << "in place";
    }
  });
}

TEST_F(AlgorithmsTest, ScanAndExscan) {
  for_all("scan", [this](Comm comm, std::string_view algorithm) -> Task<> {
    for (const std::size_t count : counts) {
      std::vector<Affine> mine = input(comm.rank(), count), result(count);
      co_await scan(comm, read(mine), write(result), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(result, products(0, comm.rank(), count));
      const std::vector<Affine> untouched(count, Affine{9, 9});
      result = untouched;
      co_await exscan(comm, read(mine), write(result), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(result, comm.rank() == 0 ? untouched : products(0, comm.rank() - 1, count));
      EXPECT_EQ(mine, input(comm.rank(), count));
      co_await scan(comm, in_place(), write(mine), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(mine, products(0, comm.rank(), count)) << "in place";
      mine = input(comm.rank(), count);
      co_await exscan(comm, in_place(), write(mine), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(mine, comm.rank() == 0 ? input(0, count) : products(0, comm.rank() - 1, count)) << "in place";
    }
  });
}

TEST_F(AlgorithmsTest, ScanAndBcast) {
  for_all("scan_and_bcast", [this](Comm comm, std::string_view algorithm) -> Task<> {
    for (const std::size_t count : counts) {
      const std::vector<Affine> mine = input(comm.rank(), count);
      std::vector<Affine> prefix(count), total(count);
      co_await scan_and_bcast(comm, read(mine), write(prefix), write(total), affine.op(),
                              {.algorithm = algorithm});
      EXPECT_EQ(prefix, products(0, comm.rank(), count));
      EXPECT_EQ(total, products(0, comm.size() - 1, count));
      prefix = mine;
      co_await scan_and_bcast(comm, in_place(), write(prefix), write(total), affine.op(),
                              {.algorithm = algorithm});
      EXPECT_EQ(prefix, products(0, comm.rank(), count)) << "in place";
    }
  });
}

TEST_F(AlgorithmsTest, ReduceScatter) {
  for_all("reduce_scatter", [this](Comm comm, std::string_view algorithm) -> Task<> {
    const auto p = static_cast<std::size_t>(comm.size());
    const auto rank = static_cast<std::size_t>(comm.rank());
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      std::vector<Affine> mine = input(comm.rank(), count * p), block(count);
      const std::vector<Affine> all = products(0, comm.size() - 1, count * p);
      const std::vector<Affine> expected(all.begin() + static_cast<std::ptrdiff_t>(rank * count),
                                         all.begin() + static_cast<std::ptrdiff_t>((rank + 1) * count));
      co_await reduce_scatter_block(comm, read(mine), write(block), affine.op(), {.algorithm = algorithm});
      EXPECT_EQ(block, expected);
      co_await reduce_scatter_block(comm, in_place(), write(mine), affine.op(), {.algorithm = algorithm});
      mine.resize(count);
      EXPECT_EQ(mine, expected) << "in place";
    }
    // Blocks of 0, 1, 2, 3, 0, … elements.
    std::vector<int> sizes(p);
    std::size_t sum = 0, begin = 0;
    for (std::size_t r = 0; r < p; ++r) {
      sizes[r] = static_cast<int>(r % 4);
      if (r < rank) begin += r % 4;
      sum += r % 4;
    }
    std::vector<Affine> mine = input(comm.rank(), sum), block(rank % 4);
    const std::vector<Affine> all = products(0, comm.size() - 1, sum);
    const std::vector<Affine> expected(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                       all.begin() + static_cast<std::ptrdiff_t>(begin + rank % 4));
    co_await reduce_scatter(comm, read(mine), write(block), sizes, affine.op(), {.algorithm = algorithm});
    EXPECT_EQ(block, expected);
    // Some have room behind the blocks; who gets nothing has no buffer.
    std::vector<Affine> roomy = mine;
    if (rank % 2 == 1) roomy.resize(sum + 20000);
    block.assign(rank % 4, Affine());
    const Buffer result = rank % 4 == 0 ? Buffer() : write(block);
    co_await reduce_scatter(comm, read(roomy), result, sizes, affine.op(), {.algorithm = algorithm});
    EXPECT_EQ(block, expected);
    co_await reduce_scatter(comm, in_place(), write(mine), sizes, affine.op(), {.algorithm = algorithm});
    mine.resize(rank % 4);
    EXPECT_EQ(mine, expected) << "in place";
  });
}

/// {100 rank, 100 rank + 1, …}
std::vector<int> block_of(int rank, std::size_t count) {
  std::vector<int> block(count);
  std::iota(block.begin(), block.end(), 100 * rank);
  return block;
}
std::vector<int> blocks_of_all(int p, std::size_t count) {
  std::vector<int> blocks;
  for (int r = 0; r < p; ++r) {
    const std::vector<int> block = block_of(r, count);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  return blocks;
}

TEST_F(AlgorithmsTest, GatherAndScatter) {
  for_all("gather", [](Comm comm, std::string_view algorithm) -> Task<> {
    for (const int root : roots(comm.size())) {
      for (const std::size_t count : counts) {
        const std::vector<int> expected = blocks_of_all(comm.size(), count);
        std::vector<int> all(comm.rank() == root ? expected.size() : 0, -1);
        co_await gather(comm, block_of(comm.rank(), count), all, root, {.algorithm = algorithm});
        if (comm.rank() == root) {
          EXPECT_EQ(all, expected);
        }
      }
    }
  });
  for_all("scatter", [](Comm comm, std::string_view algorithm) -> Task<> {
    for (const int root : roots(comm.size())) {
      for (const std::size_t count : counts) {
        const std::vector<int> all =
            comm.rank() == root ? blocks_of_all(comm.size(), count) : std::vector<int>();
        std::vector<int> mine(count, -1);
        co_await scatter(comm, all, mine, root, {.algorithm = algorithm});
        EXPECT_EQ(mine, block_of(comm.rank(), count));
        co_await scatter(comm, all, comm.rank() == root ? in_place() : Buffer(mine), root,
                         {.algorithm = algorithm});
        EXPECT_EQ(mine, block_of(comm.rank(), count));
      }
    }
  });
}

TEST_F(AlgorithmsTest, Allgather) {
  for_all("allgather", [](Comm comm, std::string_view algorithm) -> Task<> {
    for (const std::size_t count : counts) {
      const std::vector<int> expected = blocks_of_all(comm.size(), count);
      std::vector<int> all(expected.size(), -1);
      const std::vector<int> mine = block_of(comm.rank(), count);
      co_await allgather(comm, mine, all, {.algorithm = algorithm});
      EXPECT_EQ(all, expected);
      std::fill(all.begin(), all.end(), -1);
      std::copy(mine.begin(), mine.end(),
                all.begin() + static_cast<std::ptrdiff_t>(comm.rank() * static_cast<int>(count)));
      co_await allgather(comm, in_place(), all, {.algorithm = algorithm});
      EXPECT_EQ(all, expected) << "in place";
    }
  });
}

/// Sizes and places with a gap of two behind each block, in reverse order.
struct Gapped {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<int> expected;  ///< gaps are -1

  explicit Gapped(int p) : counts(static_cast<std::size_t>(p)), displacements(static_cast<std::size_t>(p)) {
    for (int r = p - 1; r >= 0; --r) {
      const auto k = static_cast<std::size_t>(r);
      counts[k] = r % 3 == 1 ? 0 : r % 5;
      displacements[k] = static_cast<int>(expected.size());
      const std::vector<int> block = block_of(r, static_cast<std::size_t>(counts[k]));
      expected.insert(expected.end(), block.begin(), block.end());
      expected.insert(expected.end(), 2, -1);
    }
  }
  std::vector<int> mine(int rank) const {
    return block_of(rank, static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
  }
};

TEST_F(AlgorithmsTest, AllgathervHonoursGapsAndOrder) {
  for_all("allgatherv", [](Comm comm, std::string_view algorithm) -> Task<> {
    const Gapped gapped(comm.size());
    std::vector<int> all(gapped.expected.size(), -1);
    const std::vector<int> mine = gapped.mine(comm.rank());
    co_await allgatherv(comm, mine, {all, gapped.counts, gapped.displacements}, {.algorithm = algorithm});
    EXPECT_EQ(all, gapped.expected);
    std::fill(all.begin(), all.end(), -1);
    std::copy(mine.begin(), mine.end(),
              all.begin() + gapped.displacements[static_cast<std::size_t>(comm.rank())]);
    co_await allgatherv(comm, in_place(), {all, gapped.counts, gapped.displacements},
                        {.algorithm = algorithm});
    EXPECT_EQ(all, gapped.expected) << "in place";
  });
}

TEST_F(AlgorithmsTest, Alltoall) {
  const auto value = [](int from, int to, std::size_t i) {
    return 10000 * from + 100 * to + static_cast<int>(i);
  };
  for_all("alltoall", [value](Comm comm, std::string_view algorithm) -> Task<> {
    for (const std::size_t count : counts) {
      std::vector<int> out, expected;
      for (int r = 0; r < comm.size(); ++r) {
        for (std::size_t i = 0; i < count; ++i) {
          out.push_back(value(comm.rank(), r, i));
          expected.push_back(value(r, comm.rank(), i));
        }
      }
      std::vector<int> in(out.size(), -1);
      co_await alltoall(comm, out, in, {.algorithm = algorithm});
      EXPECT_EQ(in, expected);
      co_await alltoall(comm, in_place(), out, {.algorithm = algorithm});
      EXPECT_EQ(out, expected) << "in place";
    }
  });
}

TEST_F(AlgorithmsTest, AlltoallvAndAlltoallw) {
  for_all("alltoallv", [](Comm comm, std::string_view algorithm) -> Task<> {
    const auto p = static_cast<std::size_t>(comm.size());
    const auto amount = [](int from, int to) { return (from + 2 * to) % 4; };
    std::vector<int> out_counts(p), in_counts(p), out_begins(p), in_begins(p), out, expected;
    for (int r = 0; r < comm.size(); ++r) {
      const auto k = static_cast<std::size_t>(r);
      out_counts[k] = amount(comm.rank(), r);
      in_counts[k] = amount(r, comm.rank());
      out_begins[k] = static_cast<int>(out.size());
      in_begins[k] = static_cast<int>(expected.size());
      out.insert(out.end(), static_cast<std::size_t>(out_counts[k]), 100 * comm.rank() + r);
      expected.insert(expected.end(), static_cast<std::size_t>(in_counts[k]), 100 * r + comm.rank());
      out.push_back(-5);
      expected.push_back(-1);
    }
    std::vector<int> in(expected.size(), -1);
    co_await alltoallv(comm, ConstBlocks(out, out_counts, out_begins), {in, in_counts, in_begins},
                       {.algorithm = algorithm});
    EXPECT_EQ(in, expected);

    std::fill(in.begin(), in.end(), -1);
    std::vector<int> out_bytes, in_bytes;
    for (std::size_t r = 0; r < p; ++r) {
      out_bytes.push_back(out_begins[r] * static_cast<int>(sizeof(int)));
      in_bytes.push_back(in_begins[r] * static_cast<int>(sizeof(int)));
    }
    const std::vector<MPI_Datatype> types(p, MPI_INT);
    co_await alltoallw(comm, ConstBlocks(out.data(), out_counts, out_bytes, types),
                       Blocks(in.data(), in_counts, in_bytes, types), {.algorithm = algorithm});
    EXPECT_EQ(in, expected);
    // In place: the same amount both ways.
    std::vector<int> same(p), both;
    for (int r = 0; r < comm.size(); ++r) {
      same[static_cast<std::size_t>(r)] = (r + comm.rank()) % 3;
      both.insert(both.end(), static_cast<std::size_t>((r + comm.rank()) % 3), 100 * comm.rank() + r);
    }
    co_await alltoallv(comm, in_place(), {both, same}, {.algorithm = algorithm});
    std::vector<int> swapped;
    for (int r = 0; r < comm.size(); ++r) {
      swapped.insert(swapped.end(), static_cast<std::size_t>((r + comm.rank()) % 3), 100 * r + comm.rank());
    }
    EXPECT_EQ(both, swapped) << "in place";
  });
}

TEST(GathervTest, GapsInDisplacementsAreHonouredAndAZeroBlockTravelsAsNoMessage) {
  for (int p = 1; p <= 33; ++p) {
    for (const int root : {0, p / 2, p - 1}) {
      const Gapped gapped(p);
      int senders = 0;
      for (int r = 0; r < p; ++r)
        senders += r != root && gapped.counts[static_cast<std::size_t>(r)] > 0 ? 1 : 0;
      const SimulationReport report = simulate(cluster_of(p, 1), [&](Comm comm) -> Task<> {
        std::vector<int> all(comm.rank() == root ? gapped.expected.size() : 0, -1);
        const std::vector<int> mine = gapped.mine(comm.rank());
        // Only the root has counts, places and room.
        const Blocks blocks =
            comm.rank() == root ? Blocks(all, gapped.counts, gapped.displacements) : Blocks();
        co_await gatherv(comm, mine, blocks, root, {.algorithm = "direct"});
        if (comm.rank() == root) {
          EXPECT_EQ(all, gapped.expected);
        }
      });
      EXPECT_EQ(report.messages, static_cast<std::uint64_t>(senders));
      simulate(cluster_of(p, 2), [&](Comm comm) -> Task<> {
        const ConstBlocks blocks = comm.rank() == root
                                       ? ConstBlocks(gapped.expected, gapped.counts, gapped.displacements)
                                       : ConstBlocks();
        const std::vector<int> expected = gapped.mine(comm.rank());
        std::vector<int> mine(expected.size(), -1);
        co_await scatterv(comm, blocks, mine, root);
        EXPECT_EQ(mine, expected);
      });
    }
  }
}

/// RBC's nonblocking gatherv hangs here.
TEST(GathervTest, ANonblockingOneInWhichOneRankContributesNothingFinishes) {
  simulate(cluster_of(5, 0), [](Comm comm) -> Task<> {
    const std::vector<int> sizes = {1, 1, 0, 1, 1};
    std::vector<int> all(4, -1);
    const std::vector<int> mine(comm.rank() == 2 ? 0 : 1, comm.rank());
    Request request = comm.igatherv(mine, {all, sizes}, 3);
    co_await request;
    if (comm.rank() == 3) {
      EXPECT_EQ(all, (std::vector<int>{0, 1, 3, 4}));
    }
  });
}

TEST(PersistentTest, StartsAgainAndAgainWithNewData) {
  const test::AffineType affine;
  for (const int p : {1, 2, 3, 5, 8, 13}) {
    for (const int seed : {0, 1, 2}) {
      simulate(cluster_of(p, seed), [](Comm comm) -> Task<> {
        int value = 0, in = 0, sum = 0, before = 0;
        Request bcast = comm.bcast_init(buffer_of(value), comm.size() / 2);
        Request sums = comm.allreduce_init(buffer_of(std::as_const(in)), buffer_of(sum), MPI_SUM);
        Request scan = comm.exscan_init(buffer_of(std::as_const(in)), buffer_of(before), MPI_SUM);
        EXPECT_FALSE(bcast.active());
        for (int run = 0; run < 5; ++run) {
          value = comm.rank() == comm.size() / 2 ? 70 + run : -1;
          in = comm.rank() + run;
          // In another order on every rank.
          std::vector<Request*> order = {&bcast, &sums, &scan};
          std::rotate(order.begin(), order.begin() + (comm.rank() + run) % 3, order.end());
          for (Request* request : order) request->start();
          EXPECT_THROW(order[0]->start(), Error);
          for (Request* request : order) co_await *request;
          const int p = comm.size(), rank = comm.rank();
          EXPECT_EQ(value, 70 + run);
          EXPECT_EQ(sum, p * (p - 1) / 2 + p * run);
          if (rank > 0) {
            EXPECT_EQ(before, rank * (rank - 1) / 2 + rank * run);
          }
        }
      });
    }
  }
}

TEST(SelectionTest, AnUnknownOrUnfitAlgorithmIsAnErrorThatNamesTheOthers) {
  const auto sentence_of = [](int ranks, const std::function<Task<>(Comm)>& program) -> std::string {
    SimulationOptions cluster;
    cluster.ranks = ranks;
    try {
      simulate(cluster, program);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(sentence_of(1,
                        [](Comm comm) -> Task<> {
                          std::vector<int> data(1);
                          co_await bcast(comm, data, 0, {.algorithm = "fast"});
                        }),
            "wisp::bcast: algorithm = fast is not one of binomial, radix_4, circulant, two_level");
  EXPECT_EQ(sentence_of(3,
                        [](Comm comm) -> Task<> {
                          const test::AffineType affine;
                          std::vector<Affine> data(3);
                          co_await allreduce(comm, in_place(), Buffer(data.data(), 3, affine.type()),
                                             affine.op(), {.algorithm = "circulant"});
                        }),
            "wisp::allreduce: algorithm = circulant does not work with an operator that does not commute");
  EXPECT_THROW(algorithms_of("sort"), Error);
}

struct Cost {
  std::uint64_t messages;
  std::uint64_t largest_sent;  ///< bytes of the rank that sends most
  double seconds;
};

Cost cost_of(int ranks, const std::function<Task<>(Comm)>& program) {
  SimulationOptions cluster;
  cluster.ranks = ranks;
  const SimulationReport report = simulate(cluster, program);
  Cost cost{report.messages, 0, report.seconds};
  for (const auto& rank : report.ranks) cost.largest_sent = std::max(cost.largest_sent, rank.bytes_sent);
  return cost;
}

TEST(AlgorithmCostTest, LongVectorsMoveAsTheirPapersSay) {
  constexpr std::size_t count = 1 << 16;
  constexpr double bytes = count * sizeof(double);
  for (const int p : {2, 3, 8, 13, 32}) {
    const auto of_bcast = [&](std::string_view algorithm) {
      return cost_of(p, [algorithm](Comm comm) -> Task<> {
        std::vector<double> data(count);
        co_await bcast(comm, data, comm.size() / 3, {.algorithm = algorithm});
      });
    };
    const auto of_allreduce = [&](std::string_view algorithm) {
      return cost_of(p, [algorithm](Comm comm) -> Task<> {
        std::vector<double> data(count), sum(count);
        co_await allreduce(comm, data, sum, MPI_SUM, {.algorithm = algorithm});
      });
    };
    // Nobody sends more than a piece in each round.
    EXPECT_LE(static_cast<double>(of_bcast("circulant").largest_sent), 1.3 * bytes) << p;
    EXPECT_LE(static_cast<double>(of_allreduce("circulant").largest_sent), 2.01 * bytes) << p;
  }
}

TEST(AlgorithmCostTest, TheChosenOneIsCloseToTheFastestOfTheTable) {
  for (const int p : {2, 3, 8, 16, 100}) {
    for (const std::size_t count : {1u, 64u, 4096u, 1u << 17}) {
      const auto time_of = [&](std::string_view algorithm) {
        return cost_of(p,
                       [algorithm, count](Comm comm) -> Task<> {
                         std::vector<double> data(count);
                         co_await bcast(comm, data, 0, {.algorithm = algorithm});
                       })
            .seconds;
      };
      double fastest = 1e9;
      for (const std::string_view algorithm : algorithms_of("bcast")) {
        fastest = std::min(fastest, time_of(algorithm));
      }
      EXPECT_LE(time_of(""), 1.5 * fastest) << p << " ranks, " << count << " doubles";
    }
  }
}

}  // namespace
}  // namespace wisp
