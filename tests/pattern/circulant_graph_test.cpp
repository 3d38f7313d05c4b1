#include "pattern/circulant_graph.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "pattern/log2.hpp"

namespace wisp::detail {
namespace {

std::vector<int> sizes() {
  std::vector<int> sizes = {255,  256,  257,  500,  511,  512,  513,  777,  1000, 1023,
                            1024, 1025, 1535, 2000, 2047, 2048, 2049, 3000, 4095, 4099};
  for (int size = 1; size <= 200; ++size) sizes.push_back(size);
  return sizes;
}

TEST(CirculantGraphTest, SkipsHalveAndReachEveryRank) {
  for (const int size : sizes()) {
    const CirculantGraph graph(size);
    EXPECT_EQ(graph.size(), size);
    EXPECT_EQ(graph.rounds(), ceil_log2(size));
    // What an allgather holds: each round adds the blocks of the ranks skip(k) further.
    int held = 1;
    for (int k = 0; k < graph.rounds(); ++k) {
      EXPECT_EQ(graph.skip(k), held);
      EXPECT_LE(graph.skip(k + 1), 2 * held);
      held = graph.skip(k + 1);
      EXPECT_EQ(graph.previous(graph.next(size - 1, k), k), size - 1);
    }
    EXPECT_EQ(held, size);
  }
}

/// Rounds in lockstep: every rank but 0 gets each piece once, from a rank that has it by then.
void expect_broadcast(int size, int pieces) {
  std::vector<CirculantPipeline> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.emplace_back(rank, size, pieces);
  const auto count = static_cast<std::size_t>(pieces);
  std::vector<std::vector<int>> got(static_cast<std::size_t>(size),
                                    std::vector<int>(count, -1));  // in which round
  const int rounds = ranks[0].rounds();
  ASSERT_EQ(rounds, size == 1 ? 0 : pieces - 1 + ceil_log2(size));
  for (int round = 0; round < rounds; ++round) {
    for (int rank = 0; rank < size; ++rank) {
      const CirculantPipeline::Hop sent = ranks[static_cast<std::size_t>(rank)].sent(round);
      const auto to = static_cast<std::size_t>(sent.partner);
      const CirculantPipeline::Hop received = ranks[to].received(round);
      ASSERT_EQ(received.partner, rank) << size;
      ASSERT_EQ(received.piece, sent.piece) << size;
      if (sent.piece < 0) continue;
      const auto piece = static_cast<std::size_t>(sent.piece);
      if (rank != 0) {
        const int when = got[static_cast<std::size_t>(rank)][piece];
        ASSERT_TRUE(when >= 0 && when < round) << size << " ranks, round " << round;
      }
      ASSERT_EQ(got[to][piece], -1) << size << " ranks, round " << round;
      got[to][piece] = round;
    }
  }
  for (int rank = 1; rank < size; ++rank) {
    for (const int when : got[static_cast<std::size_t>(rank)]) ASSERT_GE(when, 0) << size;
  }
}

TEST(CirculantGraphTest, EveryPieceComesOnceAndInTime) {
  for (const int size : sizes()) {
    const int log = ceil_log2(size);
    const std::vector<int> few = {1, log + 1};
    const std::vector<int> many = {1, 2, log, log + 1, 3 * log + 2};
    for (const int pieces : size > 200 ? few : many) {
      if (pieces > 0) expect_broadcast(size, pieces);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace wisp::detail
