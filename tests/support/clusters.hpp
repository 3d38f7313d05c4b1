#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

namespace wisp::test {

/// A cluster whose seed says what the network does and which family of algorithms is chosen: seed 0 is
/// prompt.
inline SimulationOptions cluster_of(int ranks, int seed = 0) {
  SimulationOptions cluster;
  cluster.ranks = ranks;
  cluster.seed = static_cast<std::uint64_t>(seed);
  cluster.jitter = seed == 0 ? 0 : 20e-6;
  cluster.shares_cores = seed % 2 == 1;
  cluster.rendezvous = seed % 3 == 1;
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
