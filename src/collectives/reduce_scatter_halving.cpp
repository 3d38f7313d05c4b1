// Reduce-scatter by recursive halving. Blocks are put in the order of reversed bits first, so that the halves
// that speakers exchange with neighbors 1, 2, 4 … away are each in one piece, and a speaker ends with the
// blocks of the ranks that it speaks for.
//
//   blocks 0 1 2 3   ─ reverse bits ─►   0 2 | 1 3   ─ halve ─►   rank 0: 0, rank 1: 1, rank 2: 2, rank 3: 3
//
// ⌊log2 p⌋ α + nβ + nγ; up to two messages more if p is no power of two. Operands meet in rank order.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.4

#include "collectives/algorithms.hpp"
#include "collectives/halving_exchange.hpp"

namespace wisp::detail {
namespace {

/// The speakers' shares of the vector, in the order of the halving.
class Shares {
 public:
  Shares(const BlockList& blocks, RecursiveDoubling doubling) : doubling_(doubling) {
    std::size_t begin = 0;
    for (int part = 0; part < doubling.speaker_count(); ++part) {
      begins_.push_back(begin);
      for (int rank = first_rank(part); rank <= last_rank(part); ++rank) begin += blocks.count(rank);
    }
    begins_.push_back(begin);
  }

  std::size_t begin(int part) const { return begins_[static_cast<std::size_t>(part)]; }
  std::size_t count() const { return begins_.back(); }
  int part_of(int number) const { return reverse_bits(number, doubling_.rounds()); }

  /// The vector, share by share.
  void copy_from(const BlockList& blocks, void* vector, const TypeLayout& layout) const {
    std::size_t place = 0;
    for (int part = 0; part < doubling_.speaker_count(); ++part) {
      for (int rank = first_rank(part); rank <= last_rank(part); ++rank) {
        const Buffer block = blocks(rank);
        copy_elements(block.address, element(vector, place, layout), block.count, block.type, layout);
        place += block.count;
      }
    }
  }

 private:
  int number_of(int part) const { return reverse_bits(part, doubling_.rounds()); }
  int first_rank(int part) const { return doubling_.first_spoken_for(number_of(part)); }
  int last_rank(int part) const { return doubling_.speaker(number_of(part)); }

  RecursiveDoubling doubling_;
  std::vector<std::size_t> begins_;
};

}  // namespace

Task<> reduce_scatter_halving(Channel channel, BlockList send, Buffer block, MPI_Op op, bool commutes) {
  const RecursiveDoubling doubling(channel.rank(), channel.size());
  const Shares shares(send, doubling);
  const TypeLayout layout = TypeLayout::of(block.type);
  const ScratchVector work(layout, shares.count());
  shares.copy_from(send, work.data(), layout);
  const Buffer all(work.data(), shares.count(), block.type);
  if (!doubling.is_speaker()) {
    co_await channel.post_send(all, doubling.pair());
    if (block.count > 0) co_await channel.post_receive(block, doubling.pair());
    co_return;
  }
  const auto begin = [&](int part) { return shares.begin(part); };
  const PartedVector<decltype(begin)> vector{work.data(), block.type, layout, begin};
  if (doubling.is_paired()) co_await join_pair(channel, doubling, vector, all.count, op);
  co_await halve(channel, doubling, vector, op, commutes);

  // The share: the block of the rank below, if it is silent, and the own one.
  const int part = shares.part_of(doubling.number());
  const Buffer share = vector({part, part + 1});
  const std::size_t of_pair = share.count - block.count;
  copy_elements(element(share.address, of_pair, layout), block.address, block.count, block.type, layout);
  if (of_pair > 0) co_await channel.post_send({share.address, of_pair, share.type}, doubling.pair());
}

}  // namespace wisp::detail
