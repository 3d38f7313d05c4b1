#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Blocks of bytes that follow each other, one for each rank, or of each.
struct ByteBlocks {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> begins{0};

  std::size_t size() const { return begins.size() - 1; }
  std::span<const std::byte> block(int rank) const {
    const std::size_t r = as_size(rank);
    return std::span(bytes).subspan(begins[r], begins[r + 1] - begins[r]);
  }
  /// What was appended since the last one is a block, filled up to so many bytes.
  void end_block(std::size_t fixed = 0) {
    bytes.resize(std::max(bytes.size(), begins.back() + fixed));
    begins.push_back(bytes.size());
  }
};

/// A block from every rank for every rank. All blocks have `fixed` bytes, or (0) any number, which only their
/// senders know.
Task<ByteBlocks> exchange_blocks(Channel channel, ByteBlocks sent, std::size_t fixed);

/// A block from every rank, for all.
Task<ByteBlocks> gather_blocks(Channel channel, std::vector<std::byte> mine, std::size_t fixed);

}  // namespace wisp::detail
