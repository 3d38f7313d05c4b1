#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace wisp::detail {

/// The time of what is traced, cheap to ask: where the system's clock counts the ticks of the processor, so
/// does this one, and finds out later how long they are. A call of the system's clock costs as much as a
/// message that finds nothing of it in the cache.
class TraceClock {
 public:
  /// Nanoseconds.
  using Function = std::function<std::uint64_t()>;

  /// That of the host.
  TraceClock();
  explicit TraceClock(Function virtual_time) : now_(std::move(virtual_time)) {}

  std::uint64_t ticks() const {
#ifdef __x86_64__
    if (counts_ticks_) return __builtin_ia32_rdtsc();
#endif
    return now_();
  }

  /// Compares ticks with nanoseconds, unless it is well known how long they are, and that was done a few
  /// milliseconds before `ticks`.
  void compare(std::uint64_t ticks) {
    constexpr std::uint64_t few_milliseconds = 1 << 24;
    constexpr std::uint64_t long_enough = 1 << 28;
    const bool is_known = latest_.ticks - first_.ticks > long_enough;
    if (counts_ticks_ && (!is_known || ticks - latest_.ticks > few_milliseconds)) compare();
  }
  /// How many ticks so many nanoseconds are; 0 as long as that is not known.
  std::uint64_t ticks_of(std::uint64_t nanoseconds) const {
    if (!counts_ticks_) return nanoseconds;
    return tick_ > 0 ? static_cast<std::uint64_t>(static_cast<double>(nanoseconds) / tick_) : 0;
  }
  std::uint64_t nanoseconds(std::uint64_t ticks) const {
    if (!counts_ticks_) return ticks;
    const auto before = static_cast<double>(static_cast<std::int64_t>(latest_.ticks - ticks));
    return latest_.nanoseconds - static_cast<std::uint64_t>(static_cast<std::int64_t>(before * tick_));
  }

 private:
  struct Moment {
    std::uint64_t ticks = 0;
    std::uint64_t nanoseconds = 0;
  };
  Moment moment() const;
  void compare();

  Function now_;
  bool counts_ticks_ = false;
  Moment first_;
  Moment latest_;
  double tick_ = 0;  ///< nanoseconds
};

}  // namespace wisp::detail
