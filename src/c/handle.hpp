#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "transport/throw_error.hpp"

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
    if (free_ == nullptr) return ::operator new(bytes);
    Free* memory = free_;
    free_ = memory->next;
    return memory;
  }
  static void operator delete(void* memory) noexcept {
    const std::uint64_t mark = dead;
    free_ = ::new (memory) Free{mark, free_};
  }

 private:
  // Not a number that memory is likely to hold.
  static constexpr std::uint64_t living = 0x77697370'6c697665;
  static constexpr std::uint64_t dead = 0x77697370'64656164;

  /// Begins as a handle does.
  struct Free {
    volatile std::uint64_t mark;
    Free* next;
  };

  volatile std::uint64_t mark_ = living;  // volatile: whoever reads it may be wrong that there is an object
  static inline constinit thread_local Free* free_ = nullptr;  // whoever frees need not be who made
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
