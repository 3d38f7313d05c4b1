#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>

#include "preload/settings.hpp"

// What a process of a preloaded program keeps. It stands in for the library that the program calls, which has
// no handle for it: here alone is state that is global.

namespace wisp::preload {

/// What became of a call.
enum class Fate : unsigned char { native, taken };

class Process {
 public:
  /// One look, before anything else: false where the call is MPI's without a question.
  bool may_take(Call call) const { return (may_take_ >> static_cast<unsigned>(call) & 1) != 0; }
  bool counts() const { return counts_; }
  const Settings& settings() const { return *settings_; }

  /// When MPI has begun, on all ranks of MPI_COMM_WORLD: reads the environment of rank 0, and agrees on it.
  void begin();
  /// When it ends.
  void end();

  void count(Call call, Fate fate, std::chrono::nanoseconds time) {
    Counter& counter = counters_[static_cast<std::size_t>(call)][static_cast<std::size_t>(fate)];
    ++counter.calls;
    counter.nanoseconds += static_cast<std::uint64_t>(time.count());
  }

 private:
  struct Counter {
    std::uint64_t calls;
    std::uint64_t nanoseconds;
  };

  void report() const;

  std::uint32_t may_take_ = 0;  ///< a bit for each call
  bool counts_ = false;
  const Settings* settings_ = nullptr;
  std::array<std::array<Counter, 2>, call_count> counters_ = {};
};

extern Process process;

static_assert(call_count <= 32, "a bit for each call");

}  // namespace wisp::preload
