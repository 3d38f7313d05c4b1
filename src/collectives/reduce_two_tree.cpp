// Pipelined reduction up two trees: half of the pieces go up each, and the trees' roots pass them to the
// root. Trees are in rank order, so operands meet in that order.
//
//   tree 0 ─ pieces 0 2 4 … ─┐
//                            ├─► root        (2 ⌈log2 p⌉ + k) (α + nβ/k + nγ/k) with k pieces
//   tree 1 ─ pieces 1 3 5 … ─┘
//
// Source: Sanders, Speck, Träff 2009

#include "collectives/algorithms.hpp"
#include "collectives/two_tree_sums.hpp"

namespace wisp::detail {
namespace {

Task<> reduce_up_tree(Channel channel, Reduction reduction, int root, int pieces, int which) {
  TwoTreeSums sums(channel, reduction.send, reduction.op, pieces, which);
  const int tree_root = InOrderTree::root(channel.size(), which);
  const bool is_root = channel.rank() == root;
  const bool is_tree_root = channel.rank() == tree_root;
  const int target = is_tree_root ? (is_root ? -1 : root) : sums.tree().parent();
  Posts results;
  // A result may lie where what this rank sends lies: it is asked for only when the send has ended.
  constexpr int delay = 4;
  for (int piece = sums.first(); sums.has(piece - delay); piece += 2) {
    if (sums.has(piece)) co_await sums.join(piece, target);
    if (piece - delay < sums.first()) continue;
    TwoTreeSums::Piece& p = sums[piece - delay];
    if (target >= 0) co_await p.to_parent;
    if (is_root) {
      const Buffer result = sums.piece_of(reduction.receive, piece - delay);
      if (!is_tree_root) {
        results.add(channel.post_receive(result, tree_root));
      } else if (p.sum.address != result.address) {
        copy_elements(p.sum.address, result.address, result.count, result.type, sums.layout());
      }
    }
    p = {};
  }
  co_await results;
}

}  // namespace

Task<> reduce_two_tree(Channel channel, Reduction reduction, int root, int pieces) {
  co_await when_all(reduce_up_tree(channel.lane(0), reduction, root, pieces, 0),
                    reduce_up_tree(channel.lane(1), reduction, root, pieces, 1));
}

}  // namespace wisp::detail
