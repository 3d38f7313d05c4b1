#pragma once

#include <coroutine>

#include "wisp/task.hpp"

namespace wisp::detail {

/// A coroutine that nobody waits for: it frees itself, and what it holds, at its end.
struct Detached {
  struct promise_type : PooledFrame {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}  // there is nobody left to tell
  };
};

}  // namespace wisp::detail
