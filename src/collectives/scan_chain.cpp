// Prefix sums along the chain of ranks: each waits for the rank below, joins its own and tells the rank
// above.
//
//   0 ─► 1 ─► 2 ─► … ─► p-1        (p - 1) (α + nβ + nγ), p - 1 messages
//
// The fewest messages, and successive scans follow each other along the chain: best where ranks share cores.

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> scan_chain(Channel channel, Reduction given) {
  const Buffer& receive = given.receive;
  Partial partial(given.send, given.op, receive);
  if (channel.rank() > 0 && given.commutes() && given.send.address != receive.address) {
    // In any order, what comes may become the result where it is.
    co_await channel.post_receive(receive, channel.rank() - 1);
    partial.append(receive.address);
  } else if (channel.rank() > 0) {
    co_await channel.post_receive(partial.incoming(), channel.rank() - 1);
    partial.prepend_incoming();
  }
  partial.copy_to(receive.address);
  if (channel.rank() + 1 < channel.size()) co_await channel.post_send(receive, channel.rank() + 1);
}

Task<> exscan_chain(Channel channel, Reduction given) {
  const ConstBuffer& send = given.send;
  const Buffer& receive = given.receive;
  const bool is_last = channel.rank() + 1 == channel.size();
  if (channel.rank() == 0) {
    if (!is_last) co_await channel.post_send(send, 1);
    co_return;
  }
  Partial partial(send, given.op);
  if (send.address == receive.address && !is_last) partial.own();  // the result will lie there
  co_await channel.post_receive(receive, channel.rank() - 1);
  if (is_last) co_return;
  partial.prepend(receive.address);
  co_await channel.post_send(partial.value(), channel.rank() + 1);
}

}  // namespace wisp::detail
