#pragma once

#include <algorithm>
#include <cmath>

#include "collectives/reduction.hpp"
#include "comm/group_nodes.hpp"
#include "pattern/tree_time.hpp"

namespace wisp::detail {

/// What a choice depends on: what all ranks know.
struct Case {
  int ranks = 1;
  std::size_t bytes = 0;  ///< of one rank's vector, or of one block
  OperatorKind kind = OperatorKind::commutative;
  NodeShape nodes = {};
  Level level = Level::all;
  /// Whether messages that come together end together: so between nodes, once it is settled that one rank of
  /// each takes part. (What it is compared with would take longer for the same reason.)
  bool shares_port = false;
  int lanes = 1;  ///< groups of one rank of each node that do the same at one time

  /// Whether some ranks share a node, and not all.
  bool has_nodes() const { return nodes.nodes > 1 && nodes.most > 1; }
  /// The same of the ranks of a node, or of one of each.
  Case inside(std::size_t n) const { return {nodes.most, n, kind, {}, Level::inside}; }
  Case between(std::size_t n) const { return {nodes.nodes, n, kind, {}, Level::between}; }
  /// Of all members of nodes with as many ranks each.
  Case lane(std::size_t n) const { return {nodes.nodes, n, kind, {}, Level::between, false, nodes.most}; }
};

/// Whether only the rounds with the fewest bytes leave a node.
inline bool leaves_with_few(const Case& of, Traffic traffic) {
  return traffic == Traffic::growing ? of.nodes.is_binary_turn()
                                     : traffic == Traffic::circulant && of.nodes.is_halving_turn();
}

/// Of the rounds of doubling distances, those in which nobody, or once somebody, leaves a node.
inline double rounds_on_node(const Case& of) {
  if (!of.has_nodes()) return 0;
  if (of.nodes.in_order) return std::max(0, ceil_log2(of.nodes.most + 1) - 2);
  return of.nodes.is_binary_turn() ? ceil_log2(of.ranks) - ceil_log2(of.nodes.nodes) : 0;
}

/// What comes down two trees.
enum class Down : std::uint8_t { prefixes, total };

struct Collective;
struct Terms;
/// Seconds of the cheapest algorithm.
double least_seconds(const Collective& row, const Case& of, const Machine& machine);

/// A case in the terms of the cost formulas.
struct Terms {
  const Case& of;
  const Machine& machine;
  double p;
  double n;              ///< bytes
  double others;         ///< the part of the ranks that are others: (p - 1) / p
  double log2;           ///< ⌈log2 p⌉
  double full_log2;      ///< ⌊log2 p⌋
  double stream_pieces;  ///< of a pipeline over the circulant graph
  double stream_rounds;
  double extra;    ///< 2 if p is no power of two: messages to and from those that are spoken for
  double pieces;   ///< of a pipeline
  double depth_4;  ///< of trees of this radix
  double depth_32;
  double siblings_32;
  double near_rounds;     ///< of doubling distances: those in which nobody, or once somebody, leaves a node
  double straight_depth;  ///< of cubes whose blocks reach the threshold together
  double straight_cubes;  ///< how many of them there are
  double straight_startups;  ///< their messages at the root, unless they hide behind the bytes on the wire

  Terms(const Case& a_case, const Machine& of_machine)
      : of(a_case),
        machine(of_machine),
        p(of.ranks),
        n(static_cast<double>(of.bytes)),
        others((p - 1) / p),
        log2(ceil_log2(of.ranks)),
        full_log2(floor_log2(of.ranks)),
        stream_pieces(circulant_pieces(machine, of.bytes, ceil_log2(of.ranks), of.bytes)),
        stream_rounds(std::max(log2 - 1, 0.0) + stream_pieces),
        extra((of.ranks & (of.ranks - 1)) == 0 ? 0 : 2),
        pieces(pipeline_pieces(machine, of.bytes, 2 * ceil_log2(of.ranks), of.bytes)),
        depth_4(std::ceil(log2 / 2)),
        depth_32(std::ceil(log2 / 5)),
        siblings_32(std::min(31, of.ranks - 1)),
        near_rounds(rounds_on_node(of)) {
    const auto threshold = static_cast<double>(straight_threshold(machine));
    const double blocks = std::clamp(threshold / std::max(n, 1.0), 1.0, p);
    straight_depth = std::min(std::ceil(std::log2(blocks)), log2);
    straight_cubes = std::ceil(p / std::exp2(straight_depth));
    const double wire = std::exp2(straight_depth) * n * machine.seconds_per_byte;
    straight_startups =
        machine.shares_cores ? straight_cubes : straight_cubes * std::max(0.0, 1 - wire / machine.overhead);
  }

  /// In pieces over the circulant graph, so many bytes for each of the vector.
  Cost stream(double bytes_of_byte) const {
    Cost cost{log2 + 2 * (stream_pieces - 1), bytes_of_byte * stream_rounds * n / stream_pieces, log2,
              (p - 1) * stream_pieces, bytes_of_byte * (p - 1) * n};
    if (machine.shares_cores) {
      cost.steps += turns_in_pairs(log2 + stream_pieces - 1);
    } else {
      cost.alone = time_of(cost, machine, of.ranks) + rendezvous(2 * (stream_pieces - 1)) +
                   2 * (bytes_of_byte - 1) * stream_rounds * n / stream_pieces * machine.joins_longer;
    }
    return cost;
  }

  // On shared cores.

  /// Steps in each of which everybody waits for one other; beyond those whose latencies are counted, turns.
  double steps_in_pairs(double steps) const { return steps_of_all(machine, steps, turns_of_pairs); }
  double turns_in_pairs(double steps) const { return steps_in_pairs(steps) - steps; }

