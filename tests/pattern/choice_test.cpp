// Which algorithms are chosen where ranks share cores, or long messages take more of a rank's time than short
// ones: the simulated cluster does not tell which are the fastest there.

#include <gtest/gtest.h>

#include "collectives/collective.hpp"

namespace wisp::detail {
namespace {

constexpr double rendezvous = 1e-6;

Machine with_shared_cores(double ranks_per_core) {
  Machine machine;
  machine.overhead = machine.latency / 8;
  machine.rendezvous = rendezvous;
  machine.shares_cores = true;
  machine.ranks_per_core = ranks_per_core;
  return machine;
}

TEST(ChoiceTest, PiecesOfSharedCoresWaitForTheirTurn) {
  for (const int ranks : {3, 4, 6, 8, 16}) {
    const Machine machine = with_shared_cores(ranks / 2.0);
    for (const std::size_t bytes : {32768, 65536}) {
      const Case of{ranks, bytes};
      const std::string_view of_bcast = cheapest_algorithm(bcast_row, of, machine);
      const std::string_view of_reduce = cheapest_algorithm(reduce_row, of, machine);
      EXPECT_NE(of_bcast, "circulant") << ranks << ' ' << bytes;
      EXPECT_NE(of_reduce, "circulant") << ranks << ' ' << bytes;
    }
    EXPECT_EQ(cheapest_algorithm(allreduce_row, {ranks, 65536}, machine), "tree") << ranks;
  }
  // With many cores a long vector is better cut.
  EXPECT_EQ(cheapest_algorithm(bcast_row, {128, 8388608}, with_shared_cores(2)), "circulant");
  EXPECT_EQ(cheapest_algorithm(allreduce_row, {128, 8388608}, with_shared_cores(2)), "circulant");
}

TEST(ChoiceTest, WhereLongMessagesAreAskedForPiecesAreFew) {
  Machine machine;
  EXPECT_EQ(cheapest_algorithm(allreduce_row, {2, 65536}, machine), "two_tree");
  EXPECT_EQ(cheapest_algorithm(scan_row, {2, 524288}, machine), "two_tree");
  const int pieces = circulant_pieces(machine, 1048576, 6, 1048576);
  machine.rendezvous = rendezvous;
  EXPECT_LT(circulant_pieces(machine, 1048576, 6, 1048576), pieces);
  EXPECT_EQ(circulant_pieces(machine, 4096, 6, 4096), circulant_pieces(Machine(), 4096, 6, 4096));
  for (const std::size_t bytes : {65536, 524288}) {
    EXPECT_NE(cheapest_algorithm(allreduce_row, {2, bytes}, machine), "two_tree") << bytes;
    EXPECT_NE(cheapest_algorithm(scan_row, {2, bytes}, machine), "two_tree") << bytes;
  }
  // Whoever sends whole vectors is asked for them, too.
  EXPECT_NE(cheapest_algorithm(allreduce_row, {16, 8192}, machine), "tree");
  machine.inside = {1e-7, 1e-8, 1e-11};
  EXPECT_EQ(machine.at(Level::inside).rendezvous, 2e-7);
}

TEST(ChoiceTest, WhoHasCoresForThemselvesTakesNoTurns) {
  Machine machine = with_shared_cores(4);
  machine.ranks_on_node = 4;
  const Machine between = machine.at(Level::between);
  const Terms terms({4, 1048576}, between);
  EXPECT_EQ(terms.stream(1).steps, 2);
  EXPECT_GT(Terms({4, 1048576}, machine).stream(1).steps, 2);
  machine.latency = 0;
  EXPECT_GE(steps_of_all(machine, 3, turns_of_pairs), 3);
}

TEST(ChoiceTest, LongBlocksDoNotPassAPortTwice) {
  Machine machine = with_shared_cores(2);
  machine.latency = 3e-5;
  machine.overhead = machine.latency / 8;
  machine.seconds_per_byte = 2.5e-10;
  machine.inside = {8e-6, 2e-6, 3e-11};
  machine.ranks_on_node = 4;
  Case of{16, 512};
  of.nodes = {.nodes = 4, .most = 4};
  EXPECT_EQ(cheapest_algorithm(alltoall_row, of, machine), "two_level");
  of.bytes = 65536;
  EXPECT_EQ(cheapest_algorithm(alltoall_row, of, machine), "direct");
}

}  // namespace
}  // namespace wisp::detail
