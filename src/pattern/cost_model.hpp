#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pattern/log2.hpp"

namespace wisp::detail {

/// Which messages: between any ranks, between those of a node, or between one rank of each node.
enum class Level : std::uint8_t { all, inside, between };

/// How messages cost on a machine; the same on all ranks, so that all choose alike.
struct Machine {
  double latency = 1e-6;            ///< α: seconds from a rank to another
  double overhead = 0.25e-6;        ///< o: of them, those that a rank is busy with a message
  double seconds_per_byte = 1e-10;  ///< β
  /// For how much longer a rank is busy with a long message, which its receiver asks for; 0 on a simulated
  /// cluster.
  double rendezvous = 0;
  /// For how long it is busy with a block that it reads of in a bundle and takes to another; 0 likewise.
  double parcel_seconds = 0;
  bool is_one_host = false;   ///< all ranks are on it, and it is no simulated one
  bool shares_cores = false;  ///< some core runs more than one rank
  double ranks_per_core = 1;
  int direct_ranks = 0;  ///< the user's word on where gatherv and scatterv are direct; 0: by the costs
  /// The same inside a node, where that is known to be different.
  struct Inside {
    double latency = 0;
    double overhead = 0;
    double seconds_per_byte = 0;
  } inside;
  int ranks_on_node = 1;  ///< at most
  /// A byte is joined in half of the time that it takes to move it, and this: memory is as fast on the
  /// quicker way inside of a node as elsewhere.
  double joins_longer = 0;

