#include "transport/device_memory.hpp"

#include <dlfcn.h>

#include <cstring>

#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

#ifdef SMPI_H
constexpr bool are_ranks_simulated = true;  // without devices
#else
constexpr bool are_ranks_simulated = false;
#endif

using DeviceAddress = unsigned long long;

DeviceAddress device_address(const void* address) {
  return reinterpret_cast<DeviceAddress>(address);
}

/// CUDA's driver interface, whose names and constants are part of its ABI.
class CudaDriver {
 public:
  static constexpr const char* asks_for_attributes = "cuPointerGetAttribute";

  explicit CudaDriver(void* library)
      : pointer_attribute_(find<decltype(pointer_attribute_)>(library, asks_for_attributes)),
        retain_context_(find<decltype(retain_context_)>(library, "cuDevicePrimaryCtxRetain")),
        set_context_(find<decltype(set_context_)>(library, "cuCtxSetCurrent")),
        copy_(find<decltype(copy_)>(library, "cuMemcpy")),
        wait_(find<decltype(wait_)>(library, "cuStreamSynchronize")) {}

  bool is_on_device(const void* address) const {
    unsigned type = 0;
    // An error: CUDA does not know it, so it is the host's.
    if (pointer_attribute_(&type, memory_type, device_address(address)) != 0 || type != on_device)
      return false;
    bool managed = false;
    return pointer_attribute_(&managed, is_managed, device_address(address)) != 0 || !managed;
  }

  /// Between host and device, or on the device `one` of the two is on. Done when it returns.
  void copy(void* to, const void* from, std::size_t bytes, const void* one) const {
    int error = copy_(device_address(to), device_address(from), bytes);
    if (error == invalid_context) {  // of a thread that has not used the device yet
      void* context = nullptr;
      pointer_attribute_(&context, context_of, device_address(one));
      if (context == nullptr) {  // memory of a pool has none of its own
        int device = 0;
        pointer_attribute_(&device, device_of, device_address(one));
        retain_context_(&context, device);
      }
      error = set_context_(context);
      if (error == 0) error = copy_(device_address(to), device_address(from), bytes);
    }
    if (error == 0) error = wait_(nullptr);  // what ends on a device may still be on its way
    if (error != 0) {
      throw_error(MPI_ERR_BUFFER,
                  "wisp: CUDA's driver could not copy {} bytes from or to a device (error {})", bytes, error);
    }
  }

 private:
  static constexpr int context_of = 1;
  static constexpr int memory_type = 2;
  static constexpr int is_managed = 8;
  static constexpr int device_of = 9;
  static constexpr unsigned on_device = 2;
  static constexpr int invalid_context = 201;

  template <class Function>
  static Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
  }

  int (*pointer_attribute_)(void* value, int attribute, DeviceAddress address);
  int (*retain_context_)(void** context, int device);
  int (*set_context_)(void* context);
  int (*copy_)(DeviceAddress to, DeviceAddress from, std::size_t bytes);
  int (*wait_)(void* stream);
};

std::atomic<const CudaDriver*> cuda = nullptr;

bool ask_cuda(const void* address) {
  const CudaDriver* driver = nullptr;
  while (driver == nullptr)
    driver = cuda.load(std::memory_order_acquire);  // another thread has just found it
  return driver->is_on_device(address);
}

}  // namespace

constinit std::atomic<device::Query*> device::query = nullptr;

void find_devices() noexcept {
  if (are_ranks_simulated || knows_devices()) return;
  void* library = RTLD_DEFAULT;
  if (dlsym(library, CudaDriver::asks_for_attributes) == nullptr) {
    // Most programs have it loaded by CUDA's runtime, out of sight. It stays loaded.
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
  }
  static const CudaDriver driver(library);
  cuda.store(&driver, std::memory_order_release);
  device::query.store(ask_cuda, std::memory_order_release);
}

[[gnu::hot]] void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (!knows_devices()) [[likely]] {
    std::memcpy(to, from, bytes);
    return;
  }
  const void* const one = is_of_device(from) ? from : is_of_device(to) ? to : nullptr;
  if (one == nullptr) {
    std::memcpy(to, from, bytes);
  } else {
    cuda.load(std::memory_order_relaxed)->copy(to, from, bytes, one);
  }
}

}  // namespace wisp::detail
