// Broadcast of long vectors: the root's vector is scattered down a binomial tree in p segments, which then go
// around the ring. Ranks count from the root.
//
//   0 1 2 3   ─ scatter ─►   0 | 1 | 2 | 3   ─ ring ─►   everything everywhere
//
// (⌈log2 p⌉ + p - 1) α + 2nβ. Source: van de Geijn 1994; Thakur, Rabenseifner, Gropp 2005, section 4.2

#include "collectives/algorithms.hpp"
#include "collectives/ring.hpp"
#include "collectives/signature_bytes.hpp"
#include "pattern/knomial_tree.hpp"

namespace wisp::detail {

Task<> bcast_scatter_allgather(Channel channel, Buffer buffer, int root) {
  const int size = channel.size();
  const KnomialTree tree(channel.rank(), size, root, 1);
  using Data = SignatureBytes::Data;
  const SignatureBytes vector(buffer, tree.is_root() ? Data::here : Data::to_come, size);
  if (!tree.is_root()) {
    const Buffer mine = vector.pieces(tree.relative(), tree.subtree_size());
    if (mine.count > 0) co_await channel.post_receive(mine, tree.parent());
  }
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    const Buffer theirs = vector.pieces(tree.relative() + tree.child_offset(k), tree.child_subtree_size(k));
    if (theirs.count > 0) sends.add(channel.post_send(theirs, tree.child(k)));
  }
  const auto owned = [&vector, root, size](int rank) {
    return vector.piece(ring_previous(rank, root, size));
  };
  co_await ring_allgather(channel, owned(channel.rank()), owned);
  co_await sends;
  if (!tree.is_root()) vector.unpack_received();
}

}  // namespace wisp::detail
