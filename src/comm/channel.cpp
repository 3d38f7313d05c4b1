#include "wisp/channel.hpp"

#include "comm/messages.hpp"
#include "comm/world.hpp"
#include "trace/recorder.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

/// Whose message it is; null: it has left.
Posted described(Message* message, World& world, Context* context, int tag, int peer, const char* operation) {
  if (message != nullptr) {
    message->world = &world;
    message->is_shared = world.engine().is_shared();
    message->context = context;
    message->tag = tag;
    message->peer = peer;
    message->operation = operation;
  }
  return Posted(message);
}

Posted make_receive(World& world, int peer, Context* context, int tag, const char* operation,
                    bool wants_envelope) {
  auto* message = new Message;
  message->is_receive = true;
  message->wants_envelope = wants_envelope;
  return described(message, world, context, tag, peer, operation);
}

Posted make_receive(World& world, const Mailbox::Pattern& pattern, const char* operation,
                    bool wants_envelope) {
  const int tag = pattern.is_any_number ? -1 : pattern.tag;
  return make_receive(world, pattern.source, pattern.context, tag, operation, wants_envelope);
}

void tell_recorder(World& world, const Context* context, int tag) {
  if (world.recorder() != nullptr && context != nullptr) [[unlikely]]
    world.recorder()->sending(*context, tag);
}

}  // namespace

[[gnu::hot]] Posted post_send(Context& context, const ConstBuffer& buffer, int destination, int tag,
                              SendMode mode, const char* operation) {
  World& world = *context.world;
  const WireTag wire_tag = context.tag_to(tag, destination);
  if (wire_tag >= 0) [[likely]] {
    tell_recorder(world, &context, tag);
    Message* sent = world.transport().send(buffer, destination, wire_tag, mode, operation);
    return described(sent, world, &context, tag, destination, operation);
  }
  if (context.named != nullptr) [[unlikely]] {
    throw_error(MPI_ERR_COMM, "{}: the communicator is not complete: wait for the request that makes it",
                operation);
  }
  Posted posted = described(new Message, world, &context, tag, destination, operation);
  world.mailbox().send(*posted.message(), {&context, buffer, destination, tag, mode, operation});
  return posted;
}

Posted send_owned(Context& context, ScratchVector& packed, int destination, int tag, const char* operation) {
  World& world = *context.world;
  if (const WireTag wire_tag = context.tag_to(tag, destination); wire_tag >= 0) [[likely]] {
    tell_recorder(world, &context, tag);
    world.transport().send_owned(std::move(packed), destination, wire_tag, operation);
    return {};
  }
  // Somebody must wait until there is a code: it is asked for in what follows.
  const ConstBuffer buffer(packed.data(), packed.bytes(), MPI_PACKED);
  return post_send(context, buffer, destination, tag, SendMode::standard, operation);
}

[[gnu::hot]] Posted post_send(World& world, const ConstBuffer& buffer, int destination, WireTag tag,
                              SendMode mode, const char* operation, Context* context, int tag_there) {
  tell_recorder(world, context, tag_there);
  Message* sent = world.transport().send(buffer, destination, tag, mode, operation);
  return described(sent, world, context, tag_there, destination, operation);
}

[[gnu::hot]] Posted post_receive(World& world, const Buffer& buffer, const Mailbox::Pattern& pattern,
                                 const char* operation, bool wants_envelope) {
  Posted posted = make_receive(world, pattern, operation, wants_envelope);
  Message& message = *posted.message();
  if (world.mailbox().can_post(pattern) && world.mailbox().is_idle()) [[likely]] {
    world.transport().receive(message, buffer, pattern.source, pattern.wire_tag);
  } else {
    world.mailbox().receive(message, buffer, pattern);
  }
  return posted;
}

[[gnu::hot]] Posted post_receive(Context& context, const Buffer& buffer, int source, int tag,
                                 const char* operation, bool wants_envelope) {
  World& world = *context.world;
  const WireTag wire_tag = context.tag_from(tag, source);
  if (wire_tag < 0 || !world.mailbox().is_idle()) [[unlikely]]
    return post_receive(world, buffer, pattern_from(context, source, tag), operation, wants_envelope);
  // The usual case, in which MPI does the matching: there is no need for a pattern.
  Posted posted = make_receive(world, source, &context, tag, operation, wants_envelope);
  world.transport().receive(*posted.message(), buffer, source, wire_tag);
  return posted;
}

Posted post_receive_whole(World& world, MPI_Datatype type, RoomFor room, const Mailbox::Pattern& pattern,
                          const char* operation) {
  Posted posted = make_receive(world, pattern, operation, true);
  world.mailbox().receive_whole(*posted.message(), type, std::move(room), pattern);
  return posted;
}

Posted post_probe(World& world, const Mailbox::Pattern& pattern, const char* operation) {
  Posted posted = make_receive(world, pattern, operation, false);
  world.mailbox().probe(*posted.message(), pattern);
  return posted;
}

void end_waiting(Message& message) {
  abandon(message);
  message.world->transport().complete(message);
}

}  // namespace detail

[[gnu::hot]] detail::World& Channel::world() const noexcept {
  return *context_->world;
}

const detail::Machine& Channel::machine() const noexcept {
  return world().machine(level_);
}

bool Channel::must_settle() const {
  return context_->must_settle(tag_);
}

bool Channel::compares_calls() const {
  return context_->world->checks_calls();
}

Channel Channel::lane(int which) const {
  Channel other = *this;
  other.tag_ = world().tags().in_lane(tag_, which);
  return other;
}

[[gnu::hot]] Posted Channel::post_send(const ConstBuffer& buffer, int destination) const {
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
  detail::tell_recorder(in, context_.get(), tag_);
  detail::Message* sent = in.transport().send_packed(packed, bytes, peer, tag, operation_);
  return detail::described(sent, in, context_.get(), tag_, peer, operation_);
}

[[gnu::hot]] Posted Channel::post_from(const Buffer& buffer, int source, bool wants_envelope) const {
  return detail::post_receive(*context_.get(), buffer, group_.to_world(source), tag_, operation_,
                              wants_envelope);
}

[[gnu::hot]] Posted Channel::post_receive(const Buffer& buffer, int source) const {
  return post_from(buffer, source, false);
}

Posted Channel::post_receive_up_to(const Buffer& buffer, int source) const {
  return post_from(buffer, source, true);
}

[[gnu::hot]] Posted Channel::post_receive_of(std::size_t bytes, const Buffer& buffer, int source,
                                             int block) const {
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
