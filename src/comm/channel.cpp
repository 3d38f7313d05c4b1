#include "wisp/channel.hpp"

#include "comm/messages.hpp"
#include "comm/world.hpp"

namespace wisp {

namespace detail {
namespace {

void describe(Message& message, World& world, int peer, const char* operation) {
  message.world = &world;
  message.operation = operation;
  message.peer = peer;
}

Posted described(Posted posted, World& world, int peer, const char* operation) {
  if (!posted.done()) describe(*posted.message(), world, peer, operation);
  return posted;
}

Posted make_receive(World& world, int peer, const char* operation, bool wants_envelope) {
  Posted posted(new Message);
  Message& message = *posted.message();
  describe(message, world, peer, operation);
  message.is_receive = true;
  message.wants_envelope = wants_envelope;
  return posted;
}

}  // namespace

Posted post_send(Context& context, const ConstBuffer& buffer, int destination, int tag, SendMode mode,
                 const char* operation) {
  const WireTag wire_tag = context.tag_to(tag, destination);
  if (wire_tag >= 0) [[likely]]
    return post_send(*context.world, buffer, destination, wire_tag, mode, operation);
  Posted posted(new Message);
  describe(*posted.message(), *context.world, destination, operation);
  context.world->mailbox().send(*posted.message(), {&context, buffer, destination, tag, mode, operation});
  return posted;
}

Posted post_send(World& world, const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                 const char* operation) {
  Posted posted(world.transport().send(buffer, destination, tag, mode, operation));
  return described(std::move(posted), world, destination, operation);
}

Posted post_receive(World& world, const Buffer& buffer, const Mailbox::Pattern& pattern,
                    const char* operation, bool wants_envelope) {
  Posted posted = make_receive(world, pattern.source, operation, wants_envelope);
  Message& message = *posted.message();
  if (world.mailbox().can_post(pattern) && world.mailbox().is_idle()) [[likely]] {
    world.transport().receive(message, buffer, pattern.source, pattern.wire_tag);
  } else {
    world.mailbox().receive(message, buffer, pattern);
  }
  return posted;
}

Posted post_probe(World& world, const Mailbox::Pattern& pattern, const char* operation) {
  Posted posted = make_receive(world, pattern.source, operation, false);
  world.mailbox().probe(*posted.message(), pattern);
  return posted;
}

void end_waiting(Message& message) {
  abandon(message);
  message.world->transport().complete(message);
}

}  // namespace detail

detail::World& Channel::world() const noexcept {
  return *context_->world;
}

const detail::Machine& Channel::machine() const noexcept {
  return world().machine(level_);
}

Channel Channel::lane(int which) const {
  Channel other = *this;
  other.tag_ = world().tags().in_lane(tag_, which);
  return other;
}

Posted Channel::post_send(const ConstBuffer& buffer, int destination) const {
  const int peer = group_.to_world(destination);
  return detail::post_send(*context_.get(), buffer, peer, tag_, detail::SendMode::standard, operation_);
}

Posted Channel::post_ssend(const ConstBuffer& buffer, int destination) const {
  const int peer = group_.to_world(destination);
  return detail::post_send(*context_.get(), buffer, peer, tag_, detail::SendMode::synchronous, operation_);
}

Posted Channel::post_send_packed(detail::ScratchVector& packed, std::size_t bytes, int destination) const {
  detail::World& in = world();
  const int peer = group_.to_world(destination);
  const detail::WireTag tag = context_->tag_to(tag_, peer);
  if (tag < 0) [[unlikely]]
    return post_send({packed.data(), bytes, MPI_PACKED}, destination);
  Posted posted(in.transport().send_packed(packed, bytes, peer, tag, operation_));
  return detail::described(std::move(posted), in, peer, operation_);
}

Posted Channel::post_from(const Buffer& buffer, int source, bool wants_envelope) const {
  detail::World& in = world();
  const int peer = group_.to_world(source);
  const detail::WireTag tag = context_->tag_from(tag_, peer);
  if (tag < 0 || !in.mailbox().is_idle()) [[unlikely]] {
    return detail::post_receive(in, buffer, detail::pattern_from(*context_.get(), peer, tag_), operation_,
                                wants_envelope);
  }
  // The usual case, in which MPI does the matching: there is no need for a pattern.
  Posted posted = detail::make_receive(in, peer, operation_, wants_envelope);
  in.transport().receive(*posted.message(), buffer, peer, tag);
  return posted;
}

Posted Channel::post_receive(const Buffer& buffer, int source) const {
  return post_from(buffer, source, false);
}

Posted Channel::post_receive_up_to(const Buffer& buffer, int source) const {
  return post_from(buffer, source, true);
}

Posted Channel::post_receive_of(std::size_t bytes, const Buffer& buffer, int source, int block) const {
  Posted posted = post_receive_up_to(buffer, source);
  using Expecting = detail::Message::Expecting;
  posted.message()->expect_bytes(bytes, block,
                                 block == source ? Expecting::block_of_rank : Expecting::own_block);
  return posted;
}

Posted Channel::post_probe(int source) const {
  return detail::post_probe(world(), detail::pattern_from(*context_.get(), group_.to_world(source), tag_),
                            operation_);
}

Posted Channel::post_probe_any() const {
  return detail::post_probe(world(), detail::pattern_from_any(*context_.get(), group_, tag_), operation_);
}

Posted Channel::post_receive_from_any(const Buffer& buffer) const {
  return detail::post_receive(world(), buffer, detail::pattern_from_any(*context_.get(), group_, tag_),
                              operation_, true);
}

}  // namespace wisp
