#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "wisp/buffer.hpp"
#include "wisp/detail/frame_pool.hpp"

namespace wisp::detail {

/// How the elements of a datatype lie in memory.
struct TypeLayout {
  std::size_t size = 0;     ///< bytes of data in one element
  MPI_Aint extent = 0;      ///< bytes from one element to the next
  MPI_Aint true_lower = 0;  ///< where the data of element 0 begins
  MPI_Aint true_extent = 0;
  bool contiguous = false;  ///< data in order and without gaps

  static TypeLayout of(MPI_Datatype type);
};

/// Bytes of one element if `type` is one of the named types without gaps that are used most, else 0 (of some
/// also without MPI_Init); a look-up that costs less than asking MPI.
std::size_t plain_size_of(MPI_Datatype type);

/// How a datatype was made, and of how many numbers, addresses and datatypes.
struct TypeEnvelope {
  int combiner = MPI_COMBINER_NAMED;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  MPI_Count large_counts = 0;  ///< if any, the calls before MPI 4 cannot tell more

  bool is_named() const { return combiner == MPI_COMBINER_NAMED; }
  /// Whether it is one of MPI's own, which nobody frees: some have no names.
  bool is_predefined() const {
    return is_named() || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
           combiner == MPI_COMBINER_F90_INTEGER;
  }
};
TypeEnvelope envelope_of(MPI_Datatype type);
inline bool is_named(MPI_Datatype type) {
  return envelope_of(type).is_named();
}

/// Room for `count` elements of a datatype.
class ScratchVector {
 public:
  ScratchVector() = default;
  ScratchVector(const TypeLayout& layout, std::size_t count)
      : bytes_(count == 0 ? 0 : as_size(layout.true_extent) + (count - 1) * as_size(std::abs(layout.extent))),
        memory_(static_cast<std::byte*>(FramePool::allocate(bytes_))),
        // With a negative extent, elements follow each other downwards.
        data_(at(memory_,
                 (count > 0 && layout.extent < 0 ? -static_cast<MPI_Aint>(count - 1) * layout.extent : 0) -
                     layout.true_lower)) {}
  explicit ScratchVector(std::size_t bytes)
      : bytes_(bytes), memory_(static_cast<std::byte*>(FramePool::allocate(bytes))), data_(memory_) {}
  ScratchVector(ScratchVector&& other) noexcept { swap(other); }
  ScratchVector& operator=(ScratchVector&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ScratchVector() {
    if (memory_ != nullptr) FramePool::release(memory_, bytes_);
  }

  bool exists() const noexcept { return memory_ != nullptr; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Gives the memory away, to be released to the pool with its bytes.
  std::byte* give() noexcept {
    data_ = nullptr;
    return std::exchange(memory_, nullptr);
  }
  std::byte* data() const noexcept { return data_; }
  void swap(ScratchVector& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
  }

 private:
  /// By numbers: of a datatype of absolute addresses it is far outside of the memory.
  static std::byte* at(std::byte* memory, MPI_Aint offset) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory) +
                                        static_cast<std::uintptr_t>(offset));
  }

  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  std::byte* data_ = nullptr;
};

/// Element `index` of a vector at `address`.
inline void* element(void* address, std::size_t index, const TypeLayout& layout) {
  return static_cast<std::byte*>(address) + static_cast<MPI_Aint>(index) * layout.extent;
}

/// An error if so many elements are more bytes than there are addresses.
void check_many_fit(const char* call, const char* name, std::size_t count, MPI_Datatype type);
inline void check_fits(const char* call, const char* name, std::size_t count, MPI_Datatype type) {
  constexpr std::size_t surely_fit = std::size_t{1} << 16;  // of elements that may be gibibytes long
  constexpr std::size_t numbers_surely_fit = std::size_t{1} << 31;
  if (count > surely_fit && (count > numbers_surely_fit || plain_size_of(type) == 0)) [[unlikely]]
    check_many_fit(call, name, count, type);
}
/// An error if a datatype that is none of MPI's own has not been committed.
void check_made_type(const char* call, const char* name, MPI_Datatype type);
inline void check_committed(const char* call, const char* name, MPI_Datatype type) {
  if (plain_size_of(type) == 0) [[unlikely]]
    check_made_type(call, name, type);
}
/// Whether elements so many bytes from a null address are nowhere: MPI_BOTTOM is null, and its datatypes say
/// where they are.
bool is_nowhere(const TypeLayout& layout, MPI_Aint displacement);
/// An error if a buffer of something is nowhere, or too large.
void check_address(const char* call, const char* name, const ConstBuffer& buffer);

/// Whether the first of them is in the memory of a device.
bool are_on_device(const ConstBuffer& elements);
void copy_elements(const void* from, void* to, std::size_t count, MPI_Datatype type,
                   const TypeLayout& layout);
/// To and from a gapless sequence of bytes.
void pack(const ConstBuffer& from, const TypeLayout& layout, std::byte* to);
void unpack(const std::byte* from, const Buffer& to, const TypeLayout& layout);
/// A message of so many bytes, which may end within an element; false: it is longer than the buffer.
bool unpack_message(const std::byte* from, std::size_t bytes, const Buffer& to, const TypeLayout& layout);

}  // namespace wisp::detail
