// Reductions on a chain: up a tree of short edges, the nearer ranks first, so that operands stay in rank
// order. To all, the root tells the others what it has: sums on both sides of each rank would take half the
// time, but every rank would add in another order, and floating-point results would differ.
//
//   d = 0 ◄─ 1          to a root: ⌈log2 p⌉ (α + nβ + nγ), two messages a rank
//       ▲── 2 ◄─ 3      to all: 2 ⌈log2 p⌉ (α + nβ)
//   Source: Moody et al. 2011, section 2

#include "chain/algorithms.hpp"
#include "chain/tree_walk.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {
Task<> chain_reduce(Link link, Reduction given, int root) {
  TreeWalk walk(link, root);
  const ConstBuffer& send = given.send;
  Partial sum(send, given.op);
  ScratchVector vectors[2];
  while (walk.has_step()) {
    std::optional<Buffer> incoming[2];
    for (const ChainSide side : {left_side, right_side}) {
      if (!walk.has_child(side)) continue;
      if (!vectors[side].exists()) vectors[side] = ScratchVector(sum.layout(), send.count);
      incoming[side] = Buffer(vectors[side].data(), send.count, send.type);
    }
    Posts step;
    walk.post(step, incoming[left_side], incoming[right_side]);
    co_await step;
    const bool has_left = walk.has_child(left_side);
    const bool has_right = walk.has_child(right_side);
    walk.advance();
    if (has_left) sum.prepend(vectors[left_side].data());
    if (has_right) sum.append(vectors[right_side]);
  }
  Posts up;
  walk.post_up(up, sum.value());
  co_await up;
  if (link.rank() == root) sum.copy_to(given.receive.address);
}

Task<> chain_allreduce(Link link, Reduction given) {
  const Buffer all = given.receive;
  co_await chain_reduce(link, std::move(given), 0);
  co_await chain_bcast(std::move(link), all, 0);
}

}  // namespace wisp::detail
