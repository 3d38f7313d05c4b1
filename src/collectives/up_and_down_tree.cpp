// Collectives whose result everybody gets, as two of the tree's: up to rank 0, then down again.
//
//   ▲ reduce or gather to 0, then ▼ bcast from 0      2 ⌈log_k p⌉ dependent steps, 2 (p - 1) messages
//
// Twice the steps of doubling distances, but p log2 p messages fewer: better where ranks share cores, because
// there every message costs time of somebody's core. Source: Axtmann et al. 2018, section V-D

#include "collectives/algorithms.hpp"
#include "transport/type_layout.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> barrier_tree(Channel channel) {
  Reduction of_nothing{{}, {}, MPI_SUM};
  co_await reduce_tree(channel, std::move(of_nothing), 0, up_radix_bits(channel));
  co_await bcast_tree(channel, {}, 0, down_radix_bits(channel));
}

[[gnu::hot]] Task<> allreduce_tree(Channel channel, Reduction given, int radix_bits) {
  const Buffer all = given.receive;
  co_await reduce_tree(channel, std::move(given), 0, radix_bits);
  co_await bcast_tree(channel, all, 0, down_radix_bits(channel));
}

Task<> scan_then_bcast(Channel channel, Task<> scan, Buffer inclusive, Buffer total) {
  co_await std::move(scan);
  const int last = channel.size() - 1;
  if (channel.rank() == last) {
    copy_elements(inclusive.address, total.address, total.count, total.type, TypeLayout::of(total.type));
  }
  co_await bcast_tree(channel, total, last, down_radix_bits(channel));
}

[[gnu::hot]] Task<> allgather_tree(Channel channel, ConstBuffer send, Buffer receive) {
  if (is_in_place(send) && channel.rank() != 0) {
    const TypeLayout layout = TypeLayout::of(receive.type);
    const std::size_t count = receive.count / as_size(channel.size());
    const auto rank = as_size(channel.rank());
    send = {element(receive.address, rank * count, layout), count, receive.type};
  }
  co_await gather_tree(channel, send, receive, 0, up_radix_bits(channel));
  co_await bcast_tree(channel, receive, 0, down_radix_bits(channel));
}

}  // namespace wisp::detail
