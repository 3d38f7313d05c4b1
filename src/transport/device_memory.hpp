#pragma once

#include <atomic>
#include <cstddef>

// Buffers in the memory of a device, which MPI libraries can be made to send and receive, but this process
// cannot read.

namespace wisp::detail {

namespace device {
using Query = bool(const void*);
extern std::atomic<Query*> query;
}  // namespace device

/// Looks for who knows of such memory: CUDA's driver, if the program has loaded it. Nobody is asked before.
void find_devices() noexcept;

inline bool knows_devices() noexcept {
  return device::query.load(std::memory_order_relaxed) != nullptr;
}
/// True if only MPI's calls and the device's driver may read it.
inline bool is_of_device(const void* address) noexcept {
  device::Query* const ask = device::query.load(std::memory_order_relaxed);
  return ask != nullptr && ask(address);
}

/// As memcpy; what is on a device is copied by its driver.
void copy_bytes(void* to, const void* from, std::size_t bytes);

}  // namespace wisp::detail
