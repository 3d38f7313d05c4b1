#pragma once

#include "wisp/buffer.hpp"
#include "wisp/posted.hpp"
#include "wisp/range.hpp"

namespace wisp {

namespace detail {
class World;
}

/// A range of ranks as one operation sees it: its messages carry the operation's tag, so that operations in
/// flight on one communicator never meet. What algorithms are written against; trivially copyable, and a
/// sub-range of it is made in O(1) without a message or an allocation.
///
/// Two operations that share a channel must not run at the same time on two processes that both take part.
class Channel {
 public:
  Channel() = default;
  Channel(detail::World& world, Range range, int rank, int tag, const char* operation) noexcept
      : world_(&world), range_(range), rank_(rank), tag_(tag), operation_(operation) {}

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return range_.size; }
  const char* operation() const noexcept { return operation_; }
  const Range& world_range() const noexcept { return range_; }
  detail::World& world() const noexcept { return *world_; }

  /// The ranks first … last of this channel; the caller is one of them.
  Channel range(int first, int last) const noexcept {
    Channel inner = *this;
    inner.range_ = range_.compose(Range::between(first, last));
    inner.rank_ = rank_ - first;
    return inner;
  }

  Posted post_send(const ConstBuffer& buffer, int destination) const;
  Posted post_receive(const Buffer& buffer, int source) const;

  /// Messages of two lanes (0 and 1) apart from all others of the operation: received from whoever of the
  /// range sends first, and not more than the buffer holds.
  Posted post_send_in_lane(int lane, const ConstBuffer& buffer, int destination) const;
  Posted post_receive_from_any(int lane, const Buffer& buffer) const;

 private:
  detail::World* world_ = nullptr;
  Range range_;
  int rank_ = -1;
  int tag_ = 0;
  const char* operation_ = "";
};

}  // namespace wisp
