// Reduce-scatter of short vectors: reduced up a tree to rank 0, which sends every rank its block.
//
//   ▲ reduce to 0, then ▼ a block to each        ⌈log_k p⌉ (α + nβ + nγ) + (p - 1) α + nβ, few messages
//
// Operands meet in rank order.

#include "collectives/algorithms.hpp"

namespace wisp::detail {

Task<> reduce_scatter_tree(Channel channel, BlockList send, Buffer block, Operator op, int radix_bits) {
  const TypeLayout layout = TypeLayout::of(block.type);
  std::size_t count = 0;
  for (int rank = 0; rank < channel.size(); ++rank) count += send.count(rank);
  // The blocks follow each other: they are one vector.
  const ConstBuffer vector(send(0).address, count, block.type);
  ScratchVector result;
  Buffer at_zero;
  if (channel.rank() == 0) {
    result = ScratchVector(layout, count);
    at_zero = {result.data(), count, block.type};
  }
  Reduction to_zero{vector, at_zero, std::move(op)};
  co_await reduce_tree(channel, std::move(to_zero), 0, radix_bits);
  if (channel.rank() != 0) {
    if (block.count > 0) co_await channel.post_receive(block, 0);
    co_return;
  }
  copy_elements(result.data(), block.address, block.count, block.type, layout);
  Posts sends;
  std::size_t begin = block.count;
  for (int rank = 1; rank < channel.size(); ++rank) {
    const std::size_t size = send.count(rank);
    if (size > 0)
      sends.add(channel.post_send({element(result.data(), begin, layout), size, block.type}, rank));
    begin += size;
  }
  co_await sends;
}

}  // namespace wisp::detail
