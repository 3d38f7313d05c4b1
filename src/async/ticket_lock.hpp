#pragma once

#include <sched.h>

#include <atomic>
#include <utility>

namespace wisp::detail {

/// Tells the calling thread from others.
inline const void* this_thread() noexcept {
  static constinit thread_local char here = 0;
  return &here;
}

/// Serves threads in the order in which they come, so that no waiting loop starves another; its holder may
/// take it again. Uncontended it costs one atomic addition.
class TicketLock {
 public:
  void lock() noexcept {
    if (owner_.load(std::memory_order_relaxed) == this_thread()) {
      ++depth_;
    } else {
      queue(1);
    }
  }
  void unlock() noexcept {
    if (--depth_ == 0) leave();
  }

  /// Lets others in, however often the holder has taken it; `meanwhile` runs outside.
  template <class Meanwhile>
  void let_others(Meanwhile meanwhile) {
    const int depth = std::exchange(depth_, 0);
    leave();
    meanwhile();
    queue(depth);
  }

 private:
  void queue(int depth) noexcept {
    constexpr int looks_before_yield = 64;
    const unsigned ticket = next_.fetch_add(1, std::memory_order_relaxed);
    for (int looks = 0; serving_.load(std::memory_order_acquire) != ticket; ++looks) {
      if (looks >= looks_before_yield) sched_yield();
    }
    owner_.store(this_thread(), std::memory_order_relaxed);
    depth_ = depth;
  }
  void leave() noexcept {
    owner_.store(nullptr, std::memory_order_relaxed);
    serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::atomic<unsigned> next_ = 0;
  std::atomic<unsigned> serving_ = 0;
  std::atomic<const void*> owner_ = nullptr;
  int depth_ = 0;
};

}  // namespace wisp::detail
