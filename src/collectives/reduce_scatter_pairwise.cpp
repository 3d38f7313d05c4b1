// Reduce-scatter where every rank sends each other one the block that is theirs, and joins what it gets to
// its own block in rank order.
//
//   rank r   block 0 ─► 0   block 1 ─► 1   …        (p - 1) (α + nβ/p + nγ/p)
//
// The least data, and any operator. Source: Thakur, Rabenseifner, Gropp 2005, section 4.4

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {

Task<> reduce_scatter_pairwise(Channel channel, BlockList send, Buffer block, Operator op) {
  const int size = channel.size();
  const int rank = channel.rank();
  const ConstBuffer own = send(rank);
  const TypeLayout layout = TypeLayout::of(block.type);

  Posts sends;
  // From the next rank on, so that not all send to rank 0 at first.
  for (int ahead = 1; ahead < size; ++ahead) {
    const int target = (rank + ahead) % size;
    if (send.count(target) > 0) sends.add(channel.post_send(send(target), target));
  }
  if (block.count > 0) {
    ScratchVector sum(layout, block.count);
    ScratchVector incoming(layout, block.count);
    for (int source = 0; source < size; ++source) {
      ScratchVector& target = source == 0 ? sum : incoming;
      if (source == rank) {
        copy_elements(own.address, target.data(), block.count, block.type, layout);
      } else {
        co_await channel.post_receive({target.data(), block.count, block.type}, source);
      }
      if (source == 0) continue;
      op.apply(sum.data(), incoming.data(), block.count, block.type);
      sum.swap(incoming);
    }
    // In place, the block may lie among those that are being sent.
    co_await sends;
    copy_elements(sum.data(), block.address, block.count, block.type, layout);
  }
  co_await sends;
}

}  // namespace wisp::detail
