// Reduction up a k-nomial tree: the broadcast backwards. A rank joins its children's vectors to its own, the
// smallest subtree first, and sends the result to its parent. Ranks count from the root; a child's ranks
// follow those that were joined before, so from rank 0 the operands meet in rank order.
//
//   0 ◄─┬─ 1
//       ├─ 2 ◄── 3        ⌈log2 p⌉ (α + nβ + nγ) with radix 2, γ: one operation
//       └─ 4 ◄─┬─ 5       Source: Axtmann et al. 2018, section V-D
//              └─ 6 ◄ 7

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"
#include "pattern/knomial_tree.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> reduce_tree(Channel channel, Reduction given, int root, int radix_bits) {
  const ConstBuffer& send = given.send;
  const Buffer& receive = given.receive;
  const KnomialTree tree(channel.rank(), channel.size(), root, radix_bits);
  if (tree.child_count() == 0 && !tree.is_root()) {
    co_await channel.post_send(send, tree.parent());
    co_return;
  }
  Partial partial(send, given.op);
  for (int k = 0; k < tree.child_count(); ++k) {
    const bool is_last = tree.is_root() && k == tree.child_count() - 1 && receive.address != send.address;
    if (is_last) {
      co_await channel.post_receive(receive, tree.child(k));
      partial.append(receive.address);
    } else {
      co_await channel.post_receive(partial.incoming(), tree.child(k));
      partial.append_incoming();
    }
  }
  if (tree.is_root()) {
    partial.copy_to(receive.address);
  } else {
    co_await channel.post_send(partial.value(), tree.parent());
  }
}

Task<> reduce_to_zero_first(Channel channel, Reduction given, int root, int radix_bits) {
  const ConstBuffer& send = given.send;
  // The tree's order is that of the ranks only from rank 0, which passes the result on.
  ScratchVector result;
  Buffer at_zero;
  if (channel.rank() == 0) {
    result = ScratchVector(TypeLayout::of(send.type), send.count);
    at_zero = {result.data(), send.count, send.type};
  }
  Reduction to_zero{send, at_zero, given.op};
  co_await reduce_tree(channel, std::move(to_zero), 0, radix_bits);
  if (channel.rank() == 0) co_await channel.post_send(at_zero, root);
  if (channel.rank() == root) co_await channel.post_receive(given.receive, 0);
}

}  // namespace wisp::detail
