// Broadcast down a k-nomial tree. A rank receives from its parent and sends to its children, the largest
// subtree first; the next rank early, for it has this one's place if the next rank is the next root. Ranks
// count from the root.
//
//   0 ─┬─ 4 ─┬─ 6 ─ 7
//      │     └─ 5          ⌈log2 p⌉ (α + nβ) with radix 2; best for small n
//      ├─ 2 ─── 3          Source: Axtmann et al. 2018, section V-D
//      └─ 1

#include "collectives/algorithms.hpp"
#include "pattern/knomial_tree.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> bcast_tree(Channel channel, Buffer buffer, int root, int radix_bits) {
  const KnomialTree tree(channel.rank(), channel.size(), root, radix_bits);
  if (!tree.is_root()) co_await channel.post_receive(buffer, tree.parent());
  Posts sends;
  for (int i = 0; i < tree.child_count(); ++i) {
    sends.add(channel.post_send(buffer, tree.child(tree.served(i))));
  }
  co_await sends;
}

}  // namespace wisp::detail
