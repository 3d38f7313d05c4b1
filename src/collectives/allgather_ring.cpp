// Allgather around the ring: every rank passes on the block that it got in the step before.
//
//   step s   r ─ block r-s ─► r+1        (p - 1) α + (p - 1) n β
//
// Nothing is packed or copied, and only neighbors talk: best for long or irregular blocks.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.1

#include "collectives/algorithms.hpp"
#include "collectives/ring.hpp"

namespace wisp::detail {

Task<> allgather_ring(Channel channel, ConstBuffer send, BlockList blocks) {
  const ConstBuffer own = is_in_place(send) ? ConstBuffer(blocks(channel.rank())) : send;
  co_await ring_allgather(channel, own, std::move(blocks));
}

}  // namespace wisp::detail
