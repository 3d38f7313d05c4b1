// Gather of sorted sequences up a binomial tree: a rank merges its children's sequences with its own, so that
// the root gets one sorted sequence. How long a sequence is goes before it.
//
//   0 ◄─┬─ 1              merge in rank order        ⌈log2 p⌉ · 2 α + N β + N ⌈log2 p⌉ γ, N: bytes in all
//       └─ 2 ◄── 3
//
// Source: the library RBC (Gatherm, Allgatherm); Axtmann et al. 2018, section V-D

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "collectives/algorithms.hpp"
#include "pattern/knomial_tree.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

/// Whether an element's data lie in memory in the order of its datatype.
bool lies_in_order(MPI_Datatype type, const TypeLayout& layout) {
  if (layout.contiguous || layout.size == 0) return true;
  constexpr std::size_t most = 256;
  std::array<std::byte, most> element;
  std::array<std::byte, most> packed;
  if (layout.size > most) return false;  // not known
  for (std::size_t i = 0; i < layout.size; ++i) element[i] = static_cast<std::byte>(i);
  pack({element.data(), 1, type}, layout, packed.data());
  return std::equal(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(layout.size),
                    element.begin());
}

/// Joins packed sequences by a function that takes elements as they lie in memory.
class Merger {
 public:
  Merger(Merge merge, MPI_Datatype type)
      : merge_(std::move(merge)),
        type_(type),
        layout_(TypeLayout::of(type)),
        is_in_order_(lies_in_order(type, layout_)) {}

  ScratchVector merged(const ScratchVector& lower, std::size_t bytes, const ScratchVector& higher) const {
    const std::size_t all = bytes + higher.bytes();
    ScratchVector result(all);
    if (is_in_order_ || bytes % layout_.size != 0 || all % layout_.size != 0) {
      merge(lower.data(), bytes, higher.data(), higher.bytes(), result.data());
      return result;
    }
    const ScratchVector left = unpacked(lower, bytes);
    const ScratchVector right = unpacked(higher, higher.bytes());
    const ScratchVector joined(all);
    merge(left.data(), bytes, right.data(), higher.bytes(), joined.data());
    pack({joined.data(), all / layout_.size, type_}, layout_, result.data());
    return result;
  }

 private:
  void merge(std::byte* lower, std::size_t lower_bytes, std::byte* higher, std::size_t higher_bytes,
             std::byte* to) const {
    merge_(lower, lower + lower_bytes, higher, higher + higher_bytes, to);
  }
  ScratchVector unpacked(const ScratchVector& packed, std::size_t bytes) const {
    ScratchVector elements(bytes);
    unpack(packed.data(), {elements.data(), bytes / layout_.size, type_}, layout_);
    return elements;
  }

  Merge merge_;
  MPI_Datatype type_;
  TypeLayout layout_;
  bool is_in_order_;
};

/// The merged sequence of this rank's subtree.
Task<> merge_up(Channel channel, ScratchVector& sequence, std::uint64_t& bytes, int root, Merger merger) {
  const KnomialTree tree(channel.rank(), channel.size(), root, 1);
  for (int k = 0; k < tree.child_count(); ++k) {
    std::uint64_t theirs = 0;
    co_await channel.post_receive(buffer_of(theirs), tree.child(k));
    if (theirs == 0) continue;
    const ScratchVector incoming(theirs);
    co_await channel.post_receive({incoming.data(), theirs, MPI_PACKED}, tree.child(k));
    sequence = merger.merged(sequence, bytes, incoming);
    bytes += theirs;
  }
  if (tree.is_root()) co_return;
  Posts sends;
  sends.add(channel.post_send(buffer_of(std::as_const(bytes)), tree.parent()));
  if (bytes > 0) sends.add(channel.post_send({sequence.data(), bytes, MPI_PACKED}, tree.parent()));
  co_await sends;
}

void put_merged(const Channel& channel, const ScratchVector& sequence, std::uint64_t bytes,
                const Buffer& receive) {
  const TypeLayout layout = TypeLayout::of(receive.type);
  if (bytes == 0) return;
  if (bytes > receive.count * layout.size) {
    const std::uint64_t size = std::max(layout.size, std::size_t{1});
    throw_error(MPI_ERR_TRUNCATE, "{}: the ranks have {} elements together, but receive has room for {}",
                channel.operation(), (bytes + size - 1) / size, receive.count);
  }
  if (bytes % layout.size != 0) {
    throw_error(MPI_ERR_TRUNCATE, "{}: the ranks have {} bytes together, but an element of receive has {}",
                channel.operation(), bytes, layout.size);
  }
  unpack(sequence.data(), {receive.address, bytes / layout.size, receive.type}, layout);
}

}  // namespace

Task<> gather_merge(Channel channel, ConstBuffer send, Buffer receive, int root, Merge merge) {
  const TypeLayout layout = TypeLayout::of(send.type);
  std::uint64_t bytes = send.count * layout.size;
  ScratchVector sequence(bytes);
  pack(send, layout, sequence.data());
  // Ranks count from the root in the tree, but sequences are merged in the order of ranks: from rank 0.
  co_await merge_up(channel, sequence, bytes, 0, Merger(std::move(merge), send.type));
  if (channel.rank() == 0 && root != 0) {
    Posts sends;
    sends.add(channel.post_send(buffer_of(std::as_const(bytes)), root));
    if (bytes > 0) sends.add(channel.post_send({sequence.data(), bytes, MPI_PACKED}, root));
    co_await sends;
  }
  if (channel.rank() != root) co_return;
  if (root != 0) {
    co_await channel.post_receive(buffer_of(bytes), 0);
    sequence = ScratchVector(bytes);
    if (bytes > 0) co_await channel.post_receive({sequence.data(), bytes, MPI_PACKED}, 0);
  }
  put_merged(channel, sequence, bytes, receive);
}

Task<> allgather_merge(Channel channel, ConstBuffer send, Buffer receive, Merge merge) {
  const TypeLayout layout = TypeLayout::of(send.type);
  std::uint64_t bytes = send.count * layout.size;
  ScratchVector sequence(bytes);
  pack(send, layout, sequence.data());
  co_await merge_up(channel, sequence, bytes, 0, Merger(std::move(merge), send.type));
  const int radix_bits = down_radix_bits(channel);
  co_await bcast_tree(channel, buffer_of(bytes), 0, radix_bits);
  if (channel.rank() != 0) sequence = ScratchVector(bytes);
  if (bytes > 0) co_await bcast_tree(channel, {sequence.data(), bytes, MPI_PACKED}, 0, radix_bits);
  put_merged(channel, sequence, bytes, receive);
}

}  // namespace wisp::detail
