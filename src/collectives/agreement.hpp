#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/error.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Where the list of some rank differs from that of rank 0.
struct Difference {
  int rank = 0;
  std::int64_t entry = 0;
  std::int64_t count = 0;            ///< entries of that rank
  std::int64_t root_count = 0;       ///< entries of rank 0
  std::vector<std::int64_t> values;  ///< of the entry, if both have it
  std::vector<std::int64_t> root_values;
};

/// Compares lists of entries of `width` numbers. All ranks get the same answer: the first rank that differs
/// and its first entry that does. O(log p (α + nβ)).
Task<std::optional<Difference>> find_difference(Channel channel, std::vector<std::int64_t> mine, int width);

/// Throws on every rank the error of the first rank that has one. O(log p α).
Task<> share_failure(Channel channel, std::optional<Error> mine);

}  // namespace wisp::detail
