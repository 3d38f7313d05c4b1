#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "preload/settings.hpp"

// What a process of a preloaded program keeps. It stands in for the library that the program calls, which has
// no handle for it: here alone is state that is global.

namespace wisp::preload {

/// What became of a call.
enum class Fate : unsigned char { native, taken };

class Process {
 public:
  /// One look, before anything else: false where the call is MPI's without a question.
  bool may_take(Form form, Call call) const {
    return (may_take_[static_cast<std::size_t>(form)] >> static_cast<unsigned>(call) & 1) != 0;
  }
  bool counts() const { return counts_; }
  bool has_begun() const { return settings_ != nullptr; }
  int level() const { return level_; }
  /// That without a table nothing pays, for ranks of one node outnumber its cores.
  void note_shared_cores() { shares_cores_ = true; }
  const Settings& settings() const { return *settings_; }

  /// Whether this rank's environment wants calls that do not block, for which MPI must serve several threads.
  static bool wants_threads();
  /// As long as it lives, asks for threads by a setting of the MPI, if there is one: tools below see the call
  /// that the program begins with.
  class ThreadsSetting {
   public:
    ThreadsSetting();
    ThreadsSetting(const ThreadsSetting&) = delete;
    ThreadsSetting& operator=(const ThreadsSetting&) = delete;
    ~ThreadsSetting();
    bool exists() const { return name_ != nullptr; }

   private:
    const char* name_ = nullptr;
    bool is_ours_ = false;  ///< not the user's
  };
  /// When MPI has begun, on all ranks of MPI_COMM_WORLD: reads the environment of rank 0, and agrees on it.
  /// `level` is the one of MPI_Init_thread that the program has, whatever MPI serves.
  void begin(int level);
  /// From MPI_Finalize on, before functions of the program's run there: MPICH does not bear that anybody
  /// looks for what is kept with MPI_COMM_SELF while it is let go.
  void take_no_more() { may_take_ = {}; }
  /// When it ends.
  void end();

  void count(Form form, Call call, Fate fate, std::chrono::nanoseconds time) {
    const std::size_t row = static_cast<std::size_t>(form) * call_count + static_cast<std::size_t>(call);
    Counter& counter = counters_[row][static_cast<std::size_t>(fate)];
    ++counter.calls;
    counter.nanoseconds += static_cast<std::uint64_t>(time.count());
  }

 private:
  struct Counter {
    std::uint64_t calls;
    std::uint64_t nanoseconds;
  };

  void report() const;
  /// Where none of so many calls was taken.
  std::string why_nothing(unsigned long long calls) const;

  std::array<std::uint32_t, form_count> may_take_ = {};  ///< of each form, a bit for each call
  bool counts_ = false;
  bool shares_cores_ = false;
  bool lacks_threads_ = false;  ///< for what does not block, and is named
  int level_ = MPI_THREAD_SINGLE;
  const char* refusal_ = nullptr;  ///< why nothing is ever taken
  const Settings* settings_ = nullptr;
  std::array<std::array<Counter, 2>, form_count* call_count> counters_ = {};
};

extern Process process;

static_assert(call_count <= 32, "a bit for each call");

}  // namespace wisp::preload
