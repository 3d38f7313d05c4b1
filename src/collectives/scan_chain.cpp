// Prefix sums along the chain of ranks: each waits for the rank below, joins its own and tells the rank
// above.
//
//   0 ─► 1 ─► 2 ─► … ─► p-1        (p - 1) (α + nβ + nγ), p - 1 messages
//
// The fewest messages, and successive scans follow each other along the chain: best where ranks share cores.

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {

Task<> scan_chain(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  Partial partial(send, op);
  if (channel.rank() > 0) {
    co_await channel.post_receive(partial.incoming(), channel.rank() - 1);
    partial.prepend_incoming();
  }
  partial.copy_to(receive.address);
  if (channel.rank() + 1 < channel.size()) co_await channel.post_send(receive, channel.rank() + 1);
}

Task<> exscan_chain(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  const bool is_last = channel.rank() + 1 == channel.size();
  Partial partial(send, op);
  if (channel.rank() == 0) {
    if (!is_last) co_await channel.post_send(send, 1);
    co_return;
  }
  co_await channel.post_receive(partial.incoming(), channel.rank() - 1);
  const Partial lower(partial.incoming(), op);
  if (!is_last) {
    partial.prepend_incoming();
    Posted sent = channel.post_send(partial.value(), channel.rank() + 1);
    lower.copy_to(receive.address);
    co_await sent;
  } else {
    lower.copy_to(receive.address);
  }
}

}  // namespace wisp::detail
