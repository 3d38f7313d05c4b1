// Pipelined prefix sums over two trees in rank order: sums go up, and what comes before a subtree's ranks
// goes down. With the total sent down too it is also an allreduce.
//
//            before                 node:   exclusive = before ∘ left
//              ▼                            inclusive = before ∘ left ∘ own
//      left ─► node ─► right        down to the left: before; to the right: inclusive
//
// 2 ⌈log2 p⌉ (α + 2.5nβ/k) + 2nβ with k pieces. Source: Sanders, Träff 2006; Sanders, Speck, Träff 2009

#include <coroutine>
#include <utility>

#include "collectives/algorithms.hpp"
#include "collectives/two_tree_sums.hpp"
#include "pattern/log2.hpp"

namespace wisp::detail {
namespace {

/// Lets one coroutine wait until another has come so far.
class Progress {
 public:
  void advance() {
    ++steps_;
    wake();
  }
  /// It will come no further.
  void stop() {
    is_stopped_ = true;
    wake();
  }
  /// False if it has stopped before.
  auto reaches(int steps) {
    struct Awaiter {
      Progress& progress;
      bool await_ready() const { return progress.is_over(); }
      void await_suspend(std::coroutine_handle<> waiter) const { progress.waiter_ = waiter; }
      bool await_resume() const { return progress.steps_ >= progress.wanted_; }
    };
    wanted_ = steps;
    return Awaiter{*this};
  }

 private:
  bool is_over() const { return is_stopped_ || steps_ >= wanted_; }
  void wake() {
    if (waiter_ && is_over()) std::exchange(waiter_, nullptr).resume();
  }

  int steps_ = 0;
  int wanted_ = 0;
  bool is_stopped_ = false;
  std::coroutine_handle<> waiter_;
};

/// One tree's part of the work: pieces which, which + 2, … go up, and come down as soon as they can: one that
/// waits to come down keeps no other from going up.
class ScanOverTree {
 public:
  ScanOverTree(Channel channel, ConstBuffer send, ScanResults results, const Operator& op, int pieces,
               int which)
      : channel_(channel), results_(results), op_(op), sums_(channel, send, op, pieces, which) {}

  Task<> run() { return when_all(go_up(), come_down()); }

 private:
  Task<> go_up() {
    try {
      for (int piece = sums_.first(); sums_.has(piece); piece += 2) {
        co_await sums_.join(piece, sums_.tree().parent());
        gone_up_.advance();
      }
    } catch (...) {
      gone_up_.stop();
      throw;
    }
  }
  Task<> come_down() {
    int wanted = 0;
    for (int piece = sums_.first(); sums_.has(piece); piece += 2) {
      if (!co_await gone_up_.reaches(++wanted)) break;
      co_await bring_down(piece);
    }
    co_await sends_;
  }
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
    if (is_given(results_.total)) co_await pass_total(piece);
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
    // What the last rank has is the total, not what rounds as another order of sums does.
    if (channel_.rank() == channel_.size() - 1 && is_given(results_.inclusive)) {
      copy_elements(total.address, sums_.piece_of(results_.inclusive, piece).address, count, type,
                    sums_.layout());
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
    ScratchVector inclusive = sums_.room(piece);
    Posts to_children;
    if (tree.left() >= 0 && before.exists()) {
      to_children.add(channel_.post_send({before.data(), count, type}, tree.left()));
    }
    copy_elements(p.up_to_mine.address, inclusive.data(), count, type, layout);
    if (before.exists()) op_.apply(before.data(), inclusive.data(), count, type);
    if (tree.right() >= 0) to_children.add(channel_.post_send({inclusive.data(), count, type}, tree.right()));
    if (is_given(results_.exclusive) && (before.exists() || p.left.exists())) {
      void* exclusive = sums_.piece_of(results_.exclusive, piece).address;
      copy_elements(p.left.exists() ? p.left.data() : before.data(), exclusive, count, type, layout);
      if (p.left.exists() && before.exists()) op_.apply(before.data(), exclusive, count, type);
    }
    if (is_given(results_.inclusive)) {
      copy_elements(inclusive.data(), sums_.piece_of(results_.inclusive, piece).address, count, type, layout);
    }
    co_await to_children;
  }

  bool wants_prefixes() const { return is_given(results_.inclusive) || is_given(results_.exclusive); }

  Channel channel_;
  ScanResults results_;
  const Operator& op_;
  TwoTreeSums sums_;
  Progress gone_up_;
  Posts sends_;
};

}  // namespace

Task<> scan_two_tree(Channel channel, ConstBuffer send, ScanResults results, Operator op) {
  const int pieces =
      pipeline_pieces(channel.machine(), bytes_of(send), 2 * ceil_log2(channel.size()), send.count);
  ScanOverTree even(channel.lane(0), send, results, op, pieces, 0);
  ScanOverTree odd(channel.lane(1), send, results, op, pieces, 1);
  co_await when_all(even.run(), odd.run());
}

}  // namespace wisp::detail
