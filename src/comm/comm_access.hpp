#pragma once

#include <memory>
#include <utility>

#include "comm/world.hpp"
#include "wisp/comm.hpp"

namespace wisp::detail {

/// What the library itself sees of a Comm.
struct CommAccess {
  static Comm make(ContextPtr context, Group group) {
    Comm comm;
    comm.group_ = group;
    comm.rank_ = group.from_world(context->world->rank());
    comm.context_ = std::move(context);
    return comm;
  }
  /// The communicator of all ranks of a World: wherever it is made, the same one.
  static Comm make_root(std::shared_ptr<World> world, TagLayout::Kind kind);
  /// A communicator of members in a context of its own, numbered for each pair of them.
  static Comm make_numbered(const std::shared_ptr<World>& world, const Group& members);
  /// Of such a one that nobody else has, nor used: it counts as if it had not been made.
  static void uncount(const Comm& comm);
  /// A communicator of members, of the kind of the one that they come from.
  static Comm make_within(const Comm& parent, const Group& members, const char* call);
  /// The tag, without a code, of a persistent operation of `members`, which nobody else has in the context,
  /// or in an extension of it. Without members there are only as many as one context has.
  struct PersistentTag {
    ContextPtr context;
    int tag;
  };
  static PersistentTag persistent_tag(const ContextPtr& of, const Group& members, const char* operation);
  /// The channel of a persistent collective, whose tag nobody else has.
  static Channel persistent_channel(const Comm& comm, const char* operation, std::optional<int> own_tag);
  /// A channel for making a communicator of some of the ranks, whose tag is the caller's.
  static Channel creation_channel(const Comm& parent, Group members, int rank, const char* operation,
                                  int tag);
  static const ContextPtr& context(const Comm& comm) { return comm.context_; }
  /// The same; an error if nothing is known of them.
  static const std::shared_ptr<const GroupNodes>& known_nodes(const Comm& comm, const char* call);
  /// The nodes of its group, made when they are first asked for.
  static const std::shared_ptr<const GroupNodes>& nodes(const Comm& comm);
  static World& world(const Comm& comm) { return *comm.context_->world; }
};

/// Throws unless `comm` is a communicator, and MPI still there.
void check_there(const Comm& comm, const char* call);
/// And unless the caller may start `call` on it: a member.
void check_usable(const Comm& comm, const char* call);
inline void check_member(const Comm& comm, const char* call) {
  const ContextPtr& context = CommAccess::context(comm);
  if (!comm.is_member() || !context || context->world->closed()) [[unlikely]]
    check_usable(comm, call);
}

}  // namespace wisp::detail
