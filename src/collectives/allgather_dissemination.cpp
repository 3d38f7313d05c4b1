// Allgather by doubling distances (Bruck). Before round k a rank holds the blocks of itself and the next
// 2^k - 1 ranks on the ring; it sends them to the rank 2^k before and appends those of the rank 2^k further.
//
//   rank r   [r]  ─►  [r r+1]  ─►  [r r+1 r+2 r+3]  ─► …      ⌈log2 p⌉ α + (p - 1) n β
//
// Blocks may differ in size, for all ranks know all sizes. Source: Bruck et al. 1997; Axtmann et al. 2018,
// section V-D

#include <algorithm>

#include "collectives/algorithms.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {
namespace {

/// Where each block lies in the packed sequence that begins with this rank's own.
class PackedOnRing {
 public:
  PackedOnRing(const BlockList& blocks, int rank, int size) : blocks_(blocks), rank_(rank), size_(size) {
    if (blocks_.is_regular()) return;
    begins_.reserve(as_size(size) + 1);
    std::size_t begin = 0;
    for (int ahead = 0; ahead < size; ++ahead) {
      begins_.push_back(begin);
      begin += blocks_.bytes(rank_of(ahead));
    }
    begins_.push_back(begin);
  }

  int rank_of(int ahead) const { return ring_next(rank_, ahead, size_); }
  std::size_t begin(int ahead) const {
    return blocks_.is_regular() ? as_size(ahead) * blocks_.bytes(0) : begins_[as_size(ahead)];
  }

 private:
  const BlockList& blocks_;
  int rank_;
  int size_;
  std::vector<std::size_t> begins_;
};

}  // namespace

Task<> allgather_dissemination(Channel channel, ConstBuffer send, BlockList blocks) {
  const int size = channel.size();
  const int rank = channel.rank();
  const PackedOnRing place(blocks, rank, size);
  const ScratchVector packed(place.begin(size));
  const ConstBuffer own = is_in_place(send) ? ConstBuffer(blocks(rank)) : send;
  pack(own, TypeLayout::of(own.type), packed.data());

  for (int distance = 1; distance < size; distance *= 2) {
    const int moved = std::min(distance, size - distance);
    const std::size_t begin = place.begin(distance);
    const std::size_t incoming = place.begin(distance + moved) - begin;
    const std::size_t outgoing = place.begin(moved);
    Posts round;
    if (incoming > 0) {
      round.add(channel.post_receive({packed.data() + begin, incoming, MPI_PACKED},
                                     ring_next(rank, distance, size)));
    }
    if (outgoing > 0) {
      round.add(
          channel.post_send({packed.data(), outgoing, MPI_PACKED}, ring_previous(rank, distance, size)));
    }
    co_await round;
  }
  if (blocks.is_regular()) {
    // Two pieces: from this rank to the last, and from the first to this one.
    const int before_end = size - rank;
    unpack(packed.data(), blocks.range(rank, before_end), blocks.layout(0));
    unpack(packed.data() + place.begin(before_end), blocks.range(0, rank), blocks.layout(0));
    co_return;
  }
  for (int ahead = is_in_place(send) ? 1 : 0; ahead < size; ++ahead) {
    const int from = place.rank_of(ahead);
    unpack(packed.data() + place.begin(ahead), blocks(from), blocks.layout(from));
  }
}

}  // namespace wisp::detail
