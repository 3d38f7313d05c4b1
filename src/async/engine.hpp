#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace wisp::detail {

/// Gives the core away while nothing moves. Whoever is to send to us may be waiting for this very core; but
/// where every rank has a core of its own, a yield only delays the next look. Which of the two it is shows in
/// how long a yield takes: an instant, if nobody else wanted the core.
class IdleLoop {
 public:
  static constexpr int fewest_polls = 4;

  void moved() { empty_polls_ = 0; }

  void pause(int& polls_before_yield) {
    // The clock is not asked before it matters: most waits are short.
    const int timed_polls = polls_before_yield / 2;
    if (++empty_polls_ == polls_before_yield - timed_polls) timing_since_ = Clock::now();
    if (empty_polls_ < polls_before_yield) return;
    const auto before = Clock::now();
    // An MPI that yields by itself makes its polls long: then a second yield would only cost a turn.
    bool others_ran = before - timing_since_ > timed_polls * long_poll;
    if (!others_ran) {
      sched_yield();
      others_ran = Clock::now() - before > long_yield;
    }
    polls_before_yield = others_ran ? fewest_polls : std::min(2 * polls_before_yield, most_polls);
    empty_polls_ = 0;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr int most_polls = 1024;
  static constexpr std::chrono::nanoseconds long_poll{1000};
  static constexpr std::chrono::nanoseconds long_yield{2000};

  int empty_polls_ = 0;
  Clock::time_point timing_since_;
};

/// Makes the pending operations of one process move. Every blocking call polls the one engine, so all
/// operations in flight progress in any of them, whatever the order in which they are waited for.
class Engine {
 public:
  virtual ~Engine() = default;

  /// False on a simulated rank: it shares its thread with those that it would wait for.
  virtual bool can_wait() const { return true; }

  /// Looks once for completed messages and resumes whom they wake; false when nothing moved.
  virtual bool poll() = 0;

  /// A step of a wait: a poll, or a sleep until a message completes, if nothing else can move.
  virtual bool step() { return poll(); }

  /// Exceptions that were in flight when a wait began: who is dropped in that wait is not passed by them.
  int exceptions_of_waits = 0;

  template <class Done>
  void run_until(Done done) {
    IdleLoop idle;
    while (!done()) {
      if (step()) {
        idle.moved();
      } else {
        idle.pause(polls_before_yield_);
      }
    }
  }

 private:
  /// How many empty polls to a yield: learned, so kept from wait to wait.
  int polls_before_yield_ = IdleLoop::fewest_polls;
};

}  // namespace wisp::detail
