#pragma once

#include "comm/mailbox.hpp"
#include "transport/transport.hpp"
#include "wisp/posted.hpp"

namespace wisp::detail {

class World;

/// One message of `operation`, in the World's ranks and with the tag on the wire.
Posted post_send(World& world, const ConstBuffer& buffer, int destination, int tag, SendMode mode,
                 const char* operation);
Posted post_receive(World& world, const Buffer& buffer, const Mailbox::Pattern& pattern,
                    const char* operation, bool wants_envelope);

}  // namespace wisp::detail
