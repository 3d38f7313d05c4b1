// Dissemination barrier. Round k: every rank sends to the rank 2^k further on the ring and waits for the one
// 2^k before; what it has heard of doubles.
//
//   round 0   r ─► r+1        ⌈log2 p⌉ α
//   round 1   r ─► r+2        Source: Hensgen, Finkel, Manber 1988
//   round 2   r ─► r+4

#include "collectives/algorithms.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {

Task<> barrier_dissemination(Channel channel) {
  for (int distance = 1; distance < channel.size(); distance *= 2) {
    Posts round;
    round.add(channel.post_receive({}, ring_previous(channel.rank(), distance, channel.size())));
    round.add(channel.post_send({}, ring_next(channel.rank(), distance, channel.size())));
    co_await round;
  }
}

}  // namespace wisp::detail
