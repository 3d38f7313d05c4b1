#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "transport/throw_error.hpp"
#include "wisp/detail/at_thread_end.hpp"

namespace wisp::c {

/// What a handle of C points to. Its memory is used again for handles only and never given back, so that a
/// handle which was freed can be told from one that lives, instead of being undefined behaviour.
template <class Object>
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { mark_ = dead; }

  bool is_alive() const noexcept { return mark_ == living; }

  static void* operator new(std::size_t bytes) {
    if (free_ == nullptr && !take_of_others()) return ::operator new(bytes);
    Free* memory = free_;
    free_ = memory->next;
    --free_count_;
    return memory;
  }
  static void operator delete(void* memory) noexcept {
    static_assert(sizeof(Object) >= sizeof(Free));
    if (free_ == nullptr) detail::at_thread_end<&Handle::give_to_others>();
    const std::uint64_t mark = dead;
    free_ = ::new (memory) Free{mark, free_, nullptr};
    // One thread may free all that another one makes.
    if (++free_count_ >= most_of_thread) give_to_others();
  }

 private:
  // Not a number that memory is likely to hold.
  static constexpr std::uint64_t living = 0x77697370'6c697665;
  static constexpr std::uint64_t dead = 0x77697370'64656164;

  /// Begins as a handle does.
  struct Free {
    volatile std::uint64_t mark;
    Free* next;
    Free* next_batch;
  };

  static constexpr int most_of_thread = 64;

  static bool take_of_others() noexcept {
    const std::lock_guard lock(of_others_lock_);
    if (of_others_ == nullptr) return false;
    free_ = of_others_;
    free_count_ = most_of_thread;  // or fewer: then they are given away earlier
    of_others_ = free_->next_batch;
    return true;
  }
  static void give_to_others() noexcept {
    if (free_ == nullptr) return;
    const std::lock_guard lock(of_others_lock_);
    free_->next_batch = std::exchange(of_others_, free_);
    free_ = nullptr;
    free_count_ = 0;
  }

  volatile std::uint64_t mark_ = living;  // volatile: whoever reads it may be wrong that there is an object
  static inline constinit thread_local Free* free_ = nullptr;
  static inline constinit thread_local int free_count_ = 0;
  static inline constinit std::mutex of_others_lock_;
  static inline constinit Free* of_others_ = nullptr;  ///< in batches
};

/// The object of a handle that is not null; an error if it has been freed.
template <class Object>
Object& alive(Object* handle, int error_class, const char* name) {
  if (!handle->is_alive()) [[unlikely]] {
    detail::throw_error(error_class, "{} has been freed", name);
  }
  return *handle;
}

}  // namespace wisp::c
