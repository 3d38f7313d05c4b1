#include "chain/link.hpp"

#include "comm/messages.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {

Posted Link::post_send(const ConstBuffer& buffer, const Address& to) const {
  if (to.code < 0)
    return detail::post_send(*context_.get(), buffer, to.rank, tag_, SendMode::standard, operation_);
  return detail::post_send(world(), buffer, to.rank, world().tags().with_code(tag_, to.code),
                           SendMode::standard, operation_, context_.get(), tag_);
}

Posted Link::post_receive(const Buffer& buffer, const Address& from, Holds holds) const {
  Posted posted = detail::post_receive(*context_.get(), buffer, from.rank, tag_, operation_, true);
  posted.message()->expect_bytes(
      buffer.count * TypeLayout::of(buffer.type).size, from.rank,
      holds == Holds::data ? Message::Expecting::equal_sizes : Message::Expecting::equal_sizes_behind_header);
  return posted;
}

namespace {

int tag_of_new(World& world, int number) {
  return world.tags().encode(TagLayout::Kind::isolated, TagLayout::Lane::creation, number);
}

}  // namespace

Posted post_to_new(World& world, const ConstBuffer& buffer, const Address& to, int number,
                   const char* operation) {
  const WireTag tag = world.tags().with_code(tag_of_new(world, number), to.code);
  return detail::post_send(world, buffer, to.rank, tag, SendMode::standard, operation);
}

Posted post_from_any(Context& made, const Buffer& buffer, int number, const char* operation) {
  World& world = *made.world;
  Mailbox::Pattern pattern{&made, {}, -1, tag_of_new(world, number)};
  pattern.wire_tag = world.tags().with_code(pattern.tag, made.code_here);
  pattern.is_any_source = true;
  return detail::post_receive(world, buffer, pattern, operation, false);
}

ContextPtr new_context(const ContextPtr& parent) {
  ContextPtr context(new Context(parent->world, TagLayout::Kind::isolated));
  context->code_here = context->world->take_named_code();
  return context;
}

Chain ChainAccess::make(ContextPtr context, const ChainPlace& place) {
  Chain chain;
  chain.context_ = std::move(context);
  chain.place_ = place;
  return chain;
}

Link ChainAccess::link(const Chain& chain, const char* operation, std::optional<int> own_tag) {
  const ContextPtr& context = chain.context_;
  return {context, chain.place_, context->tag_of_operation(operation, own_tag), operation};
}

Link ChainAccess::persistent_link(const Chain& chain, const char* operation, std::optional<int> own_tag) {
  if (own_tag) return link(chain, operation, own_tag);
  // A chain that is not made of a communicator does not know its members.
  const bool is_of_comm = chain.place_.here.code < 0;
  CommAccess::PersistentTag made =
      CommAccess::persistent_tag(chain.context_, is_of_comm ? chain.context_->group() : Group(), operation);
  return {std::move(made.context), chain.place_, made.tag, operation};
}

void check_usable(const Chain& chain, const char* call) {
  const ContextPtr& context = ChainAccess::context(chain);
  if (!context || chain.empty()) throw_error(MPI_ERR_COMM, "{}: the chain is empty", call);
  if (context->world->closed()) {
    throw_error(MPI_ERR_COMM, "{}: the MPI communicator below has been freed", call);
  }
}

}  // namespace wisp::detail
