#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Bytes for a rank, or room for what comes from it.
struct OutgoingPiece {
  int rank;
  std::span<const std::byte> bytes;
};
struct IncomingPiece {
  int rank;
  std::span<std::byte> bytes;
};

/// Sends and receives pieces straight; those between two ranks in the order of both lists, and each as long
/// as its receiver says. What stays on this rank is copied. Empty ones cost nothing.
Task<> exchange_pieces(Channel channel, std::vector<OutgoingPiece> sent, std::vector<IncomingPiece> received);

}  // namespace wisp::detail
