// Gather and scatter in which the root talks with everybody: blocks of any sizes are received in place and
// sent from where they are.
//
//   1 ─► root ◄─ 2, 3, …        (p - 1) α + Σ m_i β, one step; a block of nothing is no message

#include "collectives/algorithms.hpp"

namespace wisp::detail {

Task<> gather_direct(Channel channel, ConstBuffer send, BlockList blocks, int root) {
  if (channel.rank() != root) {
    if (bytes_of(send) > 0) co_await channel.post_send(send, root);
    co_return;
  }
  Posts receives;
  for (int rank = 0; rank < channel.size(); ++rank) {
    if (rank != root && blocks.bytes(rank) > 0) receives.add(channel.post_receive(blocks(rank), rank));
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));
  co_await receives;
}

Task<> scatter_direct(Channel channel, BlockList blocks, Buffer receive, int root) {
  if (channel.rank() != root) {
    if (bytes_of(receive) > 0) co_await channel.post_receive(receive, root);
    co_return;
  }
  Posts sends;
  for (int ahead = 1; ahead < channel.size(); ++ahead) {
    const int rank = (root + ahead) % channel.size();
    if (blocks.bytes(rank) > 0) sends.add(channel.post_send(blocks(rank), rank));
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await sends;
}

}  // namespace wisp::detail
