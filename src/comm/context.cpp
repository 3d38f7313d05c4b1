#include "comm/context.hpp"

#include "comm/world.hpp"

namespace wisp::detail {

void retain(Context* context) noexcept {
  ++context->references;
}

void release(Context* context) noexcept {
  if (--context->references == 0) delete context;
}

Context::~Context() {
  if (!claims.empty()) world->drop_claims(*this);
  if (named != nullptr) world->drop_named_code(named->here);
}

int Context::with_code(int tag, int code) const {
  return world->tags().with_code(tag, code);
}

int Context::look_up(int peer) {
  int code = 0;
  if (named != nullptr) {
    code = named->codes[static_cast<std::size_t>(named->group.from_world(peer))];
  } else {
    const int root_is_first = 1;
    code = world->tags().code_of_pair_number(root_is_first + numbers->with(peer));
    if (world->tags().is_reused_code(code)) world->claim(*this, peer, code);
  }
  cache_[static_cast<std::size_t>(peer) % cache_.size()] = {peer, code};
  return code;
}

}  // namespace wisp::detail
