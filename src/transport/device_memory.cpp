#include "transport/device_memory.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

/// cuPointerGetAttribute of CUDA's driver interface, whose constants are part of its ABI.
using PointerAttribute = int(void* value, int attribute, unsigned long long address);
constexpr int memory_type = 2;
constexpr int is_managed = 8;
constexpr unsigned on_device = 2;

#ifdef SMPI_H
constexpr bool are_ranks_simulated = true;  // without devices
#else
constexpr bool are_ranks_simulated = false;
#endif

std::atomic<PointerAttribute*> pointer_attribute = nullptr;

bool ask_cuda(const void* address) {
  PointerAttribute* const ask = pointer_attribute.load(std::memory_order_relaxed);
  const auto number = reinterpret_cast<unsigned long long>(address);
  unsigned type = 0;
  // An error: CUDA does not know it, so it is the host's.
  if (ask(&type, memory_type, number) != 0 || type != on_device) return false;
  bool managed = false;
  return ask(&managed, is_managed, number) != 0 || !managed;
}

constexpr std::size_t largest_part = std::size_t{1} << 30;

/// `of_part(begin, bytes)` for parts that MPI's int can count.
template <class OfPart>
void in_parts(std::size_t bytes, OfPart of_part) {
  for (std::size_t begin = 0; begin < bytes; begin += largest_part) {
    of_part(begin, static_cast<int>(std::min(largest_part, bytes - begin)));
  }
}

void read_by_mpi(std::byte* to, const std::byte* from, std::size_t bytes) {
  const SelfComm self;
  in_parts(bytes, [&](std::size_t begin, int part) {
    int position = 0;
    check_mpi(MPI_Pack(from + begin, part, MPI_BYTE, to + begin, part, &position, self.get()), "MPI_Pack");
  });
}

void write_by_mpi(std::byte* to, const std::byte* from, std::size_t bytes) {
  const SelfComm self;
  in_parts(bytes, [&](std::size_t begin, int part) {
    int position = 0;
    check_mpi(MPI_Unpack(from + begin, part, &position, to + begin, part, MPI_BYTE, self.get()),
              "MPI_Unpack");
  });
}

}  // namespace

constinit std::atomic<device::Query*> device::query = nullptr;

void find_devices() noexcept {
  if (are_ranks_simulated || device::query.load(std::memory_order_relaxed) != nullptr) return;
  constexpr const char* name = "cuPointerGetAttribute";
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    // Most programs have it loaded by CUDA's runtime, out of sight. It stays loaded.
    if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(driver, name);
  }
  if (found == nullptr) return;
  pointer_attribute.store(reinterpret_cast<PointerAttribute*>(found), std::memory_order_relaxed);
  device::query.store(ask_cuda, std::memory_order_release);
}

[[gnu::hot]] void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const bool is_read_by_mpi = is_of_device(from);
  const bool is_written_by_mpi = is_of_device(to);
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  if (!is_read_by_mpi && !is_written_by_mpi) [[likely]] {
    std::memcpy(to, from, bytes);
  } else if (!is_written_by_mpi) {
    read_by_mpi(target, source, bytes);
  } else if (!is_read_by_mpi) {
    write_by_mpi(target, source, bytes);
  } else {
    const ScratchVector between(bytes);
    read_by_mpi(between.data(), source, bytes);
    write_by_mpi(target, between.data(), bytes);
  }
}

void check_readable(const char* call, const char* name, const void* address) {
  if (!is_of_device(address)) [[likely]]
    return;
  throw_error(MPI_ERR_BUFFER,
              "{}: {} is in the memory of a device, which op, a function of your own, cannot read", call,
              name);
}

}  // namespace wisp::detail
