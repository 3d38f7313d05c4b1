#include "wisp/detail/sort/choice.hpp"

#include <bit>

#include "collectives/collective.hpp"
#include "pattern/radix_grid.hpp"
#include "transport/throw_error.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/detail/sort/splitters.hpp"

namespace wisp::detail {
namespace {

/// What a rank does with each element on a level of quicksort, where it is partitioned and moved, beyond what
/// a merge does; and in a base case of two ranks, where it is selected.
constexpr double seconds_of_level = 3e-9;
constexpr double seconds_of_selection = 8e-9;
/// To prepare samples or pieces, and to decide.
constexpr double seconds_of_round = 4e-6;

/// A level takes samples up a tree, a pivot down, sums up and down, and an exchange.
double seconds_of_janus(const Machine& machine, int ranks, double of_rank) {
  const double latencies_of_tree_level = machine.shares_cores ? 12 : 6;
  const double work = machine.ranks_per_core * of_rank;
  double seconds = machine.latency + seconds_of_selection * work;
  for (int levels = ceil_log2(ranks); levels > 1; --levels)
    seconds += latencies_of_tree_level * levels * machine.latency + seconds_of_level * work;
  return seconds;
}

/// Windows go up all dimensions of each cube, and half the elements along one.
double seconds_of_rquick(const Machine& machine, int ranks, double of_rank, std::size_t element_bytes) {
  const double dimensions = ceil_log2(ranks);
  const double messages = dimensions * (dimensions + 9) / 2 + 2;
  const double latencies_of_message = machine.shares_cores ? 2 : 1;
  const double bytes = of_rank * static_cast<double>(element_bytes) / 2;
  const double moved =
      machine.ranks_per_core * 2 * of_rank * seconds_of_level + bytes * machine.seconds_per_byte;
  return messages * latencies_of_message * machine.latency + 2 * dimensions * moved;
}

double seconds_of_merge(const Machine& machine, int ranks, double of_rank, Slot most,
                        std::size_t element_bytes) {
  const Slot samples = samples_for_border(most, element_bytes);
  int rounds = 1;
  for (Slot left = most; left > samples && samples > 2; left = 2 * left / samples) ++rounds;
  const std::size_t block = sizeof(OpenRange) + samples * element_bytes;
  const std::size_t decision = 2 * element_bytes + 8 * sizeof(Slot);
  const double of_round = least_seconds(alltoall_row, {ranks, block}, machine) +
                          least_seconds(allgather_row, {ranks, decision}, machine);
  const double piece = of_rank * static_cast<double>(element_bytes) / ranks;
  // Where cores are shared, operations of few bytes that follow each other overlap.
  const double overlap = machine.shares_cores && rounds == 1 ? 0.6 : 1;
  return overlap * rounds * (of_round + seconds_of_round) + seconds_of_round +
         least_seconds(alltoall_row, {ranks, sizeof(Slot)}, machine) +
         exchange_seconds(machine, std::min(ranks - 1.0, of_rank), piece);
}

}  // namespace

Slot way_of(const SortOptions& options) {
  Slot number =
      (options.stable ? 1 : 0) + (options.make_group ? 2 : 0) + 4 * static_cast<Slot>(options.assignment);
  for (const char letter : options.algorithm) number = mix(number ^ static_cast<unsigned char>(letter));
  return number;
}

Slot sampling_of(const SortOptions& options) {
  // Odd factors: what differs in one of them differs.
  return options.seed + 0x9e3779b97f4a7c15U * std::bit_cast<Slot>(options.samples_per_log_ranks) +
         0xc2b2ae3d27d4eb4fU * std::bit_cast<Slot>(options.samples_per_element) +
         0x165667b19e3779f9U * static_cast<Slot>(options.fewest_samples);
}

SortAlgorithm choose_sort(const Channel& channel, Slot elements, Slot most, std::size_t element_bytes,
                          const SortOptions& options) {
  const std::string_view name = options.algorithm;
  if (options.stable && !name.empty() && name != "merge") {
    throw_error(MPI_ERR_ARG, "wisp::sort: algorithm = {} is not stable; only merge is", name);
  }
  if (options.stable || name == "merge") return SortAlgorithm::merge;
  if (name == "janus") return SortAlgorithm::janus;
  if (name == "rquick") return SortAlgorithm::rquick;
  if (!name.empty()) {
    throw_error(MPI_ERR_ARG, "wisp::sort: algorithm = {} is not one of janus, rquick, merge", name);
  }
  if (options.make_group || options.assignment == SortOptions::Assignment::deterministic)
    return SortAlgorithm::janus;
  const int ranks = channel.size();
  const double of_rank = static_cast<double>(elements) / ranks;
  // Few ranks are done with few elements before the rest is computed.
  constexpr double fewest_of_pair = 768;
  constexpr int fewest_ranks = 5;
  if (ranks == 1) return SortAlgorithm::merge;
  if (ranks == 2 && of_rank < fewest_of_pair) return SortAlgorithm::janus;
  if (ranks < fewest_ranks && of_rank <= 1) return SortAlgorithm::janus;
  const Machine& machine = channel.machine();
  const double merge = seconds_of_merge(machine, ranks, of_rank, most, element_bytes);
  const double janus = seconds_of_janus(machine, ranks, of_rank);
  const double rquick = seconds_of_rquick(machine, ranks, of_rank, element_bytes);
  if (rquick < std::min(merge, janus)) return SortAlgorithm::rquick;
  return merge < janus ? SortAlgorithm::merge : SortAlgorithm::janus;
}

}  // namespace wisp::detail
