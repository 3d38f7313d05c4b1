#include "trace/trace_clock.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace wisp::detail {
namespace {

/// Linux looks whether all cores count alike before it takes them for its clock.
bool system_counts_ticks() {
  std::string source;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  return source == "tsc";
}

std::uint64_t now_on_host() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

TraceClock::TraceClock() : now_(&now_on_host) {
#ifdef __x86_64__
  counts_ticks_ = system_counts_ticks();
#endif
  first_ = latest_ = moment();
}

/// The core may be lost between the two clocks: then once more.
TraceClock::Moment TraceClock::moment() const {
  constexpr int most_tries = 8;
  constexpr std::uint64_t few_ticks = 1000;
  Moment best;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < most_tries && least > few_ticks; ++i) {
    const std::uint64_t before = ticks();
    const std::uint64_t now = now_();
    const std::uint64_t between = ticks() - before;
    if (between < least) best = {before + between / 2, now};
    least = std::min(least, between);
  }
  return best;
}

void TraceClock::compare() {
  latest_ = moment();
  const auto ticks = static_cast<double>(latest_.ticks - first_.ticks);
  if (ticks > 0) tick_ = static_cast<double>(latest_.nanoseconds - first_.nanoseconds) / ticks;
}

}  // namespace wisp::detail
