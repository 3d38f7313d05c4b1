#pragma once

#include <algorithm>
#include <cmath>

#include "pattern/cost_model.hpp"

namespace wisp::detail {

/// What a choice depends on: what all ranks know.
struct Case {
  int ranks = 1;
  std::size_t bytes = 0;  ///< of one rank's vector, or of one block
  bool commutes = true;
};

/// A case in the terms of the cost formulas.
struct Terms {
  double p;
  double n;              ///< bytes
  double others;         ///< the part of the ranks that are others: (p - 1) / p
  double log2;           ///< ⌈log2 p⌉
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

  Terms(const Case& of, const Machine& machine)
      : p(of.ranks),
        n(static_cast<double>(of.bytes)),
        others((p - 1) / p),
        log2(ceil_log2(of.ranks)),
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
};

}  // namespace wisp::detail
