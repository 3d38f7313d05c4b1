// Pipelined broadcast of long vectors over the circulant graph: one piece in and one out a round, for any p.
//
//   p = 5, skips 1 2 3      round 0: 0 ─ piece 0 ─► 1     round 1: 0 ─ 1 ─► 2, 1 ─ 0 ─► 3     …
//
// (⌈log2 p⌉ - 1 + k) (α + nβ/k) with k pieces, the fewest rounds possible; every rank receives nβ once.
// Source: Träff, arXiv 2407.18004

#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/signature_bytes.hpp"
#include "pattern/circulant_graph.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {

Task<> bcast_circulant(Channel channel, Buffer buffer, int root, int pieces) {
  const int size = channel.size();
  const int rank = ring_previous(channel.rank(), root, size);  // counted from the root
  const CirculantPipeline pipeline(rank, size, pieces);
  using Data = SignatureBytes::Data;
  const SignatureBytes vector(buffer, rank == 0 ? Data::here : Data::to_come, pieces);

  std::vector<Posted> arriving(as_size(pieces));
  const auto arriving_piece = [&](int piece) -> Posted& { return arriving[as_size(piece)]; };
  const auto post_receive = [&](int round) {
    if (round >= pipeline.rounds()) return;
    const auto [from, piece] = pipeline.received(round);
    if (piece >= 0) {
      arriving_piece(piece) = channel.post_receive(vector.piece(piece), ring_next(from, root, size));
    }
  };
  constexpr int ahead = 8;  // rounds, so that a piece that comes early finds its place
  for (int round = 0; round < ahead; ++round) post_receive(round);
  Posts sends;
  for (int round = 0; round < pipeline.rounds(); ++round) {
    post_receive(round + ahead);
    const auto [to, piece] = pipeline.sent(round);
    if (piece < 0) continue;
    const Posted& needed = arriving_piece(piece);
    co_await needed;
    sends.add(channel.post_send(vector.piece(piece), ring_next(to, root, size)));
  }
  for (const Posted& piece : arriving) co_await piece;
  co_await sends;
  if (rank != 0) vector.unpack_received();
}

}  // namespace wisp::detail
