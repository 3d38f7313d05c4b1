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

/// True if only MPI's calls may read it.
inline bool is_of_device(const void* address) noexcept {
  device::Query* const ask = device::query.load(std::memory_order_relaxed);
  return ask != nullptr && ask(address);
}

/// As memcpy; what is on a device goes through MPI_Pack and MPI_Unpack.
void copy_bytes(void* to, const void* from, std::size_t bytes);

/// Throws if a function of the program's own would have to read a device's memory.
void check_readable(const char* call, const char* name, const void* address);

}  // namespace wisp::detail
