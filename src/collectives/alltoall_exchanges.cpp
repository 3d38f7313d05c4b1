// All-to-all, each block a message of its own.
//
//   direct     everything is posted at once                         (p - 1) α + p n β, one step
//   pairwise   step s: send to r + s, receive from r - s            (p - 1) (α + nβ), never more than one on
//                                                                   its way to a rank
//
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.3

#include "collectives/algorithms.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> alltoall_direct(Channel channel, BlockList send, BlockList receive) {
  const int size = channel.size();
  const int rank = channel.rank();
  Posts round;
  for (int distance = 1; distance < size; ++distance) {
    const int source = ring_previous(rank, distance, size);
    if (receive.bytes(source) > 0) round.add(channel.post_receive(receive(source), source));
  }
  for (int distance = 1; distance < size; ++distance) {
    const int target = ring_next(rank, distance, size);
    if (send.bytes(target) > 0) round.add(channel.post_send(send(target), target));
  }
  copy_block(send(rank), receive(rank));
  co_await round;
}

Task<> alltoall_pairwise(Channel channel, BlockList send, BlockList receive) {
  const int size = channel.size();
  const int rank = channel.rank();
  copy_block(send(rank), receive(rank));
  for (int distance = 1; distance < size; ++distance) {
    const int source = ring_previous(rank, distance, size);
    const int target = ring_next(rank, distance, size);
    Posts round;
    if (receive.bytes(source) > 0) round.add(channel.post_receive(receive(source), source));
    if (send.bytes(target) > 0) round.add(channel.post_send(send(target), target));
    co_await round;
  }
}

}  // namespace wisp::detail
