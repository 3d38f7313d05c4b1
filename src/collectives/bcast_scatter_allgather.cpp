// Broadcast of long vectors: the root's vector is scattered down a binomial tree in p segments, which then go
// around the ring. Ranks count from the root.
//
//   0 1 2 3   ─ scatter ─►   0 | 1 | 2 | 3   ─ ring ─►   everything everywhere
//
// (⌈log2 p⌉ + p - 1) α + 2nβ. Source: van de Geijn 1994; Thakur, Rabenseifner, Gropp 2005, section 4.2

#include "collectives/algorithms.hpp"
#include "collectives/ring.hpp"
#include "pattern/knomial_tree.hpp"
#include "pattern/segments.hpp"

namespace wisp::detail {

Task<> bcast_scatter_allgather(Channel channel, Buffer buffer, int root) {
  const int size = channel.size();
  const KnomialTree tree(channel.rank(), size, root, 1);
  const TypeLayout layout = TypeLayout::of(buffer.type);
  const EvenSegments segments(buffer.count, size);
  const auto part = [=](int first, int count) {
    const std::size_t begin = segments.begin(first);
    return Buffer(element(buffer.address, begin, layout), segments.begin(first + count) - begin, buffer.type);
  };
  if (!tree.is_root()) {
    const Buffer mine = part(tree.relative(), tree.subtree_size());
    if (mine.count > 0) co_await channel.post_receive(mine, tree.parent());
  }
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    const Buffer theirs = part(tree.relative() + tree.child_offset(k), tree.child_subtree_size(k));
    if (theirs.count > 0) sends.add(channel.post_send(theirs, tree.child(k)));
  }
  const auto owned = [=](int rank) { return part(ring_previous(rank, root, size), 1); };
  co_await ring_allgather(channel, owned(channel.rank()), owned);
  co_await sends;
}

}  // namespace wisp::detail
