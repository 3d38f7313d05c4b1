#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/channel_collectives.hpp"
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

/// A number of a list that differs from none.
constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::min();

constexpr std::int64_t no_difference = std::numeric_limits<std::int64_t>::max();

/// The first entry in which two lists differ, with the rank: ordered by rank, then by entry.
std::int64_t first_difference(const std::vector<std::int64_t>& mine, const std::vector<std::int64_t>& root,
                              int rank, int width);
/// An entry, and behind it how many numbers its list has.
std::vector<std::int64_t> entry_and_size(const std::vector<std::int64_t>& list, std::int64_t entry,
                                         int width);

/// Compares lists of entries of `width` numbers, on a Channel or a Link. All ranks get the same answer: the
/// first rank that differs and its first entry that does. O(log p (α + nβ)).
///
/// Rank 0's list goes to all, the first difference is a minimum over (rank, entry), and what differs goes to
/// all.
template <class On>
Task<std::optional<Difference>> find_difference(On on, std::vector<std::int64_t> mine, int width) {
  auto root_size = static_cast<std::int64_t>(mine.size());
  co_await bcast_on(on, wisp::buffer_of(root_size), 0);
  std::vector<std::int64_t> root(as_size(root_size));
  if (on.rank() == 0) root = mine;
  if (root_size > 0) co_await bcast_on(on, Buffer(root), 0);

  const std::int64_t own = first_difference(mine, root, on.rank(), width);
  std::int64_t first = no_difference;
  co_await allreduce_on(on, wisp::buffer_of(own), wisp::buffer_of(first), MPI_MIN);
  if (first == no_difference) co_return std::nullopt;

  Difference found;
  found.rank = static_cast<int>(first >> 32);
  found.entry = first & 0xffffffff;
  if (found.rank < 0 || found.rank >= on.size()) co_return found;  // what came was no list
  std::vector<std::int64_t> theirs(as_size(width) + 1);
  if (on.rank() == found.rank) theirs = entry_and_size(mine, found.entry, width);
  co_await bcast_on(on, Buffer(theirs), found.rank);
  found.count = theirs.back() / width;
  found.root_count = root_size / width;
  if (found.entry < std::min(found.count, found.root_count)) {
    found.values.assign(theirs.begin(), theirs.end() - 1);
    found.root_values = entry_and_size(root, found.entry, width);
    found.root_values.pop_back();
  }
  co_return found;
}

/// Throws on every rank the error of the first rank that has one. O(log p α).
Task<> share_failure(Channel channel, std::optional<Error> mine);

}  // namespace wisp::detail
