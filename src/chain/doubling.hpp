#pragma once

#include "chain/addressed_message.hpp"
#include "collectives/channel_walks.hpp"

namespace wisp::detail {

/// A walk over a chain by doubling distances. In round k the partners are the ranks 2^k to the left and to
/// the right; each tells the other who its own partner on the far side is, and so both know whom to talk to
/// in the next round. Data ride on the same messages.
///
///   ◄─ "my right is r + d" ─┐     ┌─ "my left is r - d" ─►       ⌈log2 p⌉ rounds, 2 messages each;
///          r - d            └─ r ─┘            r + d             O(1) memory
///
/// Source: Moody et al. 2011, section 2.
class Doubling {
 public:
  explicit Doubling(Link link)
      : link_(std::move(link)), left_(link_.place().left), right_(link_.place().right) {}

  bool done() const { return distance_ >= link_.size(); }
  int distance() const { return distance_; }
  bool has_left() const { return link_.rank() >= distance_; }
  bool has_right() const { return link_.size() - link_.rank() > distance_; }
  const Address& left() const { return left_; }
  const Address& right() const { return right_; }

  /// The messages of this round. Data are needed until `advance`.
  void post(Posts& round, const WalkData& data) {
    // Who has a partner at twice the distance, both sides know: nobody is told that there is none.
    const bool has_next_left = link_.rank() - distance_ >= distance_;
    const bool has_next_right = link_.size() - link_.rank() - distance_ > distance_;
    if (has_left()) from_left_.receive(round, link_, left_, has_next_left, data.from_left);
    if (has_right()) from_right_.receive(round, link_, right_, has_next_right, data.from_right);
    if (has_left()) to_left_.send(round, link_, left_, has_right() ? right_ : Address(), data.to_left);
    if (has_right()) to_right_.send(round, link_, right_, has_left() ? left_ : Address(), data.to_right);
  }
  /// After the round is awaited: to the next one.
  void advance() {
    left_ = has_left() ? from_left_.open() : Address();
    right_ = has_right() ? from_right_.open() : Address();
    distance_ *= 2;
  }

 private:
  Link link_;
  int distance_ = 1;
  Address left_;
  Address right_;
  AddressedMessage to_left_;
  AddressedMessage to_right_;
  AddressedMessage from_left_;
  AddressedMessage from_right_;
};

}  // namespace wisp::detail
