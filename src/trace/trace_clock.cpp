#include "trace/trace_clock.hpp"

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

void TraceClock::compare() {
  latest_ = moment();
  const auto ticks = static_cast<double>(latest_.ticks - first_.ticks);
  if (ticks > 0) tick_ = static_cast<double>(latest_.nanoseconds - first_.nanoseconds) / ticks;
}

}  // namespace wisp::detail
