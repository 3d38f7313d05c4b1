// Which algorithms are chosen where ranks share cores, or long messages take more of a rank's time than short
// ones: the simulated cluster does not tell which are the fastest there.

#include <gtest/gtest.h>

#include "collectives/collective.hpp"
#include "neighborhood/choice.hpp"
#include "transport/mpi_library.hpp"
#include "wisp/stencil.hpp"

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

/// As 16 ranks on 16 cores of one host found it.
Machine of_one_host() {
  Machine machine;
  machine.latency = 0.48e-6;
  machine.overhead = machine.latency / 4;
  machine.seconds_per_byte = 1.16e-10;
  machine.rendezvous = 2 * machine.latency;
  machine.parcel_seconds = 6e-8;
  machine.is_one_host = true;
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

TEST(ChoiceTest, ABlockIsTakenFromOneBundleToAnother) {
  EXPECT_EQ(cheapest_algorithm(alltoallv_row, {16}, of_one_host()), "direct");
  Machine network = of_one_host();
  network.latency = 2e-6;
  network.overhead = network.latency / 4;
  EXPECT_NE(cheapest_algorithm(alltoallv_row, {16}, network), "direct");
}

TEST(ChoiceTest, NeighborsOnOneHostShareMessagesWhereEachCostsMoreThanItsCopies) {
  const Stencil moore_of_two(Torus({4, 2, 2}), moore(3, 2));
  const auto chosen = [&](std::size_t bytes) {
    const BlockPlaces places(bytes, static_cast<std::ptrdiff_t>(bytes), true);
    return schedule_names()[cheapest_schedule(moore_of_two, NeighborPattern::alltoall, 0, places,
                                              of_one_host())];
  };
  EXPECT_NE(chosen(8), "straightforward");
  // Open MPI asks for messages of 4 KiB (124 of them took 538 µs, 15 of many blocks 302), MPICH does not (340
  // and 439).
  EXPECT_EQ(chosen(4096), is_open_mpi() ? "direct" : "straightforward");
}

}  // namespace
}  // namespace wisp::detail
