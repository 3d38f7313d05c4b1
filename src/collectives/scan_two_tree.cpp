// Pipelined prefix sums over two trees in rank order: sums go up, and what comes before a subtree's ranks
// goes down. With the total sent down too it is also an allreduce.
//
//            before                 node:   exclusive = before ∘ left
//              ▼                            inclusive = before ∘ left ∘ own
//      left ─► node ─► right        down to the left: before; to the right: inclusive
//
// (4 ⌈log2 p⌉ + k) (α + 2nβ/k + 2nγ/k) with k pieces. Source: Sanders, Träff 2006; Sanders, Speck, Träff 2009

#include "collectives/algorithms.hpp"
#include "collectives/two_tree_sums.hpp"
#include "pattern/log2.hpp"

namespace wisp::detail {
namespace {

/// One tree's part of the work: pieces which, which + 2, …
class ScanOverTree {
 public:
  ScanOverTree(Channel channel, ConstBuffer send, ScanResults results, MPI_Op op, int pieces, int which)
      : channel_(channel), results_(results), op_(op), sums_(channel, send, op, pieces, which) {}

  Task<> run() {
    // A piece comes down about two tree heights after it went up; until then, others go up.
    const int delay = 4 * ceil_log2(channel_.size());
    for (int piece = sums_.first(); sums_.has(piece - delay); piece += 2) {
      if (sums_.has(piece)) co_await sums_.join(piece, sums_.tree().parent());
      if (piece - delay >= sums_.first()) co_await bring_down(piece - delay);
    }
    co_await sends_;
  }

 private:
  Task<> bring_down(int piece) {
    const InOrderTree& tree = sums_.tree();
    TwoTreeSums::Piece& p = sums_[piece];
    if (!tree.is_root()) co_await p.to_parent;  // results may overwrite it
    const std::size_t count = p.sum.count;
    const MPI_Datatype type = p.sum.type;
    if (wants_prefixes()) {
      ScratchVector before;
      if (tree.has_lower()) {
        before = sums_.room(piece);
        co_await channel_.post_receive({before.data(), count, type}, tree.parent());
      }
      co_await pass_prefix(piece, before);
    }
    if (results_.total.address != nullptr) co_await pass_total(piece);
    p = {};
  }

  Task<> pass_total(int piece) {
    const InOrderTree& tree = sums_.tree();
    const TwoTreeSums::Piece& p = sums_[piece];
    const std::size_t count = p.sum.count;
    const MPI_Datatype type = p.sum.type;
    const Buffer total = sums_.piece_of(results_.total, piece);
    if (tree.is_root()) {
      if (p.sum.address != total.address) {
        copy_elements(p.sum.address, total.address, count, type, sums_.layout());
      }
    } else {
      co_await channel_.post_receive(total, tree.parent());
    }
    for (const int child : {tree.left(), tree.right()}) {
      if (child >= 0) sends_.add(channel_.post_send(total, child));
    }
  }

  /// Sends children what comes before them, and gives the results of this rank.
  Task<> pass_prefix(int piece, const ScratchVector& before) {
    const InOrderTree& tree = sums_.tree();
    TwoTreeSums::Piece& p = sums_[piece];
    const std::size_t count = p.sum.count;
    const MPI_Datatype type = p.sum.type;
    const TypeLayout& layout = sums_.layout();
    Posts to_children;
    if (tree.left() >= 0 && before.exists()) {
      to_children.add(channel_.post_send({before.data(), count, type}, tree.left()));
    }
    ScratchVector inclusive = sums_.room(piece);
    copy_elements(p.up_to_mine.address, inclusive.data(), count, type, layout);
    if (before.exists()) reduce_into_right(before.data(), inclusive.data(), count, type, op_);
    if (tree.right() >= 0) to_children.add(channel_.post_send({inclusive.data(), count, type}, tree.right()));
    if (results_.exclusive.address != nullptr && (before.exists() || p.left.exists())) {
      void* exclusive = sums_.piece_of(results_.exclusive, piece).address;
      copy_elements(p.left.exists() ? p.left.data() : before.data(), exclusive, count, type, layout);
      if (p.left.exists() && before.exists()) reduce_into_right(before.data(), exclusive, count, type, op_);
    }
    if (results_.inclusive.address != nullptr) {
      copy_elements(inclusive.data(), sums_.piece_of(results_.inclusive, piece).address, count, type, layout);
    }
    co_await to_children;
  }

  bool wants_prefixes() const {
    return results_.inclusive.address != nullptr || results_.exclusive.address != nullptr;
  }

  Channel channel_;
  ScanResults results_;
  MPI_Op op_;
  TwoTreeSums sums_;
  Posts sends_;
};

}  // namespace

Task<> scan_two_tree(Channel channel, ConstBuffer send, ScanResults results, MPI_Op op) {
  const int pieces =
      pipeline_pieces(channel.world().machine(), bytes_of(send), 2 * ceil_log2(channel.size()), send.count);
  ScanOverTree even(channel.lane(0), send, results, op, pieces, 0);
  ScanOverTree odd(channel.lane(1), send, results, op, pieces, 1);
  co_await when_all(even.run(), odd.run());
}

}  // namespace wisp::detail
