#include "wisp/sort_options.hpp"

#include <algorithm>
#include <cmath>

namespace wisp {

std::uint64_t SortOptions::samples(std::uint64_t elements, int ranks) const {
  // The deterministic assignment chooses again unless the pivot is near the median.
  const double fewest =
      assignment == Assignment::deterministic ? std::max(fewest_samples, 128) : fewest_samples;
  const double by_ranks = samples_per_log_ranks * std::log2(ranks);
  const double by_elements = samples_per_element * static_cast<double>(elements) / ranks;
  return static_cast<std::uint64_t>(std::max({fewest, by_ranks, by_elements}));
}

}  // namespace wisp
