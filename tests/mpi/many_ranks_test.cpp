#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "wisp/collectives.hpp"

// Every collective once, with results that are known without MPI: for more ranks than the others can take.

namespace wisp {
namespace {

using Numbers = std::vector<std::int64_t>;

class ManyRanksTest : public testing::Test {
 protected:
  /// 0, 1, … times `factor`, one for each rank.
  Numbers by_rank(std::int64_t factor) const {
    Numbers numbers(ranks());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) * factor;
    return numbers;
  }
  std::size_t ranks() const { return static_cast<std::size_t>(comm.size()); }
  std::int64_t sum_to(std::int64_t last) const { return last * (last + 1) / 2; }

  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int root = comm.size() / 2;
  const std::int64_t rank = comm.rank();
  const std::int64_t last = comm.size() - 1;
  const Numbers mine = {rank, 3 * rank};
};

TEST_F(ManyRanksTest, FromAndToARoot) {
  Numbers sent = mine;
  comm.bcast(sent, root);
  EXPECT_EQ(sent, (Numbers{root, 3 * root}));

  Numbers reduced(2);
  comm.reduce(mine, reduced, MPI_SUM, root);
  if (rank == root) {
    EXPECT_EQ(reduced, (Numbers{sum_to(last), 3 * sum_to(last)}));
  }

  Numbers gathered(ranks());
  comm.gather(buffer_of(rank), gathered, root);
  if (rank == root) {
    EXPECT_EQ(gathered, by_rank(1));
  }

  std::int64_t got = -1;
  comm.scatter(by_rank(7), buffer_of(got), root);
  EXPECT_EQ(got, 7 * rank);
  comm.barrier();
}

TEST_F(ManyRanksTest, AmongAll) {
  Numbers sum(2), below_or_mine(2), below(2), alike(ranks());
  comm.allreduce(mine, sum, MPI_SUM);
  EXPECT_EQ(sum, (Numbers{sum_to(last), 3 * sum_to(last)}));
  comm.scan(mine, below_or_mine, MPI_SUM);
  EXPECT_EQ(below_or_mine, (Numbers{sum_to(rank), 3 * sum_to(rank)}));
  comm.exscan(mine, below, MPI_SUM);
  if (rank > 0) {
    EXPECT_EQ(below, (Numbers{sum_to(rank - 1), 3 * sum_to(rank - 1)}));
  }
  comm.allgather(buffer_of(rank), alike);
  EXPECT_EQ(alike, by_rank(1));

  Numbers exchanged(ranks());
  comm.alltoall(Numbers(ranks(), rank), exchanged);
  EXPECT_EQ(exchanged, by_rank(1));
  std::int64_t block = -1;
  comm.reduce_scatter_block(by_rank(1), buffer_of(block), MPI_SUM);
  EXPECT_EQ(block, rank * comm.size());
}

TEST_F(ManyRanksTest, BlocksOfDifferentSizes) {
  // Rank r has r mod 3 elements, all of value r.
  std::vector<std::int64_t> counts(ranks());
  Numbers all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    counts[r] = static_cast<std::int64_t>(r % 3);
    all.insert(all.end(), r % 3, static_cast<std::int64_t>(r));
  }
  const Numbers own(static_cast<std::size_t>(rank % 3), rank);

  Numbers gathered(all.size(), -1);
  comm.gatherv(own, Blocks(gathered, counts), root);
  if (rank == root) {
    EXPECT_EQ(gathered, all);
  }
  Numbers got(own.size(), -1);
  comm.scatterv(ConstBlocks(all, counts), got, root);
  EXPECT_EQ(got, own);
  Numbers alike(all.size(), -1);
  comm.allgatherv(own, Blocks(alike, counts));
  EXPECT_EQ(alike, all);
}

}  // namespace
}  // namespace wisp
