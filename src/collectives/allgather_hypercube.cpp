// Allgather by recursive doubling over a power of two ranks. Before round k a rank holds the 2^k blocks of
// its subcube, which follow each other; it exchanges them with those of the rank with bit k flipped.
//
//   0 ◄► 1   2 ◄► 3        round 0: 1 block
//   0 ◄──► 2  1 ◄──► 3     round 1: 2 blocks        log2 p α + (p - 1) n β, nothing is packed
//
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.1

#include "collectives/algorithms.hpp"

namespace wisp::detail {

Task<> allgather_hypercube(Channel channel, ConstBuffer send, Buffer receive) {
  const TypeLayout layout = TypeLayout::of(receive.type);
  const std::size_t count = receive.count / static_cast<std::size_t>(channel.size());
  const auto blocks = [&](int first, int size) {
    return Buffer(element(receive.address, static_cast<std::size_t>(first) * count, layout),
                  static_cast<std::size_t>(size) * count, receive.type);
  };
  const Buffer place = blocks(channel.rank(), 1);
  const ConstBuffer own = is_in_place(send) ? ConstBuffer(place) : send;
  if (channel.size() == 1) copy_block(own, place);
  for (int held = 1; held < channel.size(); held *= 2) {
    const int partner = channel.rank() ^ held;
    Posts round;
    round.add(channel.post_receive(blocks(partner / held * held, held), partner));
    const ConstBuffer mine = held == 1 ? own : ConstBuffer(blocks(channel.rank() / held * held, held));
    round.add(channel.post_send(mine, partner));
    if (held == 1) copy_block(own, place);  // while the messages are on their way
    co_await round;
  }
}

}  // namespace wisp::detail
