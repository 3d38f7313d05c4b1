#pragma once

#include <cstddef>
#include <string_view>

#include "collectives/algorithms.hpp"
#include "comm/world.hpp"
#include "wisp/comm.hpp"

/// Which algorithm does an operation: the one that the user names, or the cheapest that is allowed, by the
/// table in selection.cpp. The choice depends only on what all ranks know.

namespace wisp::detail {

// In the order of the table.
enum class Barrier { dissemination, tree };
enum class Bcast { binomial, radix_4, circulant };
enum class Reduce { binomial, radix_4, radix_32, ordered, circulant };
enum class Allreduce { recursive_doubling, tree, circulant, two_tree };
enum class Scan { dissemination, chain, two_tree };
enum class ScanAndBcast { dissemination, chain, two_tree };
enum class ReduceScatter { tree, circulant, pairwise };
enum class Gather { binomial, radix_4, radix_32, ordered, direct };
enum class Gatherv { direct, led, tree, combined, binomial };
enum class Scatter { binomial, radix_4, ordered, direct };
enum class Scatterv { direct, led, tree, binomial };
enum class Allgather { dissemination, circulant, tree };
enum class Allgatherv { dissemination, circulant };
enum class Alltoall { bruck, pairwise, direct };
enum class Alltoallv { direct, pairwise };

enum class Operation {
  barrier,
  bcast,
  reduce,
  allreduce,
  scan,
  scan_and_bcast,
  reduce_scatter,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv
};

/// What a choice depends on.
struct Case {
  int ranks = 1;
  std::size_t bytes = 0;  ///< of one rank's vector, or of one block
  bool commutes = true;

  friend bool operator==(const Case&, const Case&) = default;
};

/// The place in the table of the algorithm named `name`, or of the cheapest if there is no name; throws an
/// Error that names `call` if it does not exist or is not allowed here. Names of algorithms that there once
/// were stand for what took their place.
int choose(World& world, Operation operation, const Case& of, std::string_view name, const char* call);

/// The largest number of ranks on which gatherv and scatterv are direct: as set, or by the costs in the
/// table.
int direct_ranks(World& world);

/// Of trees that messages go down, and of those that they come up: where ranks share cores, a parent sends to
/// few, but takes from as many as there are.
inline int down_radix_bits(const Machine& machine) {
  return machine.shares_cores ? 2 : 1;
}
inline int up_radix_bits(const Machine& machine) {
  return machine.shares_cores ? 5 : 1;
}
inline int down_radix_bits(const Channel& channel) {
  return down_radix_bits(channel.world().machine());
}
inline TreeRadixBits tree_radix_bits(const Channel& channel) {
  const Machine& machine = channel.world().machine();
  return {up_radix_bits(machine), down_radix_bits(machine)};
}

}  // namespace wisp::detail
