#pragma once

#include <vector>

#include "collectives/reduction.hpp"
#include "pattern/two_tree.hpp"
#include "wisp/channel.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/posted.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// The way up one of the two trees, piece by piece: a node joins the sums of its left subtree, its own vector
/// and the sum of its right subtree, in this order, and passes the result to its parent.
///
///        parent
///          ▲  left ∘ own ∘ right
///         node
///       ▲      ▲
///     left    right
class TwoTreeSums {
 public:
  /// What a node knows of a piece once its children have reported.
  struct Piece {
    ScratchVector left;   ///< the sum of the left subtree
    ScratchVector mine;   ///< left ∘ own, if there is a left child
    ScratchVector right;  ///< the sum of the right subtree; then, of the whole subtree
    Posted from_left;
    Posted from_right;
    Posted to_parent;
    ConstBuffer up_to_mine;  ///< left ∘ own
    ConstBuffer sum;         ///< of the whole subtree
  };

  TwoTreeSums(Channel channel, ConstBuffer vector, const Operator& op, int pieces, int which)
      : channel_(std::move(channel)),
        tree_(channel_.rank(), channel_.size(), which),
        vector_(vector),
        layout_(TypeLayout::of(vector.type)),
        op_(op),
        segments_(vector.count, pieces),
        first_(which),
        piece_count_(pieces),
        pieces_(as_size(pieces)) {
    post(first_);
  }

  const InOrderTree& tree() const { return tree_; }
  int first() const { return first_; }
  bool has(int piece) const { return piece < piece_count_; }
  Piece& operator[](int piece) { return pieces_[as_size(piece)]; }
  /// The piece of a whole vector.
  Buffer piece_of(const Buffer& whole, int piece) const {
    return {element(whole.address, segments_.begin(piece), layout_), segments_.size(piece), whole.type};
  }
  ScratchVector room(int piece) const { return ScratchVector(layout_, segments_.size(piece)); }
  const TypeLayout& layout() const { return layout_; }

  /// Awaits the children and joins; the sum is then on its way to `target`, if that is a rank.
  Task<> join(int piece, int target) {
    if (has(piece + 2)) post(piece + 2);  // its messages come in while this one is joined
    Piece& p = (*this)[piece];
    const Buffer own = piece_of({const_cast<void*>(vector_.address), vector_.count, vector_.type}, piece);
    p.up_to_mine = own;
    if (tree_.left() >= 0) {
      co_await p.from_left;
      p.mine = room(piece);
      copy_elements(own.address, p.mine.data(), own.count, own.type, layout_);
      op_.apply(p.left.data(), p.mine.data(), own.count, own.type);
      p.up_to_mine.address = p.mine.data();
    }
    p.sum = p.up_to_mine;
    if (tree_.right() >= 0) {
      co_await p.from_right;
      op_.apply(p.up_to_mine.address, p.right.data(), own.count, own.type);
      p.sum.address = p.right.data();
    }
    if (target >= 0) p.to_parent = channel_.post_send(p.sum, target);
  }

 private:
  void post(int piece) {
    if (!has(piece)) return;
    Piece& p = (*this)[piece];
    const std::size_t count = segments_.size(piece);
    if (tree_.left() >= 0) {
      p.left = room(piece);
      p.from_left = channel_.post_receive({p.left.data(), count, vector_.type}, tree_.left());
    }
    if (tree_.right() >= 0) {
      p.right = room(piece);
      p.from_right = channel_.post_receive({p.right.data(), count, vector_.type}, tree_.right());
    }
  }

  Channel channel_;
  InOrderTree tree_;
  ConstBuffer vector_;
  TypeLayout layout_;
  const Operator& op_;
  Balance segments_;
  int first_;
  int piece_count_;
  std::vector<Piece> pieces_;
};

}  // namespace wisp::detail
