#include "wisp/channel.hpp"

#include "comm/messages.hpp"
#include "comm/world.hpp"

namespace wisp {

namespace detail {

Posted post_send(World& world, const ConstBuffer& buffer, int destination, int tag, SendMode mode,
                 const char* operation) {
  Posted posted(new Message);
  Message& message = *posted.message();
  message.world = &world;
  message.operation = operation;
  message.peer = destination;
  world.transport().send(message, buffer, destination, tag, mode);
  return posted;
}

Posted post_receive(World& world, const Buffer& buffer, const Mailbox::Pattern& pattern,
                    const char* operation, bool wants_envelope) {
  Posted posted(new Message);
  Message& message = *posted.message();
  message.world = &world;
  message.operation = operation;
  message.peer = pattern.source;
  message.is_receive = true;
  message.wants_envelope = wants_envelope;
  if (pattern.is_exact() && world.mailbox().is_idle()) [[likely]] {
    world.transport().receive(message, buffer, pattern.source, pattern.tag);
  } else {
    world.mailbox().receive(message, buffer, pattern);
  }
  return posted;
}

}  // namespace detail

Posted Channel::post_send(const ConstBuffer& buffer, int destination) const {
  return detail::post_send(*world_, buffer, range_.to_parent(destination), tag_, detail::SendMode::standard,
                           operation_);
}

Posted Channel::post_receive(const Buffer& buffer, int source) const {
  return detail::post_receive(*world_, buffer, {range_, range_.to_parent(source), tag_}, operation_, false);
}

Posted Channel::post_send_in_lane(int lane, const ConstBuffer& buffer, int destination) const {
  return detail::post_send(*world_, buffer, range_.to_parent(destination),
                           world_->tags().from_any(tag_, lane), detail::SendMode::standard, operation_);
}

Posted Channel::post_receive_from_any(int lane, const Buffer& buffer) const {
  return detail::post_receive(*world_, buffer, {range_, -1, world_->tags().from_any(tag_, lane)}, operation_,
                              true);
}

}  // namespace wisp
