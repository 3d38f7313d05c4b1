#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wisp::test {

/// Why there is no memory of a device here that MPI could send; empty if there is some.
std::string why_no_device();

/// Memory of a device, a stand-in's (stand_in.cpp) or a GPU's (cuda.cpp): MPI's calls may read and write it,
/// the program may not (it would crash).
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  std::byte* address() const { return address_; }

  /// As cudaMemcpy.
  template <class T>
  void put(const std::vector<T>& from) const {
    copy(address_, from.data(), from.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> get(std::size_t count) const {
    std::vector<T> to(count);
    copy(to.data(), address_, count * sizeof(T));
    return to;
  }

 private:
  static void copy(void* to, const void* from, std::size_t bytes);

  std::size_t bytes_;
  std::byte* address_;
};

}  // namespace wisp::test
