#pragma once

namespace wisp::detail {

/// Calls `function` when this thread ends. To be called off the hot path: a thread's variables themselves
/// need no destructor then, so that each access to them is one load.
template <void (*function)() noexcept>
[[gnu::noinline]] void at_thread_end() noexcept {
  struct AtEnd {
    AtEnd() = default;
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { function(); }
  };
  static const thread_local AtEnd at_end;
}

}  // namespace wisp::detail
