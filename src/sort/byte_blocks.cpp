#include "wisp/detail/sort/byte_blocks.hpp"

#include <algorithm>

#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/sort/pieces.hpp"

namespace wisp::detail {
namespace {

Buffer all_of(std::vector<std::size_t>& numbers) {
  return {numbers.data(), numbers.size() * sizeof(std::size_t), MPI_BYTE};
}
Buffer all_of(std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size(), MPI_BYTE};
}

}  // namespace

Task<ByteBlocks> exchange_blocks(Channel channel, ByteBlocks sent, std::size_t fixed) {
  ByteBlocks received;
  const std::size_t ranks = as_size(channel.size());
  if (fixed > 0) {
    received.bytes.resize(ranks * fixed);
    for (std::size_t r = 1; r <= ranks; ++r) received.begins.push_back(r * fixed);
    co_await alltoall_on(channel, all_of(sent.bytes), all_of(received.bytes));
    co_return received;
  }
  std::vector<std::size_t> sizes(ranks);
  std::vector<std::size_t> sizes_sent(ranks);
  for (std::size_t r = 0; r < ranks; ++r) sizes_sent[r] = sent.begins[r + 1] - sent.begins[r];
  co_await alltoall_on(channel, all_of(sizes_sent), all_of(sizes));
  for (const std::size_t size : sizes) received.begins.push_back(received.begins.back() + size);
  received.bytes.resize(received.begins.back());
  std::vector<OutgoingPiece> outgoing;
  std::vector<IncomingPiece> incoming;
  for (std::size_t r = 0; r < ranks; ++r) {
    const int rank = static_cast<int>(r);
    outgoing.push_back({rank, sent.block(rank)});
    incoming.push_back({rank, std::span(received.bytes).subspan(received.begins[r], sizes[r])});
  }
  co_await exchange_pieces(channel, std::move(outgoing), std::move(incoming));
  co_return received;
}

Task<ByteBlocks> gather_blocks(Channel channel, std::vector<std::byte> mine, std::size_t fixed) {
  ByteBlocks received;
  const std::size_t ranks = as_size(channel.size());
  std::vector<std::size_t> sizes(ranks, fixed);
  if (fixed == 0) {
    std::size_t own = mine.size();
    co_await allgather_on(channel, {&own, sizeof(own), MPI_BYTE}, all_of(sizes));
  }
  for (const std::size_t size : sizes) received.begins.push_back(received.begins.back() + size);
  received.bytes.resize(received.begins.back());
  const bool are_equal = received.bytes.size() == ranks * sizes.front() &&
                         std::ranges::count(sizes, sizes.front()) == static_cast<std::ptrdiff_t>(ranks);
  if (are_equal) {
    co_await allgather_on(channel, all_of(mine), all_of(received.bytes));
  } else {
    co_await allgatherv_on(channel, all_of(mine), received.bytes.data(), std::move(sizes));
  }
  co_return received;
}

}  // namespace wisp::detail
