// Reduce-scatter over the circulant graph. Blocks count from the own one on around the ring; in each round a
// rank gives away the half of those that it holds, the further ones, and joins what it gets to the others.
//
//   p = 5, skips 1 2 3      rank r holds  r r+1 r+2 | r+3 r+4 ─► r+3      then  r r+1 | r+2 ─► r+2      …
//
// ⌈log2 p⌉ α + (p - 1)/p (nβ + nγ) for any p, n the whole vector; operands meet in another order than that of
// the ranks. Allreduce: an allgather follows; 2 ⌈log2 p⌉ α + 2nβ + nγ.
// Source: Träff, arXiv 2410.14234

#include "collectives/algorithms.hpp"
#include "collectives/circulant_blocks.hpp"
#include "collectives/reduction.hpp"
#include "pattern/circulant_graph.hpp"

namespace wisp::detail {

Task<> reduce_scatter_circulant(Channel channel, BlockList send, Buffer block, Operator op) {
  const int size = channel.size();
  const int rank = channel.rank();
  const CirculantGraph graph(size);
  const TypeLayout layout = TypeLayout::of(block.type);
  BlocksOnRing given(send, size);
  if (size == 1) {
    copy_elements(send(0).address, block.address, block.count, block.type, layout);
    co_return;
  }
  // Elements in the `blocks` blocks from the own one on.
  const auto elements = [&](int blocks) {
    std::size_t count = 0;
    given.for_each_part(rank, blocks, [&](const Buffer& part) { count += part.count; });
    return count;
  };
  const auto place = [&](const ScratchVector& vector, int blocks, int first = 0) {
    const std::size_t begin = elements(first);
    return Buffer(element(vector.data(), begin, layout), elements(blocks) - begin, block.type);
  };

  // The first round gives what is as the caller gave it, and what comes in becomes the sums.
  int k = graph.rounds() - 1;
  const int kept = graph.skip(k);
  const int joined = size - kept;
  const ScratchVector sums(layout, elements(kept));
  {
    Posts round;
    std::size_t begin = 0;
    given.for_each_part(rank, joined, [&](const Buffer& part) {  // as they are sent
      const Buffer to(element(sums.data(), begin, layout), part.count, part.type);
      if (bytes_of(to) > 0) round.add(channel.post_receive(to, graph.previous(rank, k)));
      begin += part.count;
    });
    given.post_sends(channel, rank + kept, joined, graph.next(rank, k), round);
    co_await round;
  }
  std::size_t done = 0;
  const std::size_t received = elements(joined);
  given.for_each_part(rank, kept, [&](const Buffer& part) {
    void* const to = element(sums.data(), done, layout);
    const std::size_t in_common = std::min(part.count, received - std::min(done, received));
    op.apply(part.address, to, in_common, part.type);
    if (in_common < part.count) {  // the middle one of an odd number of blocks came from nobody
      copy_elements(element(part.address, in_common, layout), element(to, in_common, layout),
                    part.count - in_common, part.type, layout);
    }
    done += part.count;
  });

  const ScratchVector incoming(layout, k > 0 ? elements(kept - graph.skip(k - 1)) : 0);
  while (--k >= 0) {
    const int first = graph.skip(k);
    const int end = graph.skip(k + 1);
    const Buffer gone = place(sums, end, first);
    const Buffer come = place(incoming, end - first);
    Posts round;
    if (bytes_of(come) > 0) round.add(channel.post_receive(come, graph.previous(rank, k)));
    if (bytes_of(gone) > 0) round.add(channel.post_send(gone, graph.next(rank, k)));
    co_await round;
    op.apply(incoming.data(), sums.data(), come.count, come.type);
  }
  copy_elements(sums.data(), block.address, block.count, block.type, layout);
}

Task<> allreduce_circulant(Channel channel, Reduction given) {
  const BlockList parts = BlockList::even(given.send, channel.size());
  const BlockList results = BlockList::even(given.receive, channel.size());
  co_await reduce_scatter_circulant(channel, parts, results(channel.rank()), std::move(given.op));
  co_await allgather_circulant(channel, in_place(), results);
}

}  // namespace wisp::detail
