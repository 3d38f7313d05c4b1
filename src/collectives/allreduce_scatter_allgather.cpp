// Allreduce and reduce of long vectors (Rabenseifner): recursive halving leaves every speaker with one part
// of the sum; then the parts are put together again, everywhere or at the root.
//
//   0 1 2 3   ─ halve ─►   parts 0 2 1 3   ─ double back ─►   all parts everywhere
//
// 2 ⌊log2 p⌋ α + 2nβ + nγ; two more messages of n if p is no power of two. Operands meet in rank order.
// Source: Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5

#include "collectives/algorithms.hpp"
#include "collectives/halving_exchange.hpp"
#include "pattern/segments.hpp"

namespace wisp::detail {
namespace {

auto parted(void* address, std::size_t count, MPI_Datatype type, int parts) {
  const EvenSegments segments(count, parts);
  const auto begin = [segments](int part) { return segments.begin(part); };
  return PartedVector<decltype(begin)>{address, type, TypeLayout::of(type), begin};
}

}  // namespace

Task<> allreduce_scatter_allgather(Channel channel, Reduction reduction) {
  const auto [send, receive, op, commutes] = reduction;
  const RecursiveDoubling doubling(channel.rank(), channel.size());
  if (!doubling.is_speaker()) {
    co_await channel.post_send(send, doubling.pair());
    co_await channel.post_receive(receive, doubling.pair());
    co_return;
  }
  const auto vector = parted(receive.address, receive.count, receive.type, doubling.speaker_count());
  if (send.address != receive.address) {
    copy_elements(send.address, receive.address, send.count, send.type, vector.layout);
  }
  if (doubling.is_paired()) co_await join_pair(channel, doubling, vector, receive.count, op);
  co_await halve(channel, doubling, vector, op, commutes);
  co_await double_back(channel, doubling, vector);
  if (doubling.is_paired()) co_await channel.post_send(receive, doubling.pair());
}

Task<> reduce_scatter_gather(Channel channel, Reduction reduction, int root) {
  const auto [send, receive, op, commutes] = reduction;
  const RecursiveDoubling doubling(channel.rank(), channel.size());
  const bool is_root = channel.rank() == root;
  if (!doubling.is_speaker()) {
    co_await channel.post_send(send, doubling.pair());
    if (is_root) co_await channel.post_receive(receive, doubling.pair());
    co_return;
  }
  const TypeLayout layout = TypeLayout::of(send.type);
  ScratchVector own;
  if (!is_root) own = ScratchVector(layout, send.count);
  const auto vector =
      parted(is_root ? receive.address : own.data(), send.count, send.type, doubling.speaker_count());
  if (send.address != vector.address) {
    copy_elements(send.address, vector.address, send.count, send.type, layout);
  }
  if (doubling.is_paired()) co_await join_pair(channel, doubling, vector, send.count, op);
  co_await halve(channel, doubling, vector, op, commutes);
  const int root_number = RecursiveDoubling(root, channel.size()).number();
  co_await collect_back(channel, doubling, vector, root_number);
  if (doubling.number() == root_number && !is_root) {
    co_await channel.post_send({vector.address, send.count, send.type}, root);
  }
}

}  // namespace wisp::detail
