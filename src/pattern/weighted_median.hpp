#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wisp::detail {

/// The first place, in a sorted list with these weights, before and behind which there is at most half of all
/// weight; places without weight are never it. The number of places if there is no weight.
constexpr std::size_t weighted_median(std::span<const std::int64_t> weights) {
  std::int64_t total = 0;
  for (const std::int64_t weight : weights) total += weight;
  std::int64_t before = 0;
  for (std::size_t place = 0; place < weights.size(); ++place) {
    before += weights[place];
    if (weights[place] > 0 && 2 * before >= total) return place;
  }
  return weights.size();
}

}  // namespace wisp::detail
