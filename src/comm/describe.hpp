#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/context.hpp"
#include "comm/waits.hpp"
#include "wisp/group.hpp"
#include "wisp/posted.hpp"

// What reports and errors call things.

namespace wisp::detail {

/// `world` for all ranks of the communicator below, `world[0..6:2]` for a range of them, `world{3, 1, 4}` for
/// others, of which the first few are named.
std::string describe(const Group& group, int size_below, const std::string& name_below);

/// The name of a communicator: the user's, or how it has been made.
std::string describe(const Context& context);

/// Which of the calls on which communicator a message belongs to: "call 17 on world[0..7]#2", the second of
/// the communicators that the two ranks share.
std::string place_of(const Message& message);

/// Which of the collectives that a communicator numbers has this tag, from 0; or -1.
int call_of(const Context& context, int tag);

/// Whether somebody waits for a message.
inline bool is_awaited(const Message& message) {
  return message.world != nullptr && !message.is_background && !message.done;
}

/// Messages of this World that are not done, but those that nobody waits for.
void for_each_wait(const World& world, const std::function<void(Message&)>& of);

/// What is waited for with a message; ranks are those of `world`.
Wait wait_of(const Message& message, const World& world);

/// What this process waits for, of one context or (null) of this World; the first few. Ranks are those of
/// `world`.
std::vector<Wait> waits_in(const World& world, const Context* context);

}  // namespace wisp::detail