  constexpr bool has_nodes() const { return inside.latency > 0; }
  /// Where this part of the messages leaves a node.
  constexpr Machine on_average(double leaving) const {
    if (!has_nodes()) return *this;
    Machine seen = *this;
    seen.latency = leaving * latency + (1 - leaving) * inside.latency;
    seen.overhead = leaving * overhead + (1 - leaving) * inside.overhead;
    seen.seconds_per_byte = leaving * seconds_per_byte + (1 - leaving) * inside.seconds_per_byte;
    return seen;
  }
  /// As the messages of a level see it.
  constexpr Machine at(Level level) const {
    Machine seen = *this;
    if (level != Level::all) seen.inside = {};
    if (level == Level::inside && has_nodes()) {
      seen.latency = inside.latency;
      seen.overhead = inside.overhead;
      seen.seconds_per_byte = inside.seconds_per_byte;
      seen.rendezvous = std::min(rendezvous, 2 * inside.latency);
      seen.joins_longer = 0.5 * (seconds_per_byte - inside.seconds_per_byte);
    }
    // One rank of each node at work has the node's cores for itself.
    if (level == Level::between) seen.ranks_per_core = std::max(1.0, ranks_per_core / ranks_on_node);
    return seen;
  }
};

/// Between nodes, where all their members are at work.
constexpr Machine between_members(const Machine& machine) {
  Machine seen = machine.at(Level::between);
  seen.ranks_per_core = machine.ranks_per_core;
  return seen;
}

/// Which of an algorithm's messages leave a node whose ranks follow each other.
enum class Traffic : std::uint8_t {
  spread,        ///< nearly all: most bytes go far
  rounds,        ///< those of the last of log p rounds with as many bytes each
  growing,       ///< those of the last of log p rounds, each with twice the bytes
  circulant,     ///< the same, where a half, a quarter … of the ranks are between partners
  tree,          ///< one for each node
  in_order_tree  ///< half of them go one rank far, a quarter two, …
};

/// What an algorithm does, for the busiest rank and in all.
struct Cost {
  double startups = 0;  ///< messages one after the other on the longest path, waited for or not
  double bytes = 0;     ///< on that path
  double steps = 0;     ///< of that path: messages that wait for one another
  double messages = 0;  ///< in all
  double volume = 0;    ///< bytes in all, those that are only copied half
  /// Seconds where every rank has a core of its own; without them, as time_of takes them from the above.
  double alone = -1;
  Traffic traffic = Traffic::spread;
  double seconds = -1;  ///< in any case, where it is made of others' times
};

inline Cost over_tree(Cost cost) {
  cost.traffic = Traffic::tree;
  return cost;
}
inline Cost over_tree_in_order(Cost cost) {
  cost.traffic = Traffic::in_order_tree;
  return cost;
}
inline Cost in_growing_rounds(Cost cost) {
  cost.traffic = Traffic::growing;
  return cost;
}
inline Cost over_circulant_graph(Cost cost) {
  cost.traffic = Traffic::circulant;
  return cost;
}
inline Cost in_rounds(Cost cost) {
  cost.traffic = Traffic::rounds;
  return cost;
}

/// With the messages of the longest path, and with all, as they are on average.
constexpr double time_on_shared_cores(const Cost& cost, const Machine& path, const Machine& all, int ranks) {
  const double longest = cost.startups * path.overhead + cost.bytes * path.seconds_per_byte;
  const double work = 2 * cost.messages * all.overhead + cost.volume * all.seconds_per_byte;
  return cost.steps * path.latency + std::max(longest, work * all.ranks_per_core / ranks);
}

/// Seconds. On cores of their own all ranks work at the same time, and the longest path counts. Where ranks
/// share cores, a step waits until the rank is given a core, and every message and byte takes somebody's
/// core: the busiest rank is at work as long as before, and the cores until all work is done.
constexpr double time_of(const Cost& cost, const Machine& machine, int ranks) {
  if (cost.seconds >= 0) return cost.seconds;
  if (!machine.shares_cores) {
    if (cost.alone >= 0) return cost.alone;
    return cost.steps * machine.latency + (cost.startups - cost.steps) * machine.overhead +
           cost.bytes * machine.seconds_per_byte;
  }
  return time_on_shared_cores(cost, machine, machine, ranks);
}

/// Seconds, where every rank has a core of its own, from one to so many others, or from these to one.
inline double fan_seconds(const Machine& machine, double messages, double bytes) {
  if (messages == 0) return 0;
  const double wire = bytes * machine.seconds_per_byte;
  return machine.latency + wire + (messages - 1) * std::max(machine.overhead, wire);
}

/// Bytes that a rank moves in the time in which it is busy with one message: fewer are worth to be sent
/// together, more are better sent straight to where they belong.
inline std::uint64_t straight_threshold(const Machine& machine) {
  const double bytes = machine.overhead / machine.seconds_per_byte;
  return static_cast<std::uint64_t>(std::clamp(bytes, 256.0, 1073741824.0));
}

/// Where ranks share cores, all have their turn between two steps in which everybody waits for others: this
/// takes so many times as long as one message between two ranks of a host that wait for nothing else.
constexpr double turns_of_all = 7;    ///< everybody waits for many
constexpr double turns_of_pairs = 4;  ///< for one

/// Such steps, in latencies.
inline double steps_of_all(const Machine& machine, double steps, double turns) {
  if (!machine.shares_cores || machine.ranks_per_core <= 1) return steps;
  constexpr double longest_in_host = 6e-6;  // more is the way to another host
  const double part_in_host = std::min(1.0, longest_in_host / machine.latency);
  return steps + std::max(0.0, steps - 1) * turns * machine.ranks_per_core * part_in_host;
}

constexpr std::size_t largest_eager = 4096;  ///< bytes of a message for which nobody asks

/// Of a message of a vector of so many bytes, whole or cut into pieces.
inline double rendezvous_of(const Machine& machine, std::size_t bytes) {
  return bytes > largest_eager ? machine.rendezvous : 0;
}
inline double piece_overhead(const Machine& machine, std::size_t bytes) {
  return machine.overhead + rendezvous_of(machine, bytes);
}

/// The best number of pieces, of which there is none where messages cost nothing, within what is possible.
inline int possible_pieces(double best, double least, std::size_t elements) {
  if (!(best > least)) return static_cast<int>(least);
  return static_cast<int>(std::max(least, std::min({best, static_cast<double>(elements), 4096.0})));
}

/// Into how many pieces a vector goes through a pipeline of `depth` steps, at least one for each of two
/// trees: (depth + k) (o + nβ/k) is least for k = √(depth · nβ/o).
inline int pipeline_pieces(const Machine& machine, std::size_t bytes, int depth, std::size_t elements) {
  const double best = std::sqrt(depth * static_cast<double>(bytes) * machine.seconds_per_byte /
                                piece_overhead(machine, bytes));
  return possible_pieces(best, 2, elements);
}

/// Into how many pieces a vector goes over the circulant graph. A rank sends and receives one in each round,
/// and rounds overlap: (rounds - 1) (α + nβ/k) + k (2o + nβ/k) is least for k = √((rounds - 1) · nβ/2o).
/// (Here and above, o is that of a piece.)
inline int circulant_pieces(const Machine& machine, std::size_t bytes, int rounds, std::size_t elements) {
  const double best = std::sqrt(std::max(rounds - 1, 0) * static_cast<double>(bytes) *
                                machine.seconds_per_byte / (2 * piece_overhead(machine, bytes)));
  return possible_pieces(best, 1, elements);
}

}  // namespace wisp::detail
