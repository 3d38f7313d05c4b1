#include "comm/context.hpp"

#include <atomic>
#include <utility>

#include "comm/describe.hpp"
#include "comm/world.hpp"
#include "trace/recorder.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

[[gnu::hot]] void retain(Context* context) noexcept {
  if (context->counts_atomically) {
    std::atomic_ref(context->references).fetch_add(1, std::memory_order_relaxed);
  } else {
    ++context->references;
  }
}

[[gnu::hot]] void release(Context* context) noexcept {
  const int left = context->counts_atomically
                       ? std::atomic_ref(context->references).fetch_sub(1, std::memory_order_acq_rel) - 1
                       : --context->references;
  if (left > 0) return;
  // The World may go with its last context, and the engine with that: not while it is held.
  const std::shared_ptr<World> world = std::move(context->world);
  const EngineLock lock(world->engine());
  context->leave(*world);
  delete context;
}

ContextPtr shared(Context* context) {
  retain(context);
  return ContextPtr(context);
}

[[gnu::hot]] EngineLock lock(const ContextPtr& context, const char* call) {
  if (!context) [[unlikely]]
    throw_error(MPI_ERR_COMM, "{}: the communicator is empty", call);
  return {context->world->engine(), call};
}

Context::Context(std::shared_ptr<World> of, TagLayout::Kind which)
    : counts_atomically(of->engine().is_shared()), world(std::move(of)), kind(which) {}

void Context::leave(World& from) noexcept {
  if (is_numbered) from.drop_numbered(*this);
  if (code_here >= 0) from.drop_named_code(code_here);
}

Group Context::group() const {
  if (is_numbered) return members;
  return uniform_code == 0 ? Group(Range{0, 1, world->size()}) : Group();
}

[[gnu::hot]] int Context::tag_of_operation(const char* operation, std::optional<int> own_tag) {
  const EngineLock lock(world->engine(), operation);
  const TagLayout& tags = world->tags();
  if (!own_tag) {
    const std::uint32_t count = counters->collectives++;
    if (tags.begins_half_round(kind, count)) [[unlikely]]
      end_previous(count);
    return tags.encode_count(kind, count);
  }
  check_within(MPI_ERR_TAG, operation, "own_tag", *own_tag, 0, tags.upper_bound(kind));
  return tags.encode(kind, TagLayout::Lane::own_tag, *own_tag);
}

void Context::end_previous(std::uint32_t count) {
  Engine& engine = world->engine();
  if (!engine.can_wait()) return;
  engine.poll();  // what has come may go on
  const auto is_in_flight = [&] {
    bool is_found = false;
    for_each_wait(*world, [&](const Message& message) {
      is_found = is_found || (message.context != nullptr && message.context->counters == counters &&
                              world->tags().is_before(message.tag, count, counters->collectives));
    });
    return is_found;
  };
  engine.run_until([&] { return !is_in_flight(); }, this);
}

bool Context::must_settle(int tag) {
  const TagLayout& tags = world->tags();
  if (kind == TagLayout::Kind::raw || tags.lane(tag) == TagLayout::Lane::own_tag) return true;
  if (!tags.is_persistent(tag) && !counters->meet_at) {
    counters->meet_at = tags.count_before(tag, counters->collectives) + tags.half_round(kind);
  }
  return false;
}

int Context::tag_of_persistent(const char* operation) {
  const TagLayout& tags = world->tags();
  if (counters->persistent >= tags.persistent_count(kind)) {
    throw_error(
        MPI_ERR_COMM,
        "{}: there have been {} persistent operations here, the most that tags can tell apart; "
        "give the next ones tags of your own (own_tag), or a communicator of its own, as range(0, size - 1)",
        operation, tags.persistent_count(kind));
  }
  return tags.encode_persistent_count(kind, static_cast<std::uint32_t>(counters->persistent++));
}

WireTag Context::with_code(int tag, int code) const {
  return code < 0 ? -1 : world->tags().with_code(tag, code);
}

int Context::look_up(int peer) {
  const CodeBlocks::Number number = named == nullptr ? number_with(peer) : 0;
  const int code = named != nullptr ? named->codes[as_size(named->group.from_world(peer))]
                                    : world->pair_codes().code_of(peer, number);
  if (code >= 0) cache_[as_size(peer) % cache_.size()] = {peer, code, number};
  return code;
}

[[gnu::hot]] void run_to_end(const ContextPtr& context, Task<> task, Awaits awaits) {
  const Context* const waits_in = awaits == Awaits::its_context ? context.get() : nullptr;
  const TracedWait wait(context->world->recorder(), waits_in);
  const auto handle = task.handle();
  if (!handle) throw Error(MPI_ERR_ARG, "wisp::Comm::run: the task is empty, or has been moved from");
  handle.resume();
  if (!handle.done()) {
    Engine& engine = context->world->engine();
    if (!engine.can_wait()) {
      throw Error(MPI_ERR_OTHER, "wisp::Comm: a simulated rank cannot block; co_await the operation instead");
    }
    engine.run_until([handle] { return handle.done(); }, waits_in);
  }
  handle.promise().take();
}

}  // namespace wisp::detail
