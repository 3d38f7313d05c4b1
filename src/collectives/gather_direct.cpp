// Gather and scatter in which the root talks with everybody: blocks of any sizes are received in place and
// sent from where they are.
//
//   1 ─► root ◄─ 2, 3, …        (p - 1) α + Σ m_i β, one step; a block of nothing is no message

#include "collectives/algorithms.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> gather_direct(Channel channel, ConstBuffer send, BlockList blocks, int root) {
  Posts receives;
  for (int rank = 0; rank < channel.size(); ++rank) {
    const std::size_t bytes = rank == root ? 0 : blocks.bytes(rank);
    if (bytes > 0) receives.add(channel.post_receive_of(bytes, blocks(rank), rank, rank));
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));
  co_await receives;
}

[[gnu::hot]] Task<> scatter_direct(Channel channel, BlockList blocks, Buffer receive, int root) {
  Posts sends;
  for (int ahead = 1; ahead < channel.size(); ++ahead) {
    const int rank = ring_next(root, ahead, channel.size());
    if (blocks.bytes(rank) > 0) sends.add(channel.post_send(blocks(rank), rank));
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await sends;
}

[[gnu::hot]] Task<> send_block(Channel channel, ConstBuffer send, int root) {
  if (bytes_of(send) > 0) co_await channel.post_send(send, root);
}

[[gnu::hot]] Task<> receive_block(Channel channel, Buffer receive, int root) {
  const std::size_t bytes = bytes_of(receive);
  if (bytes > 0) co_await channel.post_receive_of(bytes, receive, root, channel.rank());
}

}  // namespace wisp::detail
