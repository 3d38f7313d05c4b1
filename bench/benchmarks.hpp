#pragma once

#include "harness.hpp"
#include "wisp/simulate.hpp"

namespace wisp::bench {

/// Each benchmark on the ranks of MPI_COMM_WORLD, and the same on a simulated cluster.
void bench_split(const Options& options);
/// The generalized split, by all of its algorithms.
void bench_split_by(const Options& options);
void bench_overlap(const Options& options);
void bench_temporaries(const Options& options);
void bench_range_bcast(const Options& options);
void bench_collective(const Options& options);
/// Every algorithm of a collective by name, beside the one that is chosen.
void bench_algorithms(const Options& options);
/// Measures how many times faster than MPI's each blocking collective is, for the preload, and writes it to a
/// file.
void tune(const std::string& file);
void bench_gatherv(const Options& options);
void bench_scatterv(const Options& options);
void bench_adjacent(const Options& options);
void bench_exchange(const Options& options);
void bench_neighborhood(const Options& options);
void bench_neighborhood_setup(const Options& options);
void bench_sort(const Options& options);
void bench_sort_strings(const Options& options);
/// Several threads of each rank at a time; needs MPI_THREAD_MULTIPLE.
void bench_threads(const Options& options);
/// With and without a trace; needs WISP_TRACE.
void bench_trace(const Options& options);
/// What a coroutine and a context add to the messages of a small broadcast: many calls in a row, the root
/// moving.
void bench_coroutine(const Options& options);

void simulate_split(const Options& options, const SimulationOptions& cluster);
void simulate_split_by(const Options& options, const SimulationOptions& cluster);
void simulate_overlap(const Options& options, const SimulationOptions& cluster);
void simulate_temporaries(const Options& options, const SimulationOptions& cluster);
void simulate_range_bcast(const Options& options, const SimulationOptions& cluster);
void simulate_collective(const Options& options, const SimulationOptions& cluster);
void simulate_gatherv(const Options& options, const SimulationOptions& cluster);
void simulate_scatterv(const Options& options, const SimulationOptions& cluster);
void simulate_adjacent(const Options& options, const SimulationOptions& cluster);
void simulate_exchange(const Options& options, const SimulationOptions& cluster);
void simulate_neighborhood(const Options& options, const SimulationOptions& cluster);
void simulate_sort(const Options& options, const SimulationOptions& cluster);
void simulate_sort_strings(const Options& options, const SimulationOptions& cluster);

}  // namespace wisp::bench
