#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>

#include "wisp/detail/as_size.hpp"
#include "wisp/detail/at_thread_end.hpp"

namespace wisp::detail {

/// Free lists by size class for coroutine frames and other short-lived blocks: an operation that has run
/// once finds all its memory again, so a small collective never reaches malloc, and a large one does not have
/// the system clear pages anew for each of its scratch vectors.
class FramePool {
 public:
  [[gnu::hot]] static void* allocate(std::size_t bytes) {
    mine_.live += bytes;
    mine_.peak = std::max(mine_.peak, mine_.live);
    return take(bytes);
  }
  static void release(void* memory, std::size_t bytes) noexcept {
    mine_.live -= bytes;
    give_back(memory, bytes);
  }

  /// Bytes that are in use, and the most that have been since `begin_peak`.
  static std::size_t live_bytes() noexcept { return mine_.live; }
  static std::size_t peak_bytes() noexcept { return mine_.peak; }
  static void begin_peak() noexcept { mine_.peak = mine_.live; }

  /// The same memory, not counted: what a simulated network holds is no rank's.
  [[gnu::hot]] static void* take(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    if (index >= class_count) return allocate_large(bytes);
    Block* block = mine_.heads->small[index];
    if (block == nullptr) return ::operator new((index + 1) * granule);
    mine_.heads->small[index] = block->next;
    return block;
  }

  [[gnu::hot]] static void give_back(void* memory, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    if (index >= class_count) {
      release_large(memory, bytes);
      return;
    }
    Block* head = mine_.heads->small[index];
    const std::size_t resting = head == nullptr ? 0 : head->resting;
    // Threads that give back what others took would rest without bound.
    if (resting * (index + 1) * granule >= mine_.most_of_class_at_rest || (head == nullptr && !has_heads())) {
      ::operator delete(memory);
    } else {
      mine_.heads->small[index] = ::new (memory) Block{head, resting + 1};
    }
  }

  /// So many bytes of each size may rest here: 16 MiB, unless a thread needs more again and again.
  static void let_rest(std::size_t bytes) noexcept { mine_.most_of_class_at_rest = bytes; }

  /// Frees what rests here: whoever comes next finds memory as in a new process, side by side.
  static void clear() noexcept {
    if (mine_.heads == &no_heads_) return;
    const auto free_all = [](Block*& head) {
      while (head != nullptr) ::operator delete(std::exchange(head, head->next));
    };
    for (Block*& head : mine_.heads->small) free_all(head);
    for (Block*& head : mine_.heads->large) free_all(head);
    mine_.at_rest = 0;
  }

  /// How many blocks of this size rest here.
  static std::size_t resting_blocks(std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    const Block* head = index < class_count ? mine_.heads->small[index] : nullptr;
    return head == nullptr ? 0 : head->resting;
  }

 private:
  struct Block {
    Block* next;
    std::size_t resting = 0;  ///< this one and those behind it
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

  // Large blocks: four classes for each power of two, up to 32 MiB, and never more than 64 MiB at rest.
  static constexpr int least_large_bits = 12;
  static constexpr int most_large_bits = 25;
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t most_at_rest = 0;
#else
  static constexpr std::size_t most_at_rest = std::size_t{64} << 20;
#endif
  static constexpr std::size_t large_class_count = 4 * (most_large_bits - least_large_bits) + 4;

  struct LargeClass {
    std::size_t index;
    std::size_t bytes;  ///< of every block of the class
  };
  static constexpr LargeClass large_class_of(std::size_t bytes) {
    const int bits = std::max(least_large_bits + 1, static_cast<int>(std::bit_width(bytes - 1)));
    const std::size_t step = std::size_t{1} << (bits - 3);
    const std::size_t steps = (bytes - (std::size_t{1} << (bits - 1)) + step - 1) / step;  // 1 … 4
    return {4 * as_size(bits - 1 - least_large_bits) + steps - 1,
            (std::size_t{1} << (bits - 1)) + steps * step};
  }

  static constexpr bool is_pooled(std::size_t bytes) {
    return most_at_rest > 0 && bytes <= std::size_t{1} << most_large_bits;
  }

  static void* allocate_large(std::size_t bytes) {
    if (!is_pooled(bytes)) return ::operator new(bytes);
    const LargeClass of = large_class_of(bytes);
    Block* block = mine_.heads->large[of.index];
    if (block == nullptr) return ::operator new(of.bytes);
    mine_.heads->large[of.index] = block->next;
    mine_.at_rest -= of.bytes;
    return block;
  }

  static void release_large(void* memory, std::size_t bytes) noexcept {
    if (!is_pooled(bytes) || mine_.at_rest + bytes > most_at_rest || !has_heads()) {
      ::operator delete(memory);
      return;
    }
    const LargeClass of = large_class_of(bytes);
    mine_.at_rest += of.bytes;
    mine_.heads->large[of.index] = ::new (memory) Block{mine_.heads->large[of.index]};
  }

  /// Frees what rests here; afterwards nothing does.
  static void end() noexcept {
    clear();
    if (mine_.heads != &no_heads_) delete std::exchange(mine_.heads, &no_heads_);
    mine_.most_of_class_at_rest = 0;
    mine_.at_rest = most_at_rest;
  }

  struct Heads {
    Block* small[class_count + 1];
    Block* large[large_class_count];
  };

  /// Whether there are lists for blocks to rest in: made for the first that comes.
  static bool has_heads() noexcept {
    return mine_.heads != &no_heads_ || make_heads();
  }
  [[gnu::noinline, gnu::cold]] static bool make_heads() noexcept {
    auto* made = new (std::nothrow) Heads{};
    if (made == nullptr) return false;
    mine_.heads = made;
    at_thread_end<&FramePool::end>();
    return true;
  }

  // Apart from the thread's variables: of those, libraries that are loaded later get few bytes.
  static inline constinit Heads no_heads_ = {};  ///< always empty
  struct OfThread {
    Heads* heads;
    std::size_t most_of_class_at_rest;
    std::size_t at_rest;
    std::size_t live;
    std::size_t peak;
  };
  static inline constinit thread_local OfThread mine_ = {&no_heads_, std::size_t{16} << 20, 0, 0, 0};
};

/// For standard containers and shared objects that live as short as a call.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;
  template <class Other>
  PoolAllocator(const PoolAllocator<Other>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(FramePool::allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { FramePool::release(memory, count * sizeof(T)); }
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
};

}  // namespace wisp::detail
