#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/sort/assignment.hpp"
#include "wisp/task.hpp"

// The data exchange of a level: every rank sends its small and its large elements to their targets, and
// receives, from whoever sends first, until its slots are full.

namespace wisp::detail {

/// Elements of one half on their way: what this rank sends, where, and the room that it has to fill.
template <class T>
struct HalfExchange {
  std::span<const T> piece;
  std::vector<Transfer> transfers;  ///< they add up to the piece
  std::span<T> room;
};

/// Posts the transfers of a half; what stays on this rank is copied at once. Returns what room is left.
template <class T>
std::span<T> post_transfers(const Channel& channel, const HalfExchange<T>& half, Posts& sends) {
  std::span<const T> piece = half.piece;
  std::span<T> room = half.room;
  for (const Transfer& transfer : half.transfers) {
    const std::span<const T> part = piece.first(transfer.count);
    piece = piece.subspan(transfer.count);
    if (transfer.target == channel.rank()) {
      std::copy(part.begin(), part.end(), room.begin());
      room = room.subspan(part.size());
    } else {
      sends.add(channel.post_send({part.data(), part.size_bytes(), MPI_BYTE}, transfer.target));
    }
  }
  return room;
}

template <class T>
Task<> fill_from_any(Channel channel, std::span<T> room) {
  while (!room.empty()) {
    const Posted received = channel.post_receive_from_any({room.data(), room.size_bytes(), MPI_BYTE});
    const Envelope envelope = co_await received;
    room = room.subspan(envelope.bytes / sizeof(T));
  }
}

template <class T>
Task<> exchange(Channel channel, HalfExchange<T> left, HalfExchange<T> right) {
  // A lane for each half: a receive from anyone must not take what belongs to the other half.
  const Channel left_lane = channel.lane(0);
  const Channel right_lane = channel.lane(1);
  Posts sends;
  const std::span<T> left_room = post_transfers(left_lane, left, sends);
  const std::span<T> right_room = post_transfers(right_lane, right, sends);
  if (!left_room.empty() && !right_room.empty()) {
    co_await when_all(fill_from_any(left_lane, left_room), fill_from_any(right_lane, right_room));
  } else {
    co_await fill_from_any(left_lane, left_room);
    co_await fill_from_any(right_lane, right_room);
  }
  co_await sends;
}

}  // namespace wisp::detail
