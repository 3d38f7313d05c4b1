// Allgather over the circulant graph, straight to where the blocks belong. What a rank holds, from its own
// block on around the ring, doubles in each round, but for the last.
//
//   p = 5, skips 1 2 3      rank r   [r] ─► r-1     [r r+1] ─► r-2, one block of them     …
//
// ⌈log2 p⌉ α + (p - 1) nβ for any p; what passes the last rank takes a message more. Blocks may differ in
// size, for all ranks know all sizes. Source: Träff, arXiv 2410.14234; Bruck et al. 1997

#include "collectives/algorithms.hpp"
#include "collectives/circulant_blocks.hpp"
#include "pattern/circulant_graph.hpp"

namespace wisp::detail {

Task<> allgather_circulant(Channel channel, ConstBuffer send, BlockList blocks) {
  const int size = channel.size();
  const int rank = channel.rank();
  const CirculantGraph graph(size);
  BlocksOnRing ring(blocks, size);
  const Buffer place = blocks(rank);
  if (size == 1 && !is_in_place(send)) copy_block(send, place);
  for (int k = 0; k < graph.rounds(); ++k) {
    const int moved = graph.skip(k + 1) - graph.skip(k);
    Posts round;
    ring.post_receives(channel, rank + graph.skip(k), moved, graph.next(rank, k), round);
    if (k == 0 && !is_in_place(send)) {
      if (bytes_of(send) > 0) round.add(channel.post_send(send, graph.previous(rank, k)));
      copy_block(send, place);  // while the messages are on their way
    } else {
      ring.post_sends(channel, rank, moved, graph.previous(rank, k), round);
    }
    co_await round;
  }
}

}  // namespace wisp::detail
