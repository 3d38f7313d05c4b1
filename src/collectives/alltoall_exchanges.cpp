// All-to-all in three ways.
//
//   direct     everything is posted at once                         (p - 1) α + p n β, one step
//   pairwise   step s: send to r + s, receive from r - s            (p - 1) (α + nβ), never more than one on
//                                                                   its way to a rank
//   Bruck      round k: pass on, by 2^k ranks, all blocks whose     ⌈log2 p⌉ (α + nβ p/2), for small blocks
//              way has bit k
//
// Source: Bruck et al. 1997; Thakur, Rabenseifner, Gropp 2005, section 4.3

#include "collectives/algorithms.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {

Task<> alltoall_direct(Channel channel, BlockList send, BlockList receive) {
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

Task<> alltoall_bruck(Channel channel, BlockList send, BlockList receive) {
  const int size = channel.size();
  const int rank = channel.rank();
  const std::size_t block = send.bytes(0);
  // Place d holds what is still to go d ranks further.
  const ScratchVector travelling(block * as_size(size));
  const auto place = [&](int distance) { return travelling.data() + block * as_size(distance); };
  for (int distance = 0; distance < size; ++distance) {
    pack(send(ring_next(rank, distance, size)), send.layout(0), place(distance));
  }
  const ScratchVector outgoing(block * as_size(size / 2 + 1));
  const ScratchVector incoming(block * as_size(size / 2 + 1));
  for (int step = 1; step < size; step *= 2) {
    std::size_t bytes = 0;
    for (int distance = step; distance < size; ++distance) {
      if ((distance & step) == 0) continue;
      std::copy_n(place(distance), block, outgoing.data() + bytes);
      bytes += block;
    }
    Posts round;
    round.add(channel.post_receive({incoming.data(), bytes, MPI_PACKED}, ring_previous(rank, step, size)));
    round.add(channel.post_send({outgoing.data(), bytes, MPI_PACKED}, ring_next(rank, step, size)));
    co_await round;
    bytes = 0;
    for (int distance = step; distance < size; ++distance) {
      if ((distance & step) == 0) continue;
      std::copy_n(incoming.data() + bytes, block, place(distance));
      bytes += block;
    }
  }
  for (int distance = 0; distance < size; ++distance) {
    const int source = ring_previous(rank, distance, size);
    unpack(place(distance), receive(source), receive.layout(source));
  }
}

}  // namespace wisp::detail
