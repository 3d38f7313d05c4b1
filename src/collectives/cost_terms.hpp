#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/reduction.hpp"
#include "pattern/tree_time.hpp"

namespace wisp::detail {

/// What a choice depends on: what all ranks know.
struct Case {
  int ranks = 1;
  std::size_t bytes = 0;  ///< of one rank's vector, or of one block
  OperatorKind kind = OperatorKind::commutative;
};

/// A case in the terms of the cost formulas.
struct Terms {
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
  double straight_depth;     ///< of cubes whose blocks reach the threshold together
  double straight_cubes;     ///< how many of them there are
  double straight_startups;  ///< their messages at the root, unless they hide behind the bytes on the wire

  Terms(const Case& of, const Machine& of_machine)
      : machine(of_machine),
        p(of.ranks),
        n(static_cast<double>(of.bytes)),
        others((p - 1) / p),
        log2(ceil_log2(of.ranks)),
        full_log2(std::bit_width(static_cast<unsigned>(of.ranks)) - 1),
        stream_pieces(circulant_pieces(machine, of.bytes, ceil_log2(of.ranks), of.bytes)),
        stream_rounds(std::max(log2 - 1, 0.0) + stream_pieces),
        extra((of.ranks & (of.ranks - 1)) == 0 ? 0 : 2),
        pieces(pipeline_pieces(machine, of.bytes, 2 * ceil_log2(of.ranks), of.bytes)),
        depth_4((ceil_log2(of.ranks) + 1) / 2),
        depth_32((ceil_log2(of.ranks) + 4) / 5),
        siblings_32(std::min(31, of.ranks - 1)) {
    const auto threshold = static_cast<double>(straight_threshold(machine));
    const double blocks = std::clamp(threshold / std::max(n, 1.0), 1.0, p);
    straight_depth = std::min(std::ceil(std::log2(blocks)), log2);
    straight_cubes = std::ceil(p / std::exp2(straight_depth));
    const double wire = std::exp2(straight_depth) * n * machine.seconds_per_byte;
    straight_startups =
        machine.shares_cores ? straight_cubes : straight_cubes * std::max(0.0, 1 - wire / machine.overhead);
  }

  // Seconds where every rank has a core of its own.

  /// So many dependent messages, and bytes on the path.
  double path(double messages, double bytes) const {
    return messages * machine.latency + bytes * machine.seconds_per_byte;
  }
  /// Vectors down and up a tree, and blocks.
  double down(int radix_bits) const {
    return TreeTime(machine, radix_bits, TreeTime::Load::vectors, n).down(static_cast<int>(p));
  }
  double up(int radix_bits) const {
    return TreeTime(machine, radix_bits, TreeTime::Load::vectors, n, 0.5).up(static_cast<int>(p));
  }
  double blocks_down(int radix_bits) const {
    return TreeTime(machine, radix_bits, TreeTime::Load::blocks, n).down(static_cast<int>(p));
  }
  double blocks_up(int radix_bits) const {
    return TreeTime(machine, radix_bits, TreeTime::Load::blocks, n).up(static_cast<int>(p));
  }
  /// Sums of doubling distances. On as many messages as the largest power of two below p needs nobody waits
  /// longer; one more may come at the end.
  double dissemination(double bytes_of_round) const {
    return path(full_log2, bytes_of_round * full_log2 * n) +
           (extra > 0 ? busy((bytes_of_round - 0.5) * n) : 0);
  }
  /// Up two trees and down again, with so many bytes on the path.
  double two_tree(double bytes) const { return path(2 * log2, bytes) + machine.overhead; }
  /// From one to all others, or from all to one.
  double fan(double bytes) const { return fan_seconds(machine, p - 1, bytes); }
  /// Of a rank with a message, and with bytes.
  double busy(double bytes) const { return machine.overhead + bytes * machine.seconds_per_byte; }
};

}  // namespace wisp::detail
