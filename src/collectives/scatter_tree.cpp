// Scatter down a k-nomial tree: the gather backwards. A rank receives its subtree's blocks, a range of ranks
// counted from the root, as one message, and passes each child its part.
//
//   0 ─┬─► 4     [4 5 6 7]
//      ├─► 2 ─► 3    [2 3]        ⌈log2 p⌉ α + (p - 1) n β
//      └─► 1           [1]        Source: Axtmann et al. 2018, section V-D (gather)

#include "collectives/algorithms.hpp"
#include "pattern/knomial_tree.hpp"

namespace wisp::detail {
namespace {

Task<> scatter_inner(Channel channel, Buffer receive, KnomialTree tree) {
  const TypeLayout layout = TypeLayout::of(receive.type);
  const std::size_t block = receive.count * layout.size;
  const std::size_t bytes = block * as_size(tree.subtree_size());
  const ScratchVector packed(bytes);
  co_await channel.post_receive({packed.data(), bytes, MPI_PACKED}, tree.parent());
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    const std::size_t offset = block * as_size(tree.child_offset(k));
    const std::size_t theirs = block * as_size(tree.child_subtree_size(k));
    sends.add(channel.post_send({packed.data() + offset, theirs, MPI_PACKED}, tree.child(k)));
  }
  unpack(packed.data(), receive, layout);
  co_await sends;
}

}  // namespace

[[gnu::hot]] Task<> scatter_tree(Channel channel, ConstBuffer send, Buffer receive, int root,
                                 int radix_bits) {
  const KnomialTree tree(channel.rank(), channel.size(), root, radix_bits);
  if (!tree.is_root()) {
    if (tree.child_count() > 0) {
      co_await scatter_inner(channel, receive, tree);
    } else {
      co_await channel.post_receive(receive, tree.parent());
    }
    co_return;
  }
  const BlockList blocks = BlockList::regular(send, channel.size());
  // At most one child's ranks wrap around; its blocks are in two pieces.
  ScratchVector wrapped;
  Posts sends;
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    const int first = tree.child(k);
    const int count = tree.child_subtree_size(k);
    const int before_end = channel.size() - first;
    if (count <= before_end) {
      sends.add(channel.post_send(blocks.range(first, count), first));
      continue;
    }
    const std::size_t block = blocks.bytes(0);
    const std::size_t bytes = block * as_size(count);
    wrapped = ScratchVector(bytes);
    pack(blocks.range(first, before_end), blocks.layout(0), wrapped.data());
    pack(blocks.range(0, count - before_end), blocks.layout(0), wrapped.data() + block * as_size(before_end));
    sends.add(channel.post_send({wrapped.data(), bytes, MPI_PACKED}, first));
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await sends;
}

}  // namespace wisp::detail
