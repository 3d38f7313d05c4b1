#include "split/item_tree.hpp"

namespace wisp::detail {

Task<ItemTable> gather_sorted(TreeWalk& walk, const ItemLayout& layout, int old_rank) {
  ItemTable sorted(layout, 1);
  layout.write(old_rank, sorted[0]);
  while (walk.has_step()) {
    const bool has_child = walk.has_child(right_side);
    const ItemTable heard(layout, has_child ? as_size(walk.child_size(right_side)) : 0);
    Posts step;
    walk.post(step, {}, heard.buffer());
    co_await step;
    walk.advance();
    if (has_child) sorted = merge(layout, sorted, heard);
  }
  Posts up;
  walk.post_up(up, sorted.buffer());
  co_await up;
  co_return sorted;
}

Task<> scatter_from_root(TreeWalk& walk, ConstBuffer at_root, Buffer here) {
  const Link& link = walk.link();
  const auto subtree = as_size(walk.tree().subtree_size());
  const ScratchVector memory(walk.tree().is_root() ? 0 : subtree * here.count);
  const auto* blocks = static_cast<const std::byte*>(at_root.address);
  if (!walk.tree().is_root()) {
    co_await link.post_receive({memory.data(), memory.bytes(), MPI_BYTE}, walk.parent());
    blocks = memory.data();
  }
  Posts down;
  while (walk.has_step_down()) {
    walk.step_down();
    if (!walk.has_child(right_side)) continue;
    const auto first = as_size(walk.child_distance() - walk.tree().distance());
    const auto size = as_size(walk.child_size(right_side));
    down.add(
        link.post_send({blocks + first * here.count, size * here.count, MPI_BYTE}, walk.child(right_side)));
  }
  std::memcpy(here.address, blocks, here.count);
  co_await down;
}

}  // namespace wisp::detail
