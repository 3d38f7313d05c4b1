#pragma once

#include <algorithm>
#include <cmath>

#include "pattern/cost_model.hpp"

namespace wisp::detail {

/// The ranks on their ring as a grid. A way of d ranks is the number d in the system of a radix, and is gone
/// digit by digit, the highest first. All ranks see the same grid around them, so it fits any number of them:
///
///   radix 3, way 7 = 21:   r ──2·3──► r + 6 ──1·1──► r + 7
///
/// In a level, a rank sends one message for each digit but 0: (radix - 1) log_radix p in all.
class RadixGrid {
 public:
  constexpr RadixGrid(int ranks, int radix) : ranks_(ranks), radix_(radix) {
    for (std::int64_t step = 1; step < ranks; step *= radix) ++levels_;
  }
  /// The smallest radix with which ways have at most so many digits.
  static RadixGrid of_dimensions(int ranks, int dimensions) {
    const double root = std::pow(ranks, 1.0 / dimensions);
    const int guess = std::max(2, static_cast<int>(root) - 1);
    for (int radix = guess;; ++radix) {
      if (RadixGrid(ranks, radix).levels() <= dimensions) return {ranks, radix};
    }
  }

  constexpr int ranks() const { return ranks_; }
  constexpr int radix() const { return radix_; }
  constexpr int levels() const { return levels_; }
  /// Of a digit 1 in this level.
  constexpr int step(int level) const {
    int step = 1;
    for (int i = 0; i < level; ++i) step *= radix_;
    return step;
  }
  constexpr int digit(int way, int level) const { return way / step(level) % radix_; }
  /// Digits that there are: 0 … digits - 1.
  constexpr int digits(int level) const { return 1 + std::min(radix_ - 1, (ranks_ - 1) / step(level)); }
  /// Whether a way ends with this digit.
  constexpr bool ends(int way, int level) const { return way % step(level) == 0; }
  /// Of the ways 0 … ranks - 1, those that go further in this level.
  constexpr int moved(int level) const {
    const int one = step(level);
    const std::int64_t period = static_cast<std::int64_t>(one) * radix_;
    const int rest = static_cast<int>(ranks_ % period);
    return ranks_ - static_cast<int>(ranks_ / period) * one - std::min(rest, one);
  }

 private:
  int ranks_;
  int radix_;
  int levels_ = 0;
};

/// Seconds, where every rank has a core of its own, in which so many ranks send each other so many messages
/// of some bytes at once: a rank is busy with each that it sends and receives, its port with the bytes.
inline double exchange_seconds(const Machine& machine, double messages, double bytes) {
  return std::max(fan_seconds(machine, messages, bytes), 2 * messages * machine.overhead);
}

/// Bytes of a block, where not all ranks know how large it is; larger ones go straight.
constexpr double typical_block = 64;

/// What it costs to send every rank a block over a grid.
inline Cost cost_of_grid(const RadixGrid& grid, const Machine& machine, double block_bytes) {
  Cost cost{.alone = 0};
  double moved = 0;
  for (int level = 0; level < grid.levels(); ++level) {
    const double messages = grid.digits(level) - 1;
    const double bytes = grid.moved(level) * block_bytes;
    cost.startups += messages;
    cost.bytes += bytes;
    moved += grid.moved(level);
    cost.alone += exchange_seconds(machine, messages, bytes / messages);
  }
  cost.steps = steps_of_all(machine, grid.levels(), turns_of_all);
  const double parcel_of_message = std::min(1.0 / 8, machine.parcel_seconds / (2 * machine.overhead));
  cost.messages = (cost.startups + parcel_of_message * moved) * grid.ranks();
  cost.volume = 2 * cost.bytes * grid.ranks();  // packed and unpacked on the way
  return cost;
}

/// The grid on which that is cheapest. Of one dimension is what is sent without a grid.
inline RadixGrid cheapest_grid(int ranks, const Machine& machine, double block_bytes,
                               int least_dimensions = 2) {
  RadixGrid cheapest(ranks, 2);
  double least = -1;
  const int most = std::max(least_dimensions, ceil_log2(ranks));
  for (int dimensions = least_dimensions; dimensions <= most; ++dimensions) {
    const RadixGrid grid = RadixGrid::of_dimensions(ranks, dimensions);
    const double seconds = time_of(cost_of_grid(grid, machine, block_bytes), machine, ranks);
    if (least >= 0 && seconds >= least) continue;
    cheapest = grid;
    least = seconds;
  }
  return cheapest;
}

/// A block of so many bytes is better sent straight: each level costs its bytes once, and a message of its
/// own hides behind them once they take longer.
inline std::size_t straight_bytes(int levels, const Machine& machine) {
  return static_cast<std::size_t>(2 * straight_threshold(machine)) /
         static_cast<std::size_t>(std::max(1, levels));
}

}  // namespace wisp::detail
