// Reductions on a chain: up a tree of short edges, the nearer ranks first, so that operands stay in rank
// order. To all, the root tells the others what it has: sums on both sides of each rank would take half the
// time, but every rank would add in another order, and floating-point results would differ.
//
//   d = 0 ◄─ 1          to a root: ⌈log2 p⌉ (α + nβ + nγ), two messages a rank
//       ▲── 2 ◄─ 3      to all: 2 ⌈log2 p⌉ (α + nβ)
//   Source: Moody et al. 2011, section 2

#include "chain/algorithms.hpp"
#include "chain/tree_walk.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {
namespace {

/// The sum of the ranks that this one has heard from, and of itself.
class RankSum {
 public:
  RankSum(const ConstBuffer& mine, const Operator& op)
      : op_(op), value_(mine), layout_(TypeLayout::of(mine.type)) {}

  const ConstBuffer& value() const { return value_; }
  void join_before(const void* lower) {
    if (!own_.exists()) {
      own_ = ScratchVector(layout_, value_.count);
      copy_elements(value_.address, own_.data(), value_.count, value_.type, layout_);
      value_.address = own_.data();
    }
    op_.apply(lower, own_.data(), value_.count, value_.type);
  }
  /// `higher` takes the sum, and is exchanged for a vector that is free.
  void join_after(ScratchVector& higher) {
    op_.apply(value_.address, higher.data(), value_.count, value_.type);
    own_.swap(higher);
    value_.address = own_.data();
  }
  ScratchVector room() const { return {layout_, value_.count}; }
  void copy_to(void* address) const {
    if (address != value_.address) {
      copy_elements(value_.address, address, value_.count, value_.type, layout_);
    }
  }

 private:
  const Operator& op_;
  ConstBuffer value_;
  TypeLayout layout_;
  ScratchVector own_;
};

}  // namespace

Task<> chain_reduce(Link link, ConstBuffer send, Buffer receive, Operator op, int root) {
  TreeWalk walk(link, root);
  RankSum sum(send, op);
  ScratchVector vectors[2];
  while (walk.has_step()) {
    Buffer incoming[2];
    for (const ChainSide side : {left_side, right_side}) {
      if (!walk.has_child(side)) continue;
      if (!vectors[side].exists()) vectors[side] = sum.room();
      incoming[side] = {vectors[side].data(), send.count, send.type};
    }
    Posts step;
    walk.post(step, incoming[left_side], incoming[right_side]);
    co_await step;
    const bool has_left = walk.has_child(left_side);
    const bool has_right = walk.has_child(right_side);
    walk.advance();
    if (has_left) sum.join_before(vectors[left_side].data());
    if (has_right) sum.join_after(vectors[right_side]);
  }
  Posts up;
  walk.post_up(up, sum.value());
  co_await up;
  if (link.rank() == root) sum.copy_to(receive.address);
}

Task<> chain_allreduce(Link link, ConstBuffer send, Buffer receive, Operator op) {
  co_await chain_reduce(link, send, receive, std::move(op), 0);
  co_await chain_bcast(std::move(link), receive, 0);
}

Task<> chain_barrier(Link link) {
  // Nobody has the sum of all before all have begun.
  std::byte mine{};
  const Operator any = MPI_BOR;
  SideSums sums;
  co_await side_sums(std::move(link), item(mine), {&any, &any}, sums);
}

}  // namespace wisp::detail
