#pragma once

#include "harness.hpp"
#include "wisp/simulate.hpp"

namespace wisp::bench {

/// Each benchmark on the ranks of MPI_COMM_WORLD, and the same on a simulated cluster.
void bench_split(const Options& options);
void bench_collective(const Options& options);
void bench_sort(const Options& options);
/// What a coroutine adds to the messages of a small broadcast: many calls in a row, the root moving.
void bench_coroutine(const Options& options);

void simulate_split(const Options& options, const SimulationOptions& cluster);
void simulate_collective(const Options& options, const SimulationOptions& cluster);
void simulate_sort(const Options& options, const SimulationOptions& cluster);

}  // namespace wisp::bench
