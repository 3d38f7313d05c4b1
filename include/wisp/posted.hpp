#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "wisp/detail/frame_pool.hpp"
#include "wisp/error.hpp"

namespace wisp {

namespace detail {

struct Context;
class World;

/// Of a message that was longer than what it was to go to.
constexpr std::size_t unknown_size = ~std::size_t{0};

/// Which of a World's MPI communicators carries a message, and its tag there.
using WireTag = std::int64_t;

constexpr WireTag to_wire(int mpi_comm, int mpi_tag) noexcept {
  return static_cast<WireTag>(mpi_comm) << 32 | mpi_tag;
}
constexpr int mpi_comm_of(WireTag tag) noexcept {
  return static_cast<int>(tag >> 32);
}
constexpr int mpi_tag(WireTag tag) noexcept {
  return static_cast<int>(tag & 0x7fffffff);
}

/// Who sent what: the sender's rank in the World, the tag on the wire, the size.
struct Envelope {
  int source = -1;
  WireTag tag = -1;
  std::size_t bytes = 0;
};

struct Message;

/// Told when a message has ended; not when it is given up.
class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  virtual void ended(const Message& message) noexcept = 0;
};

/// In front of data that travel with what else a message tells.
constexpr std::size_t header_bytes = 16;

/// Whether the error of a message says that it was too long.
bool is_of_size(int error) noexcept;

/// A message on its way, sent or to be received: filled by the transport, awaited by one coroutine.
struct Message {
  std::coroutine_handle<> waiter;
  int* remaining = nullptr;  ///< when one coroutine waits for several: how many are still on their way
  World* world = nullptr;
  Message* next = nullptr;  ///< in a Posts list
  const char* operation = "";
  Envelope envelope;
  int peer = -1;  ///< whom we wait for, in the World's ranks; -1: anyone
  int error = MPI_SUCCESS;
  bool lacks_code = false;  ///< there is none left for its communicator
  bool is_receive = false;
  bool is_background = false;   ///< nobody waits for it: its end is not taken for progress
  bool wants_envelope = false;  ///< whoever waits asks who sent how much; asking MPI takes its time
  bool done = false;
  bool is_queued = false;  ///< done, and whoever waits for it is about to be resumed
  bool is_shared = false;  ///< another thread may be about to complete it
  /// What a message of another size than `expected` says.
  enum class Expecting : unsigned char {
    nothing,
    block_of_rank,
    own_block,
    blocks,  ///< of a rank, several in one message
    equal_sizes,
    equal_sizes_behind_header  ///< which tells the size of what is shorter
  };
  Expecting expecting = Expecting::nothing;
  int rank = -1;  ///< whose block this is to be; of equal sizes, the sender's rank in the World
  int tag = -1;   ///< in the context
  std::size_t expected = 0;
  WireTag told_tag = -1;       ///< the tag, if that on the wire is another
  Context* context = nullptr;  ///< whose message it is; null: the library's own
  int failed = -1;             ///< the rank whose failure has ended it
  MessageObserver* observer = nullptr;

