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
  // One at least, and what is no number is none.
  constexpr double most = 1 << 20;
  double count = 1;
  for (const double asked : {fewest, by_ranks, by_elements}) count = std::max(count, std::min(asked, most));
  return static_cast<std::uint64_t>(count);
}

}  // namespace wisp
