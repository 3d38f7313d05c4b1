#include "comm/context.hpp"

#include "comm/world.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

void retain(Context* context) noexcept {
  ++context->references;
}

void release(Context* context) noexcept {
  if (--context->references == 0) delete context;
}

Context::~Context() {
  if (is_numbered) world->drop_numbered(*this);
  if (code_here >= 0) world->drop_named_code(code_here);
}

Group Context::group() const {
  if (is_numbered) return members;
  return uniform_code == 0 ? Group(Range{0, 1, world->size()}) : Group();
}

int Context::tag_of_operation(const char* operation, std::optional<int> own_tag) {
  const TagLayout& tags = world->tags();
  if (!own_tag) return tags.encode_count(kind, counters->collectives++);
  check_within(MPI_ERR_TAG, operation, "own_tag", *own_tag, 0, tags.upper_bound(kind));
  return tags.encode(kind, TagLayout::Lane::own_tag, *own_tag);
}

int Context::tag_of_persistent(const char* operation) {
  const TagLayout& tags = world->tags();
  if (counters->persistent >= tags.persistent_count(kind)) {
    throw_error(MPI_ERR_COMM,
                "{}: there have been {} persistent operations here, the most that tags can tell apart; "
                "give the next ones tags of your own (own_tag)",
                operation, tags.persistent_count(kind));
  }
  return tags.encode_persistent_count(kind, counters->persistent++);
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

void run_to_end(const ContextPtr& context, Task<> task) {
  const auto handle = task.handle();
  handle.resume();
  if (!handle.done()) {
    Engine& engine = context->world->engine();
    if (!engine.can_wait()) {
      throw Error(MPI_ERR_OTHER, "wisp::Comm: a simulated rank cannot block; co_await the operation instead");
    }
    engine.run_until([handle] { return handle.done(); });
  }
  handle.promise().take();
}

}  // namespace wisp::detail
