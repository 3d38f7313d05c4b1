// Gather to a root of a chain and scatter from it, over a tree of short edges. The blocks of a subtree are
// consecutive, so they travel in one piece, in rank order on both sides of the root.
//
//   blocks 4 5 6 7 ─► 4 ─► 0        gather: ⌈log2 p⌉ α + p nβ, two messages a rank; scatter: the way up
//          2 3 ─► 2 ──────►         makes addresses known, so twice the steps
//            1 ───────────►         Source: Moody et al. 2011, section 2

#include "chain/algorithms.hpp"
#include "chain/tree_walk.hpp"
#include "collectives/block_list.hpp"

namespace wisp::detail {
namespace {

/// The blocks of a rank's subtree in rank order: at the root in the user's buffer, elsewhere as bytes.
class SubtreeBlocks {
 public:
  SubtreeBlocks(const TreeWalk& walk, const Buffer& at_root, std::size_t block_bytes)
      : walk_(walk), at_root_(at_root), block_bytes_(block_bytes) {
    const ChainTree& tree = walk.tree();
    if (tree.is_root()) {
      layout_ = TypeLayout::of(at_root.type);
      block_count_ = at_root.count / as_size(tree.subtree_size());
    } else {
      memory_ = ScratchVector(as_size(tree.subtree_size()) * block_bytes);
    }
  }

  Buffer own() const { return blocks(own_place(), 1); }
  /// Those of the child at this step of the walk.
  Buffer child(ChainSide side) const {
    const int step = walk_.child_distance() - walk_.tree().distance();
    const int size = walk_.child_size(side);
    return blocks(side == right_side ? own_place() + step : own_place() - step - size + 1, size);
  }
  Buffer all() const { return {memory_.data(), memory_.bytes(), MPI_BYTE}; }

 private:
  /// Left of the root, a subtree reaches to lower ranks.
  int own_place() const {
    const ChainTree& tree = walk_.tree();
    if (tree.is_root()) return tree.left_length();
    return tree.inwards() < 0 ? 0 : tree.subtree_size() - 1;
  }
  Buffer blocks(int first, int count) const {
    const auto from = as_size(first);
    const auto number = as_size(count);
    if (!walk_.tree().is_root())
      return {memory_.data() + from * block_bytes_, number * block_bytes_, MPI_BYTE};
    return {element(at_root_.address, from * block_count_, layout_), number * block_count_, at_root_.type};
  }

  const TreeWalk& walk_;
  Buffer at_root_;
  std::size_t block_bytes_;
  std::size_t block_count_ = 0;  ///< of the root's elements
  TypeLayout layout_;
  ScratchVector memory_;
};

std::optional<Buffer> child_of(const TreeWalk& walk, const SubtreeBlocks& blocks, ChainSide side) {
  return walk.has_child(side) ? std::optional(blocks.child(side)) : std::nullopt;
}

}  // namespace

Task<> chain_gather(Link link, ConstBuffer send, Buffer receive, int root) {
  TreeWalk walk(link, root);
  const bool is_in_place = send.address == MPI_IN_PLACE;
  const SubtreeBlocks blocks(walk, receive, is_in_place ? 0 : bytes_of(send));
  if (!is_in_place) copy_block(send, blocks.own());
  while (walk.has_step()) {
    Posts step;
    walk.post(step, child_of(walk, blocks, left_side), child_of(walk, blocks, right_side));
    co_await step;
    walk.advance();
  }
  Posts up;
  walk.post_up(up, ConstBuffer(blocks.all()));
  co_await up;
}

Task<> chain_scatter(Link link, ConstBuffer send, Buffer receive, int root) {
  TreeWalk walk(link, root);
  while (walk.has_step()) {
    Posts step;
    walk.post(step, {}, {});
    co_await step;
    walk.advance();
  }
  Posts up;
  walk.post_up(up, {});
  co_await up;
  const bool is_in_place = receive.address == MPI_IN_PLACE;
  const Buffer at_root{const_cast<void*>(send.address), send.count, send.type};  // only read
  const SubtreeBlocks blocks(walk, at_root, is_in_place ? 0 : bytes_of(receive));
  if (link.rank() != root) co_await link.post_receive(blocks.all(), walk.parent());
  Posts down;
  while (walk.has_step_down()) {
    walk.step_down();
    for (const ChainSide side : {left_side, right_side}) {
      if (walk.has_child(side)) down.add(link.post_send(blocks.child(side), walk.child(side)));
    }
  }
  if (!is_in_place) copy_block(blocks.own(), receive);
  co_await down;
}

}  // namespace wisp::detail
