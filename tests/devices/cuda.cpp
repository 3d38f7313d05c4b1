// A GPU by CUDA's driver, which is looked for at run time: to build this takes no CUDA.

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "device_memory.hpp"
#include "transport/mpi_library.hpp"

namespace wisp::test {
namespace {

/// CUDA's driver, with the first of its devices in use. Its names and constants are part of its ABI.
class Driver {
 public:
  Driver() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library_ == nullptr) return;
    int device = 0;
    void* context = nullptr;
    if (call<int(unsigned)>("cuInit")(0) != 0) return;
    if (call<int(int*, int)>("cuDeviceGet")(&device, 0) != 0) return;
    check(call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device), "cuDevicePrimaryCtxRetain");
    check(call<int(void*)>("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    is_usable_ = true;
  }

  bool is_usable() const { return is_usable_; }

  unsigned long long allocate(std::size_t bytes) const {
    unsigned long long address = 0;
    check(call<int(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&address, bytes), "cuMemAlloc");
    return address;
  }
  void free(unsigned long long address) const { call<int(unsigned long long)>("cuMemFree_v2")(address); }
  void copy(unsigned long long to, unsigned long long from, std::size_t bytes) const {
    check(call<int(unsigned long long, unsigned long long, std::size_t)>("cuMemcpy")(to, from, bytes),
          "cuMemcpy");
    check(call<int()>("cuCtxSynchronize")(),
          "cuCtxSynchronize");  // a copy to the device may still be under way
  }

 private:
  template <class Function>
  Function* call(const char* name) const {
    void* const found = dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(std::string("CUDA's driver has no ") + name);
    return reinterpret_cast<Function*>(found);
  }
  static void check(int result, const char* call) {
    if (result != 0) throw std::runtime_error(std::string(call) + ": error " + std::to_string(result));
  }

  void* library_ = nullptr;
  bool is_usable_ = false;
};

const Driver& driver() {
  static const Driver the_driver;
  return the_driver;
}

}  // namespace

std::string why_no_device() {
  if (!driver().is_usable()) return "there is no GPU of CUDA's";
  if (!detail::is_aware_of_cuda().value_or(false)) return "this MPI does not know the memory of a GPU";
  return {};
}

DeviceMemory::DeviceMemory(std::size_t bytes)
    : bytes_(bytes + 1), address_(reinterpret_cast<std::byte*>(driver().allocate(bytes_))) {}

DeviceMemory::~DeviceMemory() {
  driver().free(reinterpret_cast<unsigned long long>(address_));
}

void DeviceMemory::copy(void* to, const void* from, std::size_t bytes) {
  // With unified addresses the driver tells the host's from its own.
  if (bytes > 0) {
    driver().copy(reinterpret_cast<unsigned long long>(to), reinterpret_cast<unsigned long long>(from),
                  bytes);
  }
}

}  // namespace wisp::test
