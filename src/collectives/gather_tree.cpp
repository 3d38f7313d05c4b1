// Gather up a k-nomial tree. A rank collects its subtree's blocks, which are a range of ranks counted from
// the root, and sends them on as one message. At the root the blocks of a child go to their place at once,
// unless they are in two pieces because ranks wrap around.
//
//   0 ◄─┬─ 1         [1]
//       ├─ 2 ◄ 3     [2 3]          ⌈log2 p⌉ α + (p - 1) n β
//       └─ 4 ◄ …     [4 5 6 7]      Source: Axtmann et al. 2018, section V-D

#include "collectives/algorithms.hpp"
#include "pattern/knomial_tree.hpp"
#include "transport/type_layout.hpp"

namespace wisp::detail {
namespace {

/// Collects the blocks of a subtree, packed, and passes them on.
Task<> gather_inner(Channel channel, ConstBuffer send, KnomialTree tree) {
  const TypeLayout layout = TypeLayout::of(send.type);
  const std::size_t block = send.count * layout.size;
  const ScratchVector packed(block * as_size(tree.subtree_size()));
  Posts receives;
  for (int k = 0; k < tree.child_count(); ++k) {
    const std::size_t offset = block * as_size(tree.child_offset(k));
    const std::size_t bytes = block * as_size(tree.child_subtree_size(k));
    receives.add(channel.post_receive({packed.data() + offset, bytes, MPI_PACKED}, tree.child(k)));
  }
  pack(send, layout, packed.data());
  co_await receives;
  co_await channel.post_send({packed.data(), block * as_size(tree.subtree_size()), MPI_PACKED},
                             tree.parent());
}

}  // namespace

[[gnu::hot]] Task<> gather_tree(Channel channel, ConstBuffer send, Buffer receive, int root, int radix_bits) {
  const KnomialTree tree(channel.rank(), channel.size(), root, radix_bits);
  if (!tree.is_root()) {
    if (tree.child_count() > 0) {
      co_await gather_inner(channel, send, tree);
    } else {
      co_await channel.post_send(send, tree.parent());
    }
    co_return;
  }
  const BlockList blocks = BlockList::regular(receive, channel.size());
  // At most one child's ranks wrap around; its blocks are in two pieces.
  ScratchVector wrapped;
  int wrapping_child = -1;
  Posts receives;
  for (int k = 0; k < tree.child_count(); ++k) {
    const int count = tree.child_subtree_size(k);
    const int first = tree.child(k);
    if (first + count <= channel.size()) {
      receives.add(channel.post_receive(blocks.range(first, count), first));
    } else {
      wrapping_child = k;
      wrapped = ScratchVector(as_size(count) * blocks.bytes(0));
      receives.add(channel.post_receive({wrapped.data(), wrapped.bytes(), MPI_PACKED}, first));
    }
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));
  co_await receives;
  if (wrapping_child >= 0) {
    const int first = tree.child(wrapping_child);
    const int before_end = channel.size() - first;
    const int after_start = tree.child_subtree_size(wrapping_child) - before_end;
    unpack(wrapped.data(), blocks.range(first, before_end), blocks.layout(0));
    unpack(wrapped.data() + as_size(before_end) * blocks.bytes(0), blocks.range(0, after_start),
           blocks.layout(0));
  }
}

}  // namespace wisp::detail
