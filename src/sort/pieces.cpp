#include "wisp/detail/sort/pieces.hpp"

#include <algorithm>
#include <cstring>

#include "wisp/detail/as_size.hpp"

namespace wisp::detail {
namespace {

/// The pieces that travel, by distance from this rank: no rank is everybody's first.
template <class Piece>
std::vector<Piece> by_distance(std::vector<Piece> pieces, int rank, int ranks, int direction) {
  std::erase_if(pieces, [&](const Piece& piece) { return piece.rank == rank || piece.bytes.empty(); });
  const auto distance = [&](const Piece& piece) { return (direction * (piece.rank - rank) + ranks) % ranks; };
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](const Piece& a, const Piece& b) { return distance(a) < distance(b); });
  return pieces;
}

}  // namespace

Task<> exchange_pieces(Channel channel, std::vector<OutgoingPiece> sent,
                       std::vector<IncomingPiece> received) {
  const int self = channel.rank();
  Posts posts;
  for (const IncomingPiece& piece : by_distance(received, self, channel.size(), -1))
    posts.add(channel.post_receive({piece.bytes.data(), piece.bytes.size(), MPI_BYTE}, piece.rank));
  for (const OutgoingPiece& piece : by_distance(sent, self, channel.size(), 1))
    posts.add(channel.post_send({piece.bytes.data(), piece.bytes.size(), MPI_BYTE}, piece.rank));
  const auto is_own = [&](const auto& piece) { return piece.rank == self; };
  auto to = std::find_if(received.begin(), received.end(), is_own);
  for (auto from = std::find_if(sent.begin(), sent.end(), is_own); from != sent.end();
       from = std::find_if(from + 1, sent.end(), is_own)) {
    if (!from->bytes.empty()) std::memcpy(to->bytes.data(), from->bytes.data(), from->bytes.size());
    to = std::find_if(to + 1, received.end(), is_own);
  }
  co_await posts;
}

}  // namespace wisp::detail
