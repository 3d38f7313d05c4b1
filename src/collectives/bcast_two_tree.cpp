// Pipelined broadcast over two trees. The vector goes in pieces, one half over each tree of the other p - 1
// ranks; a rank passes a piece to its children as soon as it has it.
//
//   root ─┬─ pieces 0 2 4 … ─► tree 0        a rank that is an inner node of one tree is a leaf of the other:
//         └─ pieces 1 3 5 … ─► tree 1        nobody sends more than it receives
//
// (2 ⌈log2 p⌉ + k) (α + nβ/k) with k pieces: nβ + O(√(nαβ log p)) with the best k.
// Source: Sanders, Speck, Träff 2009

#include "collectives/algorithms.hpp"
#include "collectives/signature_bytes.hpp"
#include "pattern/dissemination.hpp"
#include "pattern/two_tree.hpp"

namespace wisp::detail {
namespace {

Task<> bcast_over_tree(Channel channel, const SignatureBytes& vector, int count, int root, int which) {
  const int others = channel.size() - 1;
  // The other ranks, counted from the root.
  const auto rank_of = [&](int other) { return ring_next(root, other + 1, channel.size()); };
  Posts sends;
  if (channel.rank() == root) {
    const int first = rank_of(InOrderTree::root(others, which));
    for (int piece = which; piece < count; piece += 2)
      sends.add(channel.post_send(vector.piece(piece), first));
    co_await sends;
    co_return;
  }
  const InOrderTree tree(ring_previous(channel.rank(), root, channel.size()) - 1, others, which);
  const int parent = tree.is_root() ? root : rank_of(tree.parent());
  const auto post_receive = [&](int piece) {
    return piece < count ? channel.post_receive(vector.piece(piece), parent) : Posted();
  };
  // One receive ahead, so that the next piece can come in while this one is passed on.
  Posted next = post_receive(which);
  for (int piece = which; piece < count; piece += 2) {
    const Posted current = std::exchange(next, Posted());
    next = post_receive(piece + 2);
    co_await current;
    for (const int child : {tree.left(), tree.right()}) {
      if (child >= 0) sends.add(channel.post_send(vector.piece(piece), rank_of(child)));
    }
  }
  co_await sends;
}

}  // namespace

Task<> bcast_two_tree(Channel channel, Buffer buffer, int root, int pieces) {
  if (channel.size() == 1) co_return;
  using Data = SignatureBytes::Data;
  const bool is_root = channel.rank() == root;
  const SignatureBytes vector(buffer, is_root ? Data::here : Data::to_come, pieces);
  co_await when_all(bcast_over_tree(channel.lane(0), vector, pieces, root, 0),
                    bcast_over_tree(channel.lane(1), vector, pieces, root, 1));
  if (!is_root) vector.unpack_received();
}

}  // namespace wisp::detail
