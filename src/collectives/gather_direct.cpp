// Gather and scatter in which the root talks with everybody: blocks of any sizes are received in place and
// sent from where they are.
//
//   1 ─► root ◄─ 2, 3, …        (p - 1) α + Σ m_i β, one step; a block of nothing is no message

#include <utility>

#include "collectives/algorithms.hpp"

namespace wisp::detail {
namespace {

Task<> gather_at_root(Channel channel, ConstBuffer send, BlockList blocks, int root) {
  Posts receives;
  for (int rank = 0; rank < channel.size(); ++rank) {
    const std::size_t bytes = rank == root ? 0 : blocks.bytes(rank);
    if (bytes > 0) receives.add(channel.post_receive_of(bytes, blocks(rank), rank, rank));
  }
  if (!is_in_place(send)) copy_block(send, blocks(root));
  co_await receives;
}

Task<> scatter_at_root(Channel channel, BlockList blocks, Buffer receive, int root) {
  Posts sends;
  for (int ahead = 1; ahead < channel.size(); ++ahead) {
    const int rank = (root + ahead) % channel.size();
    if (blocks.bytes(rank) > 0) sends.add(channel.post_send(blocks(rank), rank));
  }
  if (!is_in_place(receive)) copy_block(blocks(root), receive);
  co_await sends;
}

Task<> send_block(Channel channel, ConstBuffer send, int root) {
  co_await channel.post_send(send, root);
}

Task<> receive_block(Channel channel, Buffer receive, int root) {
  co_await channel.post_receive_of(bytes_of(receive), receive, root, channel.rank());
}

}  // namespace

Task<> gather_direct(Channel channel, const ConstBuffer& send, const BlockList& blocks, int root) {
  if (channel.rank() == root) return gather_at_root(std::move(channel), send, blocks, root);
  return bytes_of(send) > 0 ? send_block(std::move(channel), send, root) : nothing();
}

Task<> scatter_direct(Channel channel, const BlockList& blocks, const Buffer& receive, int root) {
  if (channel.rank() == root) return scatter_at_root(std::move(channel), blocks, receive, root);
  return bytes_of(receive) > 0 ? receive_block(std::move(channel), receive, root) : nothing();
}

}  // namespace wisp::detail
