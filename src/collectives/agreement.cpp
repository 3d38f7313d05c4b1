// Two ways to let all ranks hear of what one has found. Of lists: rank 0's list to all, the first difference
// by a minimum over (rank, entry), and what differs to all.

#include "collectives/agreement.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "transport/throw_error.hpp"
#include "wisp/buffer.hpp"
#include "wisp/detail/channel_collectives.hpp"

namespace wisp::detail {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

/// Orders differences by rank, then by entry.
std::int64_t first_difference(const std::vector<std::int64_t>& mine, const std::vector<std::int64_t>& root,
                              int rank, int width) {
  const auto [end, root_end] = std::mismatch(mine.begin(), mine.end(), root.begin(), root.end());
  if (end == mine.end() && root_end == root.end()) return none;
  return (std::int64_t{rank} << 32) + (end - mine.begin()) / width;
}

std::vector<std::int64_t> entry_of(const std::vector<std::int64_t>& list, std::int64_t entry, int width) {
  const auto first = static_cast<std::size_t>(entry * width);
  if (first >= list.size()) return {};
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + width};
}

}  // namespace

Task<std::optional<Difference>> find_difference(Channel channel, std::vector<std::int64_t> mine, int width) {
  auto root_size = static_cast<std::int64_t>(mine.size());
  co_await bcast_on(channel, buffer_of(root_size), 0);
  std::vector<std::int64_t> root(static_cast<std::size_t>(root_size));
  if (channel.rank() == 0) root = mine;
  if (root_size > 0) co_await bcast_on(channel, Buffer(root), 0);

  const std::int64_t own = first_difference(mine, root, channel.rank(), width);
  std::int64_t first = none;
  co_await allreduce_on(channel, buffer_of(own), buffer_of(first), MPI_MIN);
  if (first == none) co_return std::nullopt;

  Difference found;
  found.rank = static_cast<int>(first >> 32);
  found.entry = first & 0xffffffff;
  std::vector<std::int64_t> theirs(static_cast<std::size_t>(width) + 1);
  if (channel.rank() == found.rank) {
    theirs = entry_of(mine, found.entry, width);
    theirs.resize(static_cast<std::size_t>(width) + 1);
    theirs.back() = static_cast<std::int64_t>(mine.size());
  }
  co_await bcast_on(channel, Buffer(theirs), found.rank);
  found.count = theirs.back() / width;
  found.root_count = root_size / width;
  if (found.entry < std::min(found.count, found.root_count)) {
    found.values.assign(theirs.begin(), theirs.end() - 1);
    found.root_values = entry_of(root, found.entry, width);
  }
  co_return found;
}

Task<> share_failure(Channel channel, std::optional<Error> mine) {
  const int own = mine ? channel.rank() : std::numeric_limits<int>::max();
  int first = own;
  co_await allreduce_on(channel, buffer_of(own), buffer_of(first), MPI_MIN);
  if (first == std::numeric_limits<int>::max()) co_return;
  std::vector<int> head(2);
  std::string sentence;
  if (channel.rank() == first) {
    sentence = mine->what();
    head = std::vector<int>(2, mine->error_class());
    head[1] = static_cast<int>(sentence.size());
  }
  co_await bcast_on(channel, Buffer(head), first);
  sentence.resize(static_cast<std::size_t>(head[1]));
  co_await bcast_on(channel, Buffer(sentence), first);
  throw_error(head[0], "{} (on rank {})", sentence, first);
}

}  // namespace wisp::detail
