#pragma once

#include "pattern/dissemination.hpp"
#include "wisp/channel.hpp"
#include "wisp/posted.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Every rank has its own block of `blocks(rank)`; in each step it passes on what it got in the last one.
///
///   step s   r ─ block r-s ─► r+1        (p - 1) α + (p - 1) n β, and only neighbors talk
template <class BlocksOf>
Task<> ring_allgather(Channel channel, BlocksOf blocks) {
  const int size = channel.size();
  const int rank = channel.rank();
  Posts sends;
  for (int step = 0; step < size - 1; ++step) {
    const Buffer passed_on = blocks(ring_previous(rank, step, size));
    const Buffer expected = blocks(ring_previous(rank, step + 1, size));
    Posted receive;
    if (expected.count > 0) receive = channel.post_receive(expected, ring_previous(rank, 1, size));
    if (passed_on.count > 0) sends.add(channel.post_send(passed_on, ring_next(rank, 1, size)));
    if (expected.count > 0) co_await receive;
  }
  co_await sends;
}

}  // namespace wisp::detail
