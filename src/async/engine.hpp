#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include "async/polite_lock.hpp"

namespace wisp::detail {

/// Gives the core away while nothing moves. Whoever is to send to us may be waiting for this very core; but
/// where every rank has a core of its own, a yield only delays the next look. Which of the two it is shows in
/// how long a yield takes: an instant, if nobody else wanted the core.
class IdleLoop {
 public:
  /// A poll of MPICH takes one message: several for later may be before the one that is awaited.
  static constexpr int fewest_polls = 8;

  using Duration = std::chrono::steady_clock::duration;

  void moved() {
    empty_polls_ = 0;
    is_idle_ = false;
  }

  /// Returns for how long nothing has moved, if the clock had to be asked anyway.
  Duration pause(int& polls_before_yield) {
    // The clock is not asked before it matters: most waits are short.
    const int timed_polls = polls_before_yield / 2;
    if (++empty_polls_ == polls_before_yield - timed_polls) timing_since_ = Clock::now();
    if (empty_polls_ < polls_before_yield) return {};
    const auto before = Clock::now();
    // An MPI that yields by itself makes its polls long: then a second yield would only cost a turn.
    bool others_ran = before - timing_since_ > timed_polls * long_poll;
    if (!others_ran) {
      sched_yield();
      others_ran = Clock::now() - before > long_yield;
    }
    polls_before_yield = others_ran ? fewest_polls : std::min(2 * polls_before_yield, most_polls);
    empty_polls_ = 0;
    if (!std::exchange(is_idle_, true)) idle_since_ = before;
    return before - idle_since_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr int most_polls = 1024;
  static constexpr std::chrono::nanoseconds long_poll{1000};
  static constexpr std::chrono::nanoseconds long_yield{2000};

  int empty_polls_ = 0;
  bool is_idle_ = false;  ///< since then
  Clock::time_point idle_since_;
  Clock::time_point timing_since_;
};

struct Context;
struct Message;

/// Has something to do while others wait.
class Attendant {
 public:
  virtual ~Attendant() = default;
  /// Nothing has moved for so long, in a wait for an operation of `waits_in` (if it is known) or in calls
  /// that only look.
  virtual void attend_wait(std::chrono::nanoseconds idle, const Context* waits_in) = 0;
  virtual void attend_look(std::chrono::nanoseconds idle) = 0;
  /// MPI is about to end.
  virtual void attend_end() noexcept = 0;
};

/// Which threads may be in an engine.
enum class Threads {
  unchecked,  ///< whoever runs a simulated cluster
  main,       ///< the one that initialized MPI (MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED)
  in_turn,    ///< any, but one at a time (MPI_THREAD_SERIALIZED)
  any         ///< all; the engine is their lock (MPI_THREAD_MULTIPLE)
};

/// Makes the pending operations of one process move. Every blocking call polls the one engine, so all
/// operations in flight progress in any of them, whatever the order in which they are waited for.
///
/// All that an engine and what lies above it (Worlds, contexts, mailboxes, coroutines) hold is touched under
/// an EngineLock only. A wait lets other threads in between two looks.
class Engine {
 public:
  Engine() = default;
  /// Where only one thread may call, that is the one that calls this.
  explicit Engine(Threads threads) : threads_(threads), latest_thread_(this_thread()) {}
  virtual ~Engine() = default;

  /// False on a simulated rank: it shares its thread with those that it would wait for.
  virtual bool can_wait() const { return true; }

  /// Looks once for completed messages and resumes whom they wake; false when nothing moved.
  virtual bool poll() = 0;

  /// A step of a wait: a poll, or a sleep until a message completes, if nothing else can move.
  virtual bool step() { return poll(); }

  /// Exceptions of this thread that were in flight when a coroutine was resumed: who is dropped in it is not
  /// passed by them.
  static inline constinit thread_local int exceptions_around = 0;

  /// Under an EngineLock. For an operation of `waits_in`, if it is one.
  template <class Done>
  void run_until(Done done, const Context* waits_in = nullptr) {
    IdleLoop idle;
    while (!done()) {
      if (step()) {
        idle.moved();
        empty_looks_ = 0;
        if (is_shared()) lock_.let_others([] {});
      } else if (is_shared()) {
        int polls = polls_before_yield_;
        IdleLoop::Duration idle_for{};
        lock_.let_others([&] { idle_for = idle.pause(polls); });
        polls_before_yield_ = polls;
        if (idle_for > fast_wait) [[unlikely]]
          attend_wait(idle_for, waits_in);
      } else if (const auto idle_for = idle.pause(polls_before_yield_); idle_for > fast_wait) [[unlikely]] {
        attend_wait(idle_for, waits_in);
      }
    }
  }

  /// A wait that ends within this is let alone.
  static constexpr std::chrono::milliseconds fast_wait{1};
  /// For waits of others than `run_until`, under an EngineLock: a poll, and what is due when nothing has
  /// moved for so long.
  bool poll_in_wait() {
    const bool moved = poll();
    if (moved) empty_looks_ = 0;
    return moved;
  }
  [[gnu::cold, gnu::noinline]] void attend_wait(IdleLoop::Duration idle, const Context* waits_in) {
    attend([&](Attendant& attendant) { attendant.attend_wait(idle, waits_in); });
  }

