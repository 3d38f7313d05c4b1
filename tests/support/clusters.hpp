#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pattern/cost_model.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

namespace wisp::test {

/// The node of each rank: in blocks, in turn, or at random.
inline std::vector<int> nodes_of(int ranks, int seed) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto random =
        detail::mix(static_cast<std::uint64_t>(seed) * 65536 + static_cast<std::uint64_t>(rank));
    if (seed % 4 == 1) nodes.push_back(rank / 4);
    if (seed % 4 == 2) nodes.push_back(rank % 3);
    if (seed % 4 == 3) nodes.push_back(static_cast<int>(random % 5));
    if (seed % 8 == 4) nodes.push_back(rank < 5 ? 0 : 1 + rank / 7);
  }
  return nodes;
}

/// What the messages of a cluster without nodes cost, as the choice of algorithms must see it.
inline detail::Machine machine_of(const SimulationOptions& cluster) {
  detail::Machine machine;
  machine.latency = cluster.latency + 2 * cluster.overhead;
  machine.overhead = cluster.overhead;
  machine.seconds_per_byte = 1 / cluster.bandwidth;
  return machine;
}

/// A cluster whose seed says what the network does, which ranks share nodes, and which family of algorithms
/// is chosen: seed 0 is prompt, and nobody shares a node.
inline SimulationOptions cluster_of(int ranks, int seed = 0) {
  SimulationOptions cluster;
  cluster.ranks = ranks;
  cluster.seed = static_cast<std::uint64_t>(seed);
  cluster.jitter = seed == 0 ? 0 : 20e-6;
  cluster.shares_cores = seed % 2 == 1;
  cluster.rendezvous = seed % 3 == 1;
  cluster.nodes = nodes_of(ranks, seed);
  return cluster;
}

/// What a program throws on a cluster; "none" if nothing.
inline std::string error_of(const SimulationOptions& cluster, const std::function<Task<>(Comm)>& program) {
  try {
    simulate(cluster, program);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}
inline std::string error_of(int ranks, const std::function<Task<>(Comm)>& program) {
  return error_of(cluster_of(ranks, 0), program);
}

}  // namespace wisp::test
