#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "wisp/channel.hpp"
#include "wisp/task.hpp"

namespace wisp {

/// Where a rank is in a sort.
struct SortProgress {
  /// "sort", "splitters", "exchange", "merge"; or "hypercube"; or "balance", "partition", "base cases"
  const char* phase;
  int level;               ///< of the recursion, from 0
  std::uint64_t elements;  ///< of the rank's group on a level of quicksort, else its own
};

struct SortOptions {
  /// "janus", "rquick" or "merge"; nothing: whichever is fastest. Read until the sort has ended, also of a
  /// Request or Task.
  std::string_view algorithm = {};
  /// Equal elements stay in the order of ranks, and in that of each rank. ("janus" and "rquick" cannot.)
  bool stable = false;

  /// How a level's elements find their new ranks. Greedy: few messages sent, any number received, as a rule
  /// few. Deterministic: at most eight sent and eight received, after an allgather of one number a rank.
  enum class Assignment { greedy, deterministic };
  Assignment assignment = Assignment::greedy;

  /// The pivot is the median of max(k1 log2 p, k2 n/p, k3) elements.
  double samples_per_log_ranks = 4;         ///< k1
  double samples_per_element = 1.0 / 1024;  ///< k2
  int fewest_samples = 16;                  ///< k3
  std::uint64_t seed = 1;

  /// Called on every rank as it goes on; other ranks wait for ever where it throws.
  std::function<void(const SortProgress&)> progress = {};

  /// How ranks first … last of a group become a group of their own, if not by `Channel::range`: to measure
  /// what other communicators cost.
  std::function<Task<Channel>(Channel group, int first, int last)> make_group = {};

  /// Samples for a pivot of `elements` elements on `ranks` ranks.
  std::uint64_t samples(std::uint64_t elements, int ranks) const;
};

}  // namespace wisp