  /// Throws where this thread may not make the call, and lets no others wait.
  void check_thread(const char* call) {
    if (is_shared()) return;
    enter(call);
    leave();
  }

  /// Looks once, for somebody who does not wait but may look again and again.
  void look() {
    constexpr unsigned looks_between_attentions = 16;  // somebody may look ten times a second
    const bool moved = poll();
    if (is_shared()) lock_.let_others([] {});
    if (moved) {
      empty_looks_ = 0;
      return;
    }
    if (++empty_looks_ % looks_between_attentions != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (empty_looks_ == looks_between_attentions) empty_looks_since_ = now;
    attend([&](Attendant& attendant) { attendant.attend_look(now - empty_looks_since_); });
  }

  /// Messages that are not done, in the order of their posting.
  virtual std::span<Message* const> pending() const { return {}; }

  void add_attendant(Attendant& attendant) { attendants_.push_back(&attendant); }
  void attend_end() noexcept {
    for (Attendant* attendant : attendants_) attendant->attend_end();
  }
  void remove_attendant(Attendant& attendant) { std::erase(attendants_, &attendant); }

  /// Whether several threads may call at a time.
  bool is_shared() const noexcept { return threads_ == Threads::any; }
  Threads threads() const noexcept { return threads_; }
  /// Who calls is not looked at any more, and nobody is kept waiting: somebody above has a lock of his own,
  /// or knows nothing of this library. Before there are communicators.
  void trust_threads() noexcept { threads_ = Threads::unchecked; }

 private:
  friend class EngineLock;

  /// Throws where this thread may not call; below Threads::any that costs one comparison.
  [[gnu::hot]] void enter(const char* call) {
    if (is_shared()) {
      lock_.lock();
    } else if (threads_ != Threads::unchecked) {
      enter_alone(call);
    }
  }
  void enter_alone(const char* call) {
    const bool is_latest = latest_thread_.load(std::memory_order_relaxed) == this_thread();
    if (threads_ == Threads::main) {
      if (!is_latest) [[unlikely]]
        refuse(call);
      return;
    }
    if (!is_latest && inside_.load(std::memory_order_relaxed) > 0) refuse(call);
    enter_in_turn();
  }
  /// Calls inside of this one are this thread's too.
  void enter_in_turn() noexcept {
    if (inside_.load(std::memory_order_relaxed) == 0)
      latest_thread_.store(this_thread(), std::memory_order_relaxed);
    count_inside(1);
  }
  [[gnu::hot]] void leave() noexcept {
    if (is_shared()) {
      lock_.unlock();
    } else if (threads_ == Threads::in_turn) {
      count_inside(-1);
    }
  }
  /// One after the other, if the last time has been a while ago.
  template <class Give>
  void attend(Give give) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_attention_) return;
    next_attention_ = now + fast_wait;
    for (std::size_t i = 0; i < attendants_.size(); ++i) give(*attendants_[i]);
    if (attendants_.size() <= few_attendants) return;
    constexpr int part_of_time = 16;
    constexpr std::chrono::milliseconds longest{100};
    const auto end = std::chrono::steady_clock::now();
    next_attention_ = end + std::clamp<IdleLoop::Duration>(part_of_time * (end - now), fast_wait, longest);
  }
  /// By one thread at a time; atomic for the sake of one that breaks this rule.
  void count_inside(int more) noexcept {
    inside_.store(inside_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  /// Throws the error of a call by a thread that may not.
  virtual void refuse(const char*) const {}

  Threads threads_ = Threads::unchecked;
  PoliteLock lock_;                                   ///< of Threads::any
  std::atomic<const void*> latest_thread_ = nullptr;  ///< below it: who may call, or has called last
  std::atomic<int> inside_ = 0;                       ///< of Threads::in_turn: calls that have not returned
  /// How many empty polls to a yield: learned, so kept from wait to wait.
  int polls_before_yield_ = IdleLoop::fewest_polls;
  static constexpr std::size_t few_attendants = 16;
  std::vector<Attendant*> attendants_;
  std::chrono::steady_clock::time_point next_attention_;
  unsigned empty_looks_ = 0;
  std::chrono::steady_clock::time_point empty_looks_since_;
};

/// Holds an engine for a thread; taken again inside it costs next to nothing.
class [[nodiscard]] EngineLock {
 public:
  /// An error that names `call` if this thread may not make it.
  EngineLock(Engine& engine, const char* call) : engine_(engine) { engine.enter(call); }
  /// Of what has to be done whoever asks: something is dropped.
  explicit EngineLock(Engine& engine) noexcept : engine_(engine) {
    if (engine.is_shared()) engine.lock_.lock();
    if (engine.threads_ == Threads::in_turn) engine.enter_in_turn();
  }
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;
  ~EngineLock() { engine_.leave(); }

 private:
  Engine& engine_;
};

}  // namespace wisp::detail
