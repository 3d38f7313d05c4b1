#pragma once

#include <cstdint>

#include "wisp/buffer.hpp"
#include "wisp/detail/context_ptr.hpp"
#include "wisp/group.hpp"
#include "wisp/posted.hpp"

namespace wisp {

namespace detail {
class ScratchVector;
class World;
enum class Level : std::uint8_t;
struct Machine;
}  // namespace detail

/// A group of ranks as one operation sees it: its messages carry the operation's tag, so that operations in
/// flight on one communicator never meet. What algorithms are written against; a sub-range of it is made in
/// O(1) without a message or an allocation.
///
/// Two operations that share a channel must not run at the same time on two processes that both take part.
class Channel {
 public:
  Channel() = default;
  Channel(detail::ContextPtr context, Group group, int rank, int tag, const char* operation) noexcept
      : context_(std::move(context)), group_(group), rank_(rank), operation_(operation), tag_(tag) {}

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return group_.size(); }
  const char* operation() const noexcept { return operation_; }
  const Group& group() const noexcept { return group_; }
  detail::World& world() const noexcept;
  detail::Level level() const noexcept { return level_; }
  /// What its messages cost.
  const detail::Machine& machine() const noexcept;
  /// Of an operation that receives from any source: see detail::settled.
  bool must_settle() const;
  /// With WISP_CHECK=1: see detail::compared.
  bool compares_calls() const;

  /// The ranks first … last of this channel; the caller is one of them.
  Channel range(int first, int last) const noexcept {
    Channel inner = *this;
    inner.group_ = group_.compose(Range::between(first, last));
    inner.rank_ = rank_ - first;
    return inner;
  }
  /// Other ranks of the World with the same tag; the caller is number `rank` of them.
  Channel among(const Group& members, int rank) const noexcept {
    Channel other = *this;
    other.group_ = members;
    other.rank_ = rank;
    return other;
  }
  /// The same, of ranks that are all on one node, or all on different ones.
  Channel among(const Group& members, int rank, detail::Level level) const noexcept {
    Channel other = among(members, rank);
    other.level_ = level;
    return other;
  }
  /// Lane 0 or 1 of the operation: its messages are apart from those of the other and of this channel.
  Channel lane(int which) const;

  Posted post_send(const ConstBuffer& buffer, int destination) const;
  /// The same; done when its receiver has begun to receive it.
  Posted post_ssend(const ConstBuffer& buffer, int destination) const;
  /// The same of bytes that the library has packed for this message alone, and whose memory it may keep.
  Posted post_send_packed(detail::ScratchVector& packed, std::size_t bytes, int destination) const;
  Posted post_receive(const Buffer& buffer, int source) const;
  /// The same; awaiting it tells how many bytes came.
  Posted post_receive_up_to(const Buffer& buffer, int source) const;
  /// The same of a block of exactly so many bytes, that of the source or (from the root) of this rank;
  /// another size is an error that names the rank.
  Posted post_receive_of(std::size_t bytes, const Buffer& buffer, int source, int block) const;
  /// From whoever of the channel's ranks sends first, and not more than the buffer holds. On a lane that is
  /// used for nothing else, in an operation that is settled.
  Posted post_receive_from_any(const Buffer& buffer) const;
  /// Done when a message from the source, or from any rank, has come: it tells how large it is, and stays for
  /// a receive. Any rank: on a lane that is used for nothing else.
  Posted post_probe(int source) const;
  Posted post_probe_any() const;
  /// Who sent a message that a probe or a receive from any has found.
  int source_of(const detail::Envelope& envelope) const { return group_.from_world(envelope.source); }

 private:
  Posted post_from(const Buffer& buffer, int source, bool wants_envelope) const;

  detail::ContextPtr context_;
  Group group_;
  int rank_ = -1;
  detail::Level level_ = {};
  const char* operation_ = "";
  int tag_ = 0;  ///< apart from the rank: copied as one word, both would wait for their two stores
};

}  // namespace wisp