  static void* operator new(std::size_t bytes) { return FramePool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { FramePool::release(memory, bytes); }

  /// What has come. A message of another size than is due is an error; not every MPI says how long one was
  /// that was too long.
  void set_envelope(const Envelope& of_message) noexcept {
    envelope = of_message;
    if (told_tag >= 0) envelope.tag = told_tag;
    if (expecting == Expecting::nothing || (error != MPI_SUCCESS && !is_of_size(error))) return;
    if (error != MPI_SUCCESS && envelope.bytes <= expected) envelope.bytes = unknown_size;
    const bool may_be_shorter = expecting == Expecting::equal_sizes_behind_header && error == MPI_SUCCESS;
    const std::size_t least = may_be_shorter ? header_bytes : expected;
    if (envelope.bytes < least || envelope.bytes > expected) error = MPI_ERR_TRUNCATE;
  }
  void expect_bytes(std::size_t bytes, int of_rank, Expecting what) noexcept {
    if (lacks_code) return;  // which has words of its own
    expecting = what;
    rank = of_rank;
    expected = bytes;
    if (done) set_envelope(Envelope(envelope));
  }
  /// Marks it as done; returns whom to resume, or null.
  std::coroutine_handle<> complete() noexcept {
    done = true;
    if (observer != nullptr) [[unlikely]]
      std::exchange(observer, nullptr)->ended(*this);
    if (!waiter || (remaining != nullptr && --*remaining > 0)) return nullptr;
    return std::exchange(waiter, nullptr);
  }
};

/// Nobody waits for it any more.
void abandon(Message& message) noexcept;
/// Gives up one that is not done; whoever waits for it goes on.
void end_waiting(Message& message);
[[noreturn]] void throw_message_error(const Message& message);
/// A rank's vector is not as large as this rank's.
[[noreturn]] void throw_unequal_sizes(const char* call, int rank, std::size_t bytes, std::size_t expected);
/// A rank's block is not as large as the root says.
[[noreturn]] void throw_size_error(const char* call, int rank, std::size_t bytes, std::size_t expected);

}  // namespace detail

/// A message that is on its way; awaiting it gives its envelope. Ready at once when MPI was done at once: a
/// send that has left needs no Message. One that is dropped before it is done is cancelled (a receive) or
/// left to MPI (a send).
class [[nodiscard]] Posted {
 public:
  Posted() = default;
  explicit Posted(detail::Message* message) noexcept : message_(message) {}
  Posted(Posted&& other) noexcept : message_(std::exchange(other.message_, nullptr)) {}
  Posted& operator=(Posted&& other) noexcept {
    std::swap(message_, other.message_);
    return *this;
  }
  [[gnu::hot]] ~Posted() {
    if (message_ == nullptr) return;
    if (message_->is_shared || !message_->done || message_->is_queued) detail::abandon(*message_);
    delete message_;
  }

  bool done() const noexcept { return message_ == nullptr || message_->done; }
  detail::Message* message() const noexcept { return message_; }
  detail::Message* release() noexcept { return std::exchange(message_, nullptr); }

  /// Gives up a probe or a receive that is not done: whoever awaits it goes on, without a message.
  void cancel() {
    if (!done()) detail::end_waiting(*message_);
  }

  bool await_ready() const noexcept { return done(); }
  void await_suspend(std::coroutine_handle<> waiter) const noexcept { message_->waiter = waiter; }
  const detail::Envelope& await_resume() const {
    static constexpr detail::Envelope of_nothing;
    if (message_ == nullptr) return of_nothing;
    if (message_->error != MPI_SUCCESS) detail::throw_message_error(*message_);
    return message_->envelope;
  }

 private:
  detail::Message* message_ = nullptr;
};

/// Several messages on their way, awaited together. Allocates nothing of its own.
class [[nodiscard]] Posts {
 public:
  Posts() = default;
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;
  ~Posts() {
    while (first_ != nullptr) Posted dropped(std::exchange(first_, first_->next));
  }

  void add(Posted posted) noexcept {
    detail::Message* message = posted.release();
    if (message == nullptr) return;
    message->next = first_;
    first_ = message;
  }

  bool await_ready() noexcept {
    remaining_ = 0;
    for (detail::Message* m = first_; m != nullptr; m = m->next) remaining_ += m->done ? 0 : 1;
    return remaining_ == 0;
  }
  void await_suspend(std::coroutine_handle<> waiter) noexcept {
    for (detail::Message* m = first_; m != nullptr; m = m->next) {
      if (m->done) continue;
      m->waiter = waiter;
      m->remaining = &remaining_;
    }
  }
  void await_resume() const {
    for (detail::Message* m = first_; m != nullptr; m = m->next) {
      if (m->error != MPI_SUCCESS) detail::throw_message_error(*m);
    }
  }

 private:
  detail::Message* first_ = nullptr;
  int remaining_ = 0;
};

}  // namespace wisp
