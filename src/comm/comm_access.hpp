#pragma once

#include <memory>
#include <utility>

#include "comm/world.hpp"
#include "wisp/comm.hpp"

namespace wisp::detail {

/// What the library itself sees of a Comm.
struct CommAccess {
  static Comm make(std::shared_ptr<Context> context, Range range) {
    Comm comm;
    comm.range_ = range;
    comm.rank_ = range.from_parent(context->world->rank());
    comm.context_ = std::move(context);
    return comm;
  }
  /// The communicator of all ranks of a World: wherever it is made, the same one.
  static Comm make_root(std::shared_ptr<World> world) {
    auto context = std::make_shared<Context>(std::move(world));
    context->sequence = &context->world->root_sequence();
    const Range all{0, 1, context->world->size()};
    return make(std::move(context), all);
  }
  static const std::shared_ptr<Context>& context(const Comm& comm) { return comm.context_; }
  static World& world(const Comm& comm) { return *comm.context_->world; }
};

/// Throws unless the caller may start `call` on `comm`: a member of it, and MPI still there.
void check_usable(const Comm& comm, const char* call);

}  // namespace wisp::detail
