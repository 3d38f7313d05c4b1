#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/detail/sort/order.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Two ranks sort `mine` and the partner's elements: both send all they have, the left one keeps the
/// smallest, the right one the largest, as many as it had. α + n/p β + O(n/p log(n/p)).
///
/// Both select in the same sequence, the left rank's elements before the right one's, so that equal elements
/// fall to the same side on both. If the order has thrown on one of them, they select apart: then both keep
/// what they have. One α more, where it may.
template <class T, class Less>
Task<> sort_two_ranks(Channel pair, std::span<T> mine, Slot partner_count, std::span<T> sorted, Less less) {
  const bool is_left = pair.rank() == 0;
  const std::size_t own = mine.size();
  std::vector<T> all(own + partner_count);
  const std::span<T> own_part = std::span(all).subspan(is_left ? 0 : partner_count, own);
  const std::span<T> partner_part = std::span(all).subspan(is_left ? own : 0, partner_count);
  std::copy(mine.begin(), mine.end(), own_part.begin());
  Posts both;
  both.add(pair.post_receive({partner_part.data(), partner_part.size_bytes(), MPI_BYTE}, 1 - pair.rank()));
  both.add(pair.post_send({mine.data(), mine.size_bytes(), MPI_BYTE}, 1 - pair.rank()));
  co_await both;
  const std::size_t left_count = is_left ? own : partner_count;
  const auto border = all.begin() + static_cast<std::ptrdiff_t>(left_count);
  use_unguarded(less,
                [&](const auto& unguarded) { std::nth_element(all.begin(), border, all.end(), unguarded); });
  if constexpr (may_have_failed<Less>) {
    const char here = has_failed(less) ? 1 : 0;
    char there = 0;
    Posts answers;
    answers.add(pair.post_receive({&there, 1, MPI_BYTE}, 1 - pair.rank()));
    answers.add(pair.post_send({&here, 1, MPI_BYTE}, 1 - pair.rank()));
    co_await answers;
    if (here != 0 || there != 0) {
      std::copy(mine.begin(), mine.end(), sorted.begin());
      co_return;
    }
  }
  std::copy(own_part.begin(), own_part.end(), sorted.begin());
  local_sort<T>(sorted, less);
}

}  // namespace wisp::detail
