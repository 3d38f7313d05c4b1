#pragma once

#include <optional>

#include "pattern/ring.hpp"
#include "wisp/channel.hpp"
#include "wisp/posted.hpp"

/// Walks over the ranks of a channel at doubling distances, whose partners are known by arithmetic (those of
/// a chain are learned on the way, see chain/doubling.hpp). Each has ⌈log2 p⌉ rounds.

namespace wisp::detail {

/// What is sent and received in a round; a vector of no elements is not the same as none.
struct WalkData {
  std::optional<ConstBuffer> to_left;
  std::optional<ConstBuffer> to_right;
  std::optional<Buffer> from_left;
  std::optional<Buffer> from_right;
};

/// To both sides, as far as there are ranks:  r - d ◄─► r ◄─► r + d
class LineWalk {
 public:
  explicit LineWalk(Channel channel) : channel_(std::move(channel)) {}

  bool done() const { return distance_ >= channel_.size(); }
  bool has_left() const { return channel_.rank() >= distance_; }
  bool has_right() const { return channel_.size() - channel_.rank() > distance_; }
  void post(Posts& round, const WalkData& data) {
    const int left = channel_.rank() - distance_;
    const int right = channel_.rank() + distance_;
    if (has_left() && has_elements(data.from_left)) round.add(channel_.post_receive(*data.from_left, left));
    if (has_right() && has_elements(data.from_right))
      round.add(channel_.post_receive(*data.from_right, right));
    if (has_left() && has_elements(data.to_left)) round.add(channel_.post_send(*data.to_left, left));
    if (has_right() && has_elements(data.to_right)) round.add(channel_.post_send(*data.to_right, right));
  }
  void advance() { distance_ *= 2; }

 private:
  static bool has_elements(const auto& data) { return data && data->count > 0; }

  Channel channel_;
  int distance_ = 1;
};

/// To the right around the ring, without data:  r - d ─► r ─► r + d
class RingWalk {
 public:
  explicit RingWalk(Channel channel) : channel_(std::move(channel)) {}

  bool done() const { return distance_ >= channel_.size(); }
  void post(Posts& round, const WalkData&) {
    const int rank = channel_.rank();
    const int size = channel_.size();
    round.add(channel_.post_receive({}, ring_previous(rank, distance_, size)));
    round.add(channel_.post_send({}, ring_next(rank, distance_, size)));
  }
  void advance() { distance_ *= 2; }

 private:
  Channel channel_;
  int distance_ = 1;
};

}  // namespace wisp::detail
