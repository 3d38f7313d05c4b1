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

/// A lock for short stays that its holder may take again. Who comes first takes it, which threads that share
/// a core need: nobody waits for one that sleeps. A holder that only waits itself (`let_others`) gives way to
/// those who want it. Uncontended it costs one atomic exchange.
class PoliteLock {
 public:
  void lock() noexcept {
    if (owner_.load(std::memory_order_relaxed) == this_thread()) {
      ++depth_;
    } else {
      take(1);
    }
  }
  void unlock() noexcept {
    if (--depth_ == 0) leave();
  }

  /// Lets others in, however often the holder has taken it; `meanwhile` runs outside.
  template <class Meanwhile>
  void let_others(Meanwhile meanwhile) {
    const int depth = std::exchange(depth_, 0);
    const unsigned stay = stays_.load(std::memory_order_relaxed);
    leave();
    meanwhile();
    for (int looks = 0; waiting_.load(std::memory_order_relaxed) > 0 && looks < 2 * looks_before_yield;
         ++looks) {
      if (stays_.load(std::memory_order_relaxed) != stay) break;
      if (looks >= looks_before_yield) sched_yield();
    }
    take(depth);
  }

 private:
  static constexpr int looks_before_yield = 64;

  void take(int depth) noexcept {
    if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      queue();
    owner_.store(this_thread(), std::memory_order_relaxed);
    depth_ = depth;
  }
  void queue() noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    for (int looks = 0;; ++looks) {
      if (!taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire)) break;
      if (looks >= looks_before_yield) sched_yield();
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    stays_.store(stays_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void leave() noexcept {
    owner_.store(nullptr, std::memory_order_relaxed);
    taken_.store(false, std::memory_order_release);
  }

  std::atomic<bool> taken_ = false;
  std::atomic<int> waiting_ = 0;
  std::atomic<unsigned> stays_ = 0;  ///< of those who had to wait for it
  std::atomic<const void*> owner_ = nullptr;
  int depth_ = 0;
};

}  // namespace wisp::detail
