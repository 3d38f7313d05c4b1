#pragma once

#include "comm/context.hpp"
#include "comm/mailbox.hpp"
#include "transport/transport.hpp"
#include "wisp/posted.hpp"

namespace wisp::detail {

class ScratchVector;
class World;

/// Messages from one rank of the World; `tag` is without a code.
inline Mailbox::Pattern pattern_from(Context& context, int source, int tag) {
  return {&context, {}, source, tag, context.tag_from(tag, source), false};
}
/// Messages from any member.
inline Mailbox::Pattern pattern_from_any(Context& context, const Group& members, int tag) {
  return {&context, members, -1, tag, context.tag_from_any(tag).value_or(-1), false};
}

/// One message of `operation`, in the World's ranks; the tag is without a code.
Posted post_send(Context& context, const ConstBuffer& buffer, int destination, int tag, SendMode mode,
                 const char* operation);
/// The same with the tag on the wire. Reports call it a message of `context`, unless it is the library's own.
Posted post_send(World& world, const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                 const char* operation, Context* context = nullptr, int tag_there = -1);
Posted post_receive(Context& context, const Buffer& buffer, int source, int tag, const char* operation,
                    bool wants_envelope);
/// Of a message that matches.
Posted post_receive(World& world, const Buffer& buffer, const Mailbox::Pattern& pattern,
                    const char* operation, bool wants_envelope);
/// Sends what was packed for this message alone. Where it cannot leave yet, `packed` stays until it has.
Posted send_owned(Context& context, ScratchVector& packed, int destination, int tag, const char* operation);
/// Of a message of any size.
Posted post_receive_whole(World& world, MPI_Datatype type, RoomFor room, const Mailbox::Pattern& pattern,
                          const char* operation);
/// Done when a message that matches has arrived; it stays.
Posted post_probe(World& world, const Mailbox::Pattern& pattern, const char* operation);

}  // namespace wisp::detail