  // Seconds where every rank has a core of its own.

  /// So many dependent messages, and bytes on the path.
  double path(double messages, double bytes) const {
    return messages * machine.latency + bytes * machine.seconds_per_byte;
  }
  /// Vectors down and up a tree, and blocks.
  double down(int radix_bits) const { return tree(radix_bits, TreeTime::Load::vectors).down(of.ranks); }
  double up(int radix_bits) const { return tree(radix_bits, TreeTime::Load::vectors, 0.5).up(of.ranks); }
  double blocks_down(int radix_bits) const { return tree(radix_bits, TreeTime::Load::blocks).down(of.ranks); }
  double blocks_up(int radix_bits) const { return tree(radix_bits, TreeTime::Load::blocks).up(of.ranks); }
  TreeTime tree(int radix_bits, TreeTime::Load load, double joining = 0) const {
    // Subtrees that are aligned to nodes; of others some ranks are elsewhere.
    const int most = of.nodes.in_order && of.has_nodes() ? of.nodes.most : 1;
    const bool are_shared = of.shares_port && load == TreeTime::Load::blocks;
    const auto ports = are_shared ? TreeTime::Ports::shared : TreeTime::Ports::own;
    return {machine, radix_bits, load, n, joining, most & -most, ports};
  }
  /// Of two levels: the cheapest among the ranks of a node, and among one of each, with so many bytes.
  double inside(const Collective& row, double bytes) const {
    return least_seconds(row, of.inside(static_cast<std::size_t>(bytes)), machine.at(Level::inside));
  }
  double between(const Collective& row, double bytes) const {
    return least_seconds(row, of.between(static_cast<std::size_t>(bytes)), machine.at(Level::between));
  }
  /// The same in rounds of doubling distances, with these bytes in each.
  double rounds(double messages, double bytes) const {
    const double near = std::min(near_rounds, messages);
    const Machine inside = machine.at(Level::inside);
    return path(messages - near, (messages - near) * bytes) +
           near * (inside.latency + bytes * inside.seconds_per_byte +
                   2 * std::max(0.0, bytes - n) * inside.joins_longer) +
           (messages - near) * 2 * std::max(0.0, bytes - n) * machine.joins_longer;
  }
  /// The same with twice the bytes in each round, and so many in all.
  double growing_rounds(double messages, double bytes, Traffic traffic) const {
    const double leaving = leaves_with_few(of, traffic) ? of.nodes.nodes / p : 1;
    return rounds(messages, 0) + bytes * (leaving * machine.seconds_per_byte +
                                          (1 - leaving) * machine.at(Level::inside).seconds_per_byte);
  }
  /// Where partners differ in one bit of their ranks, the last of those leaves no node either.
  double exchanges(double messages, double bytes) const {
    const bool is_aligned =
        of.has_nodes() && of.nodes.in_order && of.nodes.is_even && (of.nodes.most & (of.nodes.most - 1)) == 0;
    return rounds(messages, bytes) - (is_aligned ? machine.latency - machine.at(Level::inside).latency : 0);
  }
  /// Sums of doubling distances. On as many messages as the largest power of two below p needs nobody waits
  /// longer; one more may come at the end.
  double dissemination(double bytes_of_round) const {
    return rounds(full_log2, bytes_of_round * n) + (extra > 0 ? busy((bytes_of_round - 0.5) * n) : 0) +
           rendezvous(full_log2);
  }
  /// Messages on the way up and down the higher of the two trees.
  double two_tree_steps(Down down) const {
    if (of.ranks <= 2) return down == Down::total ? 2 * log2 : log2;
    int most = 0;
    for (const int nodes : {of.ranks, of.ranks + 1}) {
      const int height = floor_log2(nodes);
      const int right = nodes - (1 << height);
      // What is before a subtree is known as soon as all to its left have reported: nobody waits for the
      // root.
      const int prefixes = std::max(2 * height - 2, height + (right > 0 ? 1 + floor_log2(right) : 0));
      most = std::max(most, down == Down::total ? 2 * height : prefixes);
    }
    return most;
  }
  /// Up two trees and down again, with so many bytes on the path.
  double two_tree(double bytes, Down down) const {
    // Real memory does not copy what comes and what goes in the time of one of them.
    const double both_ways = machine.rendezvous > 0 ? others * n : 0;
    const double steps = two_tree_steps(down);
    return path(steps, bytes + both_ways) + (1 + 0.5 * steps) * machine.overhead + rendezvous(2 * pieces) +
           2 * n * machine.joins_longer;
  }
  /// For how much longer these messages of the vector take, where it is long.
  double rendezvous(double messages) const { return messages * rendezvous_of(machine, of.bytes); }
  /// From one to all others, or from all to one.
  double fan(double bytes) const { return fan_seconds(machine, p - 1, bytes); }
  /// The same, where some of these are on the node of the one.
  double fan_of_nodes(double bytes) const {
    if (!of.has_nodes()) return fan(bytes);
    const Machine inside = machine.at(Level::inside);
    const double far = bytes * machine.seconds_per_byte;
    const double near = bytes * inside.seconds_per_byte;
    const double others_far = p - of.nodes.most;
    return std::max(machine.latency + others_far * far +
                        std::max(0.0, (p - 2) * machine.overhead - (others_far - 1) * far),
                    inside.latency + (of.nodes.most - 1) * near);
  }
  /// To one from all others.
  double fan_in(double bytes) const {
    return of.shares_port ? machine.latency + (p - 1) * busy(bytes) : fan_of_nodes(bytes);
  }
  /// Of a rank with a message, and with bytes.
  double busy(double bytes) const { return machine.overhead + bytes * machine.seconds_per_byte; }
};

}  // namespace wisp::detail
