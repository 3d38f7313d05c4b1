#pragma once

#include <cstddef>

#include "wisp/channel.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/sort_options.hpp"

namespace wisp::detail {

enum class SortAlgorithm { janus, rquick, merge };

/// What must be the same on all ranks, as a number: what chooses the algorithm, and what quicksort samples
/// by.
Slot way_of(const SortOptions& options);
Slot sampling_of(const SortOptions& options);

/// What `options` name (an error if there is no such algorithm), or else what takes the least time. No rank
/// has more than `most` elements.
SortAlgorithm choose_sort(const Channel& channel, Slot elements, Slot most, std::size_t element_bytes,
                          const SortOptions& options);

}  // namespace wisp::detail
