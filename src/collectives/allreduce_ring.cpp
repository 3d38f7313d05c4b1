// Ring allreduce. The vector is cut into p segments; each travels once around the ring, joined with every
// rank's part of it, and once more to be copied.
//
//   step s   r ─ segment r-s ─► r+1, which joins it        2 (p - 1) α + 2nβ + nγ
//
// Any p without a message of the whole vector; operands meet in another order than that of the ranks.
// Source: Patarasuk, Yuan 2009

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"
#include "collectives/ring.hpp"
#include "pattern/segments.hpp"

namespace wisp::detail {

Task<> allreduce_ring(Channel channel, Reduction reduction) {
  const auto [send, receive, op, commutes] = reduction;
  const int size = channel.size();
  const int rank = channel.rank();
  const TypeLayout layout = TypeLayout::of(receive.type);
  const EvenSegments segments(receive.count, size);
  const auto segment = [=](int part) {
    return Buffer(element(receive.address, segments.begin(part), layout), segments.size(part), receive.type);
  };
  if (send.address != receive.address) {
    copy_elements(send.address, receive.address, send.count, send.type, layout);
  }
  const ScratchVector incoming(layout, segments.size(0));
  for (int step = 0; step < size - 1; ++step) {
    const Buffer joined = segment(ring_previous(rank, step + 1, size));
    Posts round;
    round.add(
        channel.post_receive({incoming.data(), joined.count, joined.type}, ring_previous(rank, 1, size)));
    round.add(channel.post_send(segment(ring_previous(rank, step, size)), ring_next(rank, 1, size)));
    co_await round;
    reduce_into_right(incoming.data(), joined.address, joined.count, joined.type, op);
  }
  // Rank r ends with the sum of segment r + 1.
  const auto owned = [=](int of) { return segment(ring_next(of, 1, size)); };
  co_await ring_allgather(channel, owned(rank), owned);
}

}  // namespace wisp::detail
