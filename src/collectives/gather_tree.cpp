// Gather up a k-nomial tree. A rank collects its subtree's blocks, which are a range of ranks counted from
// the root, and sends them on as one message. At the root the blocks of a child go to their place at once,
// unless they are in two pieces because ranks wrap around.
//
//   0 ◄─┬─ 1         [1]
//       ├─ 2 ◄ 3     [2 3]          ⌈log2 p⌉ α + (p - 1) n β
//       └─ 4 ◄ …     [4 5 6 7]      Source: Axtmann et al. 2018, section V-D

#include <cstring>

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

Task<> gather_tree(Channel channel, ConstBuffer send, Buffer receive, int root, int radix_bits) {
  const KnomialTree tree(channel.rank(), channel.size(), root, radix_bits);
  if (!tree.is_root()) {
    if (tree.child_count() > 0) {
      co_await gather_inner(channel, send, tree);
    } else {
      co_await channel.post_send(send, tree.parent());
    }
    co_return;
  }
  const auto ranks = as_size(channel.size());
  const std::size_t count = receive.count / ranks;
  const TypeLayout layout = TypeLayout::of(receive.type);
  const std::size_t block = count * layout.size;
  const auto place = [&](int rank) { return element(receive.address, as_size(rank) * count, layout); };
  // At most one child's ranks wrap around.
  ScratchVector wrapped;
  int wrapping_child = -1;
  Posts receives;
  for (int k = 0; k < tree.child_count(); ++k) {
    const int blocks = tree.child_subtree_size(k);
    const int first = tree.child(k);
    if (first + blocks <= channel.size()) {
      receives.add(channel.post_receive({place(first), as_size(blocks) * count, receive.type}, first));
    } else {
      wrapping_child = k;
      const std::size_t bytes = as_size(blocks) * block;
      wrapped = ScratchVector(bytes);
      receives.add(channel.post_receive({wrapped.data(), bytes, MPI_PACKED}, first));
    }
  }
  if (!is_in_place(send)) {
    const TypeLayout send_layout = TypeLayout::of(send.type);
    if (send_layout.contiguous && layout.contiguous) {
      if (block > 0) std::memcpy(place(root), send.address, block);
    } else {
      const ScratchVector packed(block);
      pack(send, send_layout, packed.data());
      unpack(packed.data(), {place(root), count, receive.type}, layout);
    }
  }
  co_await receives;
  if (wrapping_child >= 0) {
    const int first = tree.child(wrapping_child);
    const int before_end = channel.size() - first;
    const int after_start = tree.child_subtree_size(wrapping_child) - before_end;
    unpack(wrapped.data(), {place(first), as_size(before_end) * count, receive.type}, layout);
    unpack(wrapped.data() + as_size(before_end) * block,
           {place(0), as_size(after_start) * count, receive.type}, layout);
  }
}

}  // namespace wisp::detail
