#pragma once

#include <cstddef>
#include <new>

namespace wisp::detail {

/// Free lists by size class for coroutine frames and other short-lived blocks: an operation that has run
/// once finds all its memory again, so a small collective never reaches malloc.
class FramePool {
 public:
  static void* allocate(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    if (index >= class_count) return ::operator new(bytes);
    Block* block = heads_[index];
    if (block == nullptr) return ::operator new((index + 1) * granule);
    heads_[index] = block->next;
    return block;
  }

  static void release(void* memory, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    if (index >= class_count) {
      ::operator delete(memory);
    } else {
      heads_[index] = ::new (memory) Block{heads_[index]};
    }
  }

 private:
  struct Block {
    Block* next;
  };

  static constexpr std::size_t granule = 64;
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t class_count = 0;  // the sanitizer is to see every frame die
#else
  static constexpr std::size_t class_count = 64;  // up to 4 KiB
#endif

  static constexpr std::size_t class_of(std::size_t bytes) {
    return bytes == 0 ? 0 : (bytes - 1) / granule;
  }

  // Without a destructor, so that an access is one load: what a thread held at most is left at its end.
  static inline constinit thread_local Block* heads_[class_count + 1] = {};
};

}  // namespace wisp::detail
