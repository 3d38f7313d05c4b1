// Two ways to let all ranks hear of what one has found.

#include "collectives/agreement.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "transport/throw_error.hpp"
#include "wisp/buffer.hpp"
#include "wisp/detail/channel_collectives.hpp"

namespace wisp::detail {

std::int64_t first_difference(const std::vector<std::int64_t>& mine, const std::vector<std::int64_t>& root,
                              int rank, int width) {
  const auto are_alike = [](std::int64_t one, std::int64_t other) {
    return one == other || one == any_number || other == any_number;
  };
  const auto [end, root_end] = std::mismatch(mine.begin(), mine.end(), root.begin(), root.end(), are_alike);
  if (end == mine.end() && root_end == root.end()) return no_difference;
  return (std::int64_t{rank} << 32) + (end - mine.begin()) / width;
}

std::vector<std::int64_t> entry_and_size(const std::vector<std::int64_t>& list, std::int64_t entry,
                                         int width) {
  std::vector<std::int64_t> numbers;
  const auto first = as_size(entry * width);
  if (first < list.size()) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    numbers.assign(begin, begin + width);
  }
  numbers.resize(as_size(width));
  numbers.push_back(static_cast<std::int64_t>(list.size()));
  return numbers;
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
  sentence.resize(as_size(head[1]));
  co_await bcast_on(channel, Buffer(sentence), first);
  throw_error(head[0], "{} (on rank {})", sentence, first);
}

}  // namespace wisp::detail
