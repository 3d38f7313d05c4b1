// A scan that begins anew where a rank's color is not that of its left neighbor. An item carries a flag:
// "a segment begins among the ranks that I sum up"; what lies left of a flag is not added any more.
//
//   colors   a a b b b       one message of a color, then a scan of flag and item
//   flags    1 0 1 0 0       ⌈log2 p⌉ (α + nβ)
//   Source: Blelloch 1990, "Prefix sums and their applications"

#include <cstring>

#include "chain/algorithms.hpp"

namespace wisp::detail {
namespace {

/// Behind the flag, a vector begins where any datatype may.
constexpr std::size_t flag_bytes = alignof(std::max_align_t);

/// Elements of any datatype behind a flag, as bytes.
class FlaggedVector {
 public:
  FlaggedVector(const ConstBuffer& of)
      : layout_(TypeLayout::of(of.type)),
        count_(of.count),
        type_(of.type),
        bytes_(flag_bytes + count_ * layout_.size) {}

  std::size_t bytes() const { return bytes_; }
  ScratchVector make(bool flag, const void* elements) const {
    ScratchVector made(bytes_);
    std::memset(made.data(), 0, flag_bytes);
    made.data()[0] = std::byte{flag};
    pack({elements, count_, type_}, layout_, made.data() + flag_bytes);
    return made;
  }
  static bool flag(const std::byte* flagged) { return flagged[0] != std::byte{}; }
  /// The elements as the operator wants them.
  void take(const std::byte* flagged, void* elements) const {
    unpack(flagged + flag_bytes, {elements, count_, type_}, layout_);
  }
  void join(const Operator& op, const std::byte* left, std::byte* right) const {
    if (!flag(right)) {
      const ScratchVector lower(layout_, count_);
      const ScratchVector higher(layout_, count_);
      take(left, lower.data());
      take(right, higher.data());
      op.apply(lower.data(), higher.data(), count_, type_);
      pack({higher.data(), count_, type_}, layout_, right + flag_bytes);
      right[0] = left[0];
    }
  }

 private:
  TypeLayout layout_;
  std::size_t count_;
  MPI_Datatype type_;
  std::size_t bytes_;
};

}  // namespace

Task<ScratchVector> from_left(Link link, ConstBuffer mine) {
  const ChainPlace& at = link.place();
  const std::uint64_t bytes = mine.count;
  std::uint64_t bytes_left = 0;
  Posts sends;
  if (at.right.exists()) sends.add(link.post_send(item(bytes), at.right));
  if (at.right.exists() && bytes > 0) sends.add(link.post_send(mine, at.right));
  if (at.left.exists()) co_await link.post_receive(item(bytes_left), at.left);
  ScratchVector left(bytes_left);
  if (bytes_left > 0) co_await link.post_receive({left.data(), left.bytes(), MPI_BYTE}, at.left);
  co_await sends;
  co_return left;
}

Task<> chain_segmented_scan(Link link, std::vector<std::byte> color, Reduction given, bool is_inclusive) {
  const ConstBuffer& send = given.send;
  void* const result = given.receive.address;
  const Operator& op = given.op;
  const ScratchVector left = co_await from_left(link, {color.data(), color.size(), MPI_BYTE});
  const bool begins = link.rank() == 0 || left.bytes() != color.size() ||
                      (!color.empty() && std::memcmp(left.data(), color.data(), color.size()) != 0);
  const FlaggedVector flagged(send);
  const ScratchVector mine = flagged.make(begins, send.address);
  Operator join(MPI_OP_NULL);
  join = Operator::on_bytes(
      [&flagged, &op](const std::byte* lower, std::byte* higher) { flagged.join(op, lower, higher); });
  SideSums sums;
  co_await side_sums(std::move(link), {mine.data(), mine.bytes(), MPI_BYTE}, {&join, nullptr}, sums);
  const TypeLayout layout = TypeLayout::of(send.type);
  if (is_inclusive && send.address != result) {
    copy_elements(send.address, result, send.count, send.type, layout);
  }
  if (begins) co_return;
  if (!is_inclusive) {
    flagged.take(sums.before.data(), result);
    co_return;
  }
  const ScratchVector before(layout, send.count);
  flagged.take(sums.before.data(), before.data());
  op.apply(before.data(), result, send.count, send.type);
}

}  // namespace wisp::detail
