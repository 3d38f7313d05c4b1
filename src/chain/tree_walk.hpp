#pragma once

#include <array>

#include "chain/addressed_message.hpp"
#include "pattern/chain_tree.hpp"

namespace wisp::detail {

enum ChainSide { left_side = 0, right_side = 1 };

/// A walk up the ChainTree of a root. In step k a rank hears from its child 2^k further out; when it has
/// heard from all it turns to its parent, and is done: two messages a rank in all. Whoever leaves tells its
/// two partners of each other, so that those who stay know whom they hear from next.
///
///   ⌈log2 p⌉ steps; O(log p) memory for the children.
class TreeWalk {
 public:
  TreeWalk(Link link, int root) : link_(std::move(link)), tree_(link_.rank(), link_.size(), root) {
    partners_ = {link_.place().left, link_.place().right};
  }

  const ChainTree& tree() const { return tree_; }
  const Link& link() const { return link_; }
  /// The sides on which a rank has children: the root on both, others outwards.
  bool has_side(ChainSide side) const {
    return tree_.is_root() || (side == right_side) == (tree_.inwards() < 0);
  }

  // Up.
  bool has_step() const { return tree_.is_root() ? step_ < link_.size() : step_ < tree_.reach(); }
  bool has_child(ChainSide side) const { return has_side(side) && child_distance() <= side_length(side); }
  /// How far the child of this step is from the root.
  int child_distance() const { return tree_.distance() + step_; }
  /// Ranks of its subtree.
  int child_size(ChainSide side) const {
    return ChainTree::subtree_size(child_distance(), side_length(side));
  }

  /// What comes from the children of this step.
  void post(Posts& step, const std::optional<Buffer>& from_left, const std::optional<Buffer>& from_right) {
    for (const ChainSide side : {left_side, right_side}) {
      const std::optional<Buffer>& data = side == left_side ? from_left : from_right;
      if (has_child(side)) {
        const bool tells_next = child_distance() + step_ <= side_length(side);
        children_[side].receive(step, link_, partners_[side], tells_next, data);
      } else if (!has_side(side)) {
        // Inwards is a rank that leaves now, and tells who is behind it.
        inner_.receive(step, link_, partners_[side], true, {});
      }
    }
  }
  void advance() {
    for (const ChainSide side : {left_side, right_side}) {
      if (has_child(side)) {
        child_addresses_[side][as_size(child_count_)] = partners_[side];
        partners_[side] = children_[side].open();
      } else if (!has_side(side)) {
        partners_[side] = inner_.open();
      } else {
        partners_[side] = {};
      }
    }
    ++child_count_;
    step_ *= 2;
  }
  /// To the parent, after the last step; nothing from the root.
  void post_up(Posts& posts, const std::optional<ConstBuffer>& data) {
    if (tree_.is_root()) return;
    const ChainSide inwards = tree_.inwards() < 0 ? left_side : right_side;
    const ChainSide outwards = inwards == left_side ? right_side : left_side;
    const bool has_outer = tree_.distance() + step_ <= tree_.side_length();
    parent_ = partners_[inwards];
    children_[inwards].send(posts, link_, parent_, has_outer ? partners_[outwards] : Address(), data);
    if (has_outer) inner_.send(posts, link_, partners_[outwards], parent_, {});
  }

  // Down again: the children of all steps, the last one first.
  const Address& parent() const { return parent_; }
  bool has_step_down() const { return child_count_ > 0; }
  void step_down() {
    --child_count_;
    step_ /= 2;
  }
  const Address& child(ChainSide side) const { return child_addresses_[side][as_size(child_count_)]; }

 private:
  int side_length(ChainSide side) const {
    if (!tree_.is_root()) return tree_.side_length();
    return side == left_side ? tree_.left_length() : tree_.right_length();
  }

  Link link_;
  ChainTree tree_;
  int step_ = 1;
  int child_count_ = 0;  ///< steps done
  std::array<Address, 2> partners_;
  std::array<std::array<Address, 31>, 2> child_addresses_;
  Address parent_;
  std::array<AddressedMessage, 2> children_;
  AddressedMessage inner_;
};

}  // namespace wisp::detail
