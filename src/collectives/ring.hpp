#pragma once

#include "collectives/block_list.hpp"
#include "pattern/dissemination.hpp"
#include "wisp/channel.hpp"
#include "wisp/posted.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Every rank has its own block at `own`; in each step it passes on what it got in the last one. The own
/// block is copied to its place while the first messages are on their way.
///
///   step s   r ─ block r-s ─► r+1        (p - 1) α + (p - 1) n β, and only neighbors talk
template <class BlocksOf>
Task<> ring_allgather(Channel channel, ConstBuffer own, BlocksOf blocks) {
  const int size = channel.size();
  const int rank = channel.rank();
  Posts sends;
  for (int step = 0; step < size - 1; ++step) {
    const ConstBuffer passed_on = step == 0 ? own : ConstBuffer(blocks(ring_previous(rank, step, size)));
    const Buffer expected = blocks(ring_previous(rank, step + 1, size));
    Posted receive;
    if (expected.count > 0) receive = channel.post_receive(expected, ring_previous(rank, 1, size));
    if (passed_on.count > 0) sends.add(channel.post_send(passed_on, ring_next(rank, 1, size)));
    if (step == 0) copy_block(own, blocks(rank));
    if (expected.count > 0) co_await receive;
  }
  if (size == 1) copy_block(own, blocks(rank));
  co_await sends;
}

}  // namespace wisp::detail
