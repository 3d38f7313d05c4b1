// Sums over all ranks to the left and over all to the right, by doubling distances. Before round k a rank
// knows the sums of the 2^k - 1 ranks on either side; to its partner at distance 2^k it sends that of the
// nearer side joined with its own item.
//
//   round 0   r-1 ─► r ◄─ r+1
//   round 1   r-2 ─► r ◄─ r+2        ⌈log2 p⌉ (α + 2nβ + 2nγ), O(n) memory
//   round 2   r-4 ─► r ◄─ r+4        Source: Moody et al. 2011, section 2

#include "chain/algorithms.hpp"

#include "chain/doubling.hpp"

namespace wisp::detail {
namespace {

/// The sum on one side of this rank, and what of it is on its way.
class Side {
 public:
  Side(const ConstBuffer& mine, const Operator* op, ScratchVector& sum)
      : mine_(mine), op_(op), sum_(sum), layout_(TypeLayout::of(mine.type)) {}

  bool is_wanted() const { return op_ != nullptr; }

  /// Where the partner's sum is received.
  Buffer incoming() {
    if (!is_wanted()) return {};
    if (!incoming_.exists()) incoming_ = ScratchVector(layout_, mine_.count);
    return at(incoming_);
  }
  /// This rank's item with the sum of lower ranks before it, or with that of higher ranks behind it.
  ConstBuffer outgoing(bool sum_is_before) {
    if (!is_wanted()) return {};
    if (!sum_.exists()) return mine_;
    if (!outgoing_.exists()) outgoing_ = ScratchVector(layout_, mine_.count);
    const void* right = sum_is_before ? mine_.address : sum_.data();
    const void* left = sum_is_before ? sum_.data() : mine_.address;
    copy_elements(right, outgoing_.data(), mine_.count, mine_.type, layout_);
    op_->apply(left, outgoing_.data(), mine_.count, mine_.type);
    return at(outgoing_);
  }
  void join_before() {
    if (!is_wanted()) return;
    if (!sum_.exists()) {
      sum_.swap(incoming_);
    } else {
      op_->apply(incoming_.data(), sum_.data(), mine_.count, mine_.type);
    }
  }
  void join_after() {
    if (!is_wanted()) return;
    if (sum_.exists()) op_->apply(sum_.data(), incoming_.data(), mine_.count, mine_.type);
    sum_.swap(incoming_);
  }

 private:
  Buffer at(const ScratchVector& vector) const { return {vector.data(), mine_.count, mine_.type}; }

  ConstBuffer mine_;
  const Operator* op_;
  ScratchVector& sum_;
  ScratchVector incoming_;
  ScratchVector outgoing_;
  TypeLayout layout_;
};

}  // namespace

Task<> side_sums(Link link, ConstBuffer mine, SideOperators operators, SideSums& sums) {
  Doubling walk(std::move(link));
  Side before(mine, operators.before, sums.before);
  Side after(mine, operators.after, sums.after);
  while (!walk.done()) {
    const bool has_left = walk.has_left();
    const bool has_right = walk.has_right();
    Doubling::Data data;
    if (has_left) data.from_left = before.incoming();
    if (has_right) data.from_right = after.incoming();
    if (has_left) data.to_left = after.outgoing(false);
    if (has_right) data.to_right = before.outgoing(true);
    Posts round;
    walk.post(round, data);
    co_await round;
    walk.advance();
    if (has_left) before.join_before();
    if (has_right) after.join_after();
  }
}

Task<> chain_scan(Link link, ConstBuffer send, ScanOutput output, Operator op) {
  const TypeLayout layout = TypeLayout::of(send.type);
  const auto copy = [&](const void* from, const Buffer& to) {
    if (from != to.address) copy_elements(from, to.address, send.count, send.type, layout);
  };
  SideSums sums;
  co_await side_sums(std::move(link), send, {&op, output.after ? &op : nullptr}, sums);
  if (!output.is_inclusive) {
    if (sums.before.exists()) copy(sums.before.data(), output.before);
    if (sums.after.exists()) copy(sums.after.data(), *output.after);
    co_return;
  }
  // The one that may lie where the input is comes last.
  if (output.after) {
    if (sums.after.exists()) op.apply(send.address, sums.after.data(), send.count, send.type);
    copy(sums.after.exists() ? sums.after.data() : send.address, *output.after);
  }
  copy(send.address, output.before);
  if (sums.before.exists()) op.apply(sums.before.data(), output.before.address, send.count, send.type);
}

}  // namespace wisp::detail
