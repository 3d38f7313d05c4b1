// Allgather by doubling distances (Bruck). Before round k a rank holds the blocks of itself and the next
// 2^k - 1 ranks on the ring; it sends them to the rank 2^k before and appends those of the rank 2^k further.
//
//   rank r   [r]  ─►  [r r+1]  ─►  [r r+1 r+2 r+3]  ─► …      ⌈log2 p⌉ α + (p - 1) n β
//
// Source: Bruck et al. 1997; Axtmann et al. 2018, section V-D

#include <algorithm>

#include "collectives/algorithms.hpp"
#include "pattern/dissemination.hpp"
#include "transport/type_layout.hpp"

namespace wisp::detail {

Task<> allgather_dissemination(Channel channel, ConstBuffer send, Buffer receive) {
  const auto ranks = static_cast<std::size_t>(channel.size());
  const auto rank = static_cast<std::size_t>(channel.rank());
  const std::size_t count = receive.count / ranks;
  const TypeLayout layout = TypeLayout::of(receive.type);
  const std::size_t block = count * layout.size;

  const ScratchVector packed(ranks * block);
  if (is_in_place(send)) {
    pack({element(receive.address, rank * count, layout), count, receive.type}, layout, packed.data());
  } else {
    pack(send, TypeLayout::of(send.type), packed.data());
  }
  for (int distance = 1; distance < channel.size(); distance *= 2) {
    const auto held = static_cast<std::size_t>(distance);
    const std::size_t bytes = block * std::min(held, ranks - held);
    Posts round;
    round.add(channel.post_receive({packed.data() + held * block, bytes, MPI_PACKED},
                                   ring_next(channel.rank(), distance, channel.size())));
    round.add(channel.post_send({packed.data(), bytes, MPI_PACKED},
                                ring_previous(channel.rank(), distance, channel.size())));
    co_await round;
  }
  // The blocks begin with this rank's own.
  const std::size_t before_end = ranks - rank;
  unpack(packed.data(), {element(receive.address, rank * count, layout), before_end * count, receive.type},
         layout);
  unpack(packed.data() + before_end * block, {receive.address, rank * count, receive.type}, layout);
}

}  // namespace wisp::detail
