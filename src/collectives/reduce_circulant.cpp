// Pipelined reduction of long vectors: the broadcast over the circulant graph, backwards. A rank joins what
// it receives of a piece, and sends the sum on in the round in which the broadcast would bring it the piece.
//
// (⌈log2 p⌉ - 1 + k) (α + nβ/k + nγ/k) with k pieces; operands meet in another order than that of the ranks.
// Source: Träff, arXiv 2407.18004

#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"
#include "pattern/circulant_graph.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {
namespace {

/// The pieces of a vector that is reduced: views of the rank's own until something is joined to them.
class PiecesOfSum {
 public:
  PiecesOfSum(const Channel& channel, const Reduction& given, bool has_result, int pieces)
      : channel_(channel),
        send_(given.send),
        receive_(given.receive),
        has_result_(has_result),
        is_in_place_(has_result && given.receive.address == given.send.address),
        op_(given.op),
        layout_(TypeLayout::of(send_.type)),
        segments_(send_.count, pieces),
        coming_(as_size(pieces)) {}

  /// One more vector that is to be joined; the first becomes the sum.
  void post_receive(int piece, int from) {
    std::vector<Next>& coming = of(piece);
    Next& next = coming.emplace_back();
    next.place = {nullptr, segments_.size(piece), send_.type};
    if (coming.size() == 1 && has_result_ && !is_in_place_) {
      next.place = result(piece);
    } else {
      next.memory = ScratchVector(layout_, next.place.count);
      next.place.address = next.memory.data();
    }
    next.posted = channel_.post_receive(next.place, from);
  }
  /// When all has come and is joined.
  Task<ConstBuffer> value(int piece) {
    ConstBuffer sum = part(send_.address, piece);
    bool is_own = is_in_place_;
    for (Next& next : of(piece)) {
      co_await next.posted;
      if (!is_own) {
        op_.apply(sum.address, next.place.address, sum.count, sum.type);
        sum.address = next.place.address;
        is_own = true;
      } else {
        op_.apply(next.place.address, const_cast<void*>(sum.address), sum.count, sum.type);
        next.memory = {};
      }
    }
    co_return sum;
  }

 private:
  struct Next {
    ScratchVector memory;
    Buffer place;
    Posted posted;  ///< given up before the memory that it goes to
  };

  std::vector<Next>& of(int piece) { return coming_[as_size(piece)]; }
  Buffer part(const void* address, int piece) const {
    return {element(const_cast<void*>(address), segments_.begin(piece), layout_), segments_.size(piece),
            send_.type};
  }
  Buffer result(int piece) const { return part(receive_.address, piece); }

  const Channel& channel_;
  ConstBuffer send_;
  Buffer receive_;  ///< of the root
  bool has_result_;
  bool is_in_place_;
  const Operator& op_;
  TypeLayout layout_;
  Balance segments_;
  std::vector<std::vector<Next>> coming_;  ///< of each piece
};

}  // namespace

Task<> reduce_circulant(Channel channel, Reduction given, int root, int pieces) {
  const int size = channel.size();
  const int rank = ring_previous(channel.rank(), root, size);  // counted from the root
  if (size == 1) {
    Partial(given.send, given.op).copy_to(given.receive.address);
    co_return;
  }
  const CirculantPipeline pipeline(rank, size, pieces);
  PiecesOfSum sums(channel, given, rank == 0, pieces);
  const auto post_receive = [&](int round) {
    if (round < 0) return;
    const auto [from, piece] = pipeline.sent(round);
    if (piece >= 0) sums.post_receive(piece, ring_next(from, root, size));
  };
  constexpr int ahead = 8;  // rounds, so that a piece that comes early finds its place
  const int last = pipeline.rounds() - 1;
  for (int round = last; round > last - ahead; --round) post_receive(round);
  Posts sends;
  for (int round = last; round >= 0; --round) {
    post_receive(round - ahead);
    const auto [to, piece] = pipeline.received(round);
    if (piece < 0) continue;
    const ConstBuffer sum = co_await sums.value(piece);
    sends.add(channel.post_send(sum, ring_next(to, root, size)));
  }
  for (int piece = 0; piece < pieces && rank == 0; ++piece) co_await sums.value(piece);
  co_await sends;
}

}  // namespace wisp::detail
