#pragma once

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>

#include "wisp/buffer.hpp"

namespace wisp {

/// A view of an array of counts or displacements, of a 32-bit or 64-bit type; not a copy.
class Integers {
 public:
  Integers() = default;
  Integers(const int* first, std::size_t size) : first_(first), size_(size) {}
  Integers(const std::int64_t* first, std::size_t size) : first_(first), size_(size), is_wide_(true) {}
  template <std::ranges::contiguous_range R>
  requires std::integral<std::ranges::range_value_t<R>> &&
      (sizeof(std::ranges::range_value_t<R>) == sizeof(int) ||
       sizeof(std::ranges::range_value_t<R>) == sizeof(std::int64_t))
          Integers(const R& range)  // NOLINT(google-explicit-constructor): an array is an array
      : first_(std::ranges::data(range)),
        size_(std::ranges::size(range)),
        is_wide_(sizeof(std::ranges::range_value_t<R>) == sizeof(std::int64_t)),
        of_narrow_(std::signed_integral<std::ranges::range_value_t<R>> ? std::int64_t{-1}
                                                                       : std::int64_t{0xffffffff}) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](std::size_t i) const {
    return is_wide_ ? static_cast<const std::int64_t*>(first_)[i]
                    : static_cast<const int*>(first_)[i] & of_narrow_;
  }

 private:
  const void* first_ = nullptr;
  std::size_t size_ = 0;
  bool is_wide_ = false;
  std::int64_t of_narrow_ = -1;  ///< the bits that are the number's: not the sign's of what has none
};

/// A block of data for each rank, as in MPI's irregular collectives: block i has counts[i] elements and
/// begins `displacements[i]` elements behind `address`; without displacements the blocks follow each other.
/// With `types`, block i has its own datatype, and displacements are in bytes.
///
/// The arrays are the caller's: they must live until the operation has been run or started, which copies
/// them.
struct ConstBlocks {
  static constexpr std::size_t unknown_room = std::numeric_limits<std::size_t>::max();

  const void* address = nullptr;
  Integers counts;
  Integers displacements;
  MPI_Datatype type = MPI_BYTE;
  std::span<const MPI_Datatype> types;
  std::size_t room = unknown_room;  ///< elements behind `address`, if known: no block may reach beyond

  ConstBlocks() = default;
  ConstBlocks(const void* first, Integers of_counts, Integers of_displacements, MPI_Datatype datatype)
      : address(first), counts(of_counts), displacements(of_displacements), type(datatype) {}
  ConstBlocks(const void* first, Integers of_counts, Integers byte_displacements,
              std::span<const MPI_Datatype> datatypes)
      : address(first), counts(of_counts), displacements(byte_displacements), types(datatypes) {}
  ConstBlocks(InPlace) : address(MPI_IN_PLACE) {}  // NOLINT(google-explicit-constructor): as a buffer
  /// Blocks in a range of elements.
  ConstBlocks(const ConstBuffer& data, Integers of_counts, Integers of_displacements = {})
      : address(data.address),
        counts(of_counts),
        displacements(of_displacements),
        type(data.type),
        room(data.count) {}
};

/// The same, to be written.
struct Blocks {
  void* address = nullptr;
  Integers counts;
  Integers displacements;
  MPI_Datatype type = MPI_BYTE;
  std::span<const MPI_Datatype> types;
  std::size_t room = ConstBlocks::unknown_room;

  Blocks() = default;
  Blocks(void* first, Integers of_counts, Integers of_displacements, MPI_Datatype datatype)
      : address(first), counts(of_counts), displacements(of_displacements), type(datatype) {}
  Blocks(void* first, Integers of_counts, Integers byte_displacements,
         std::span<const MPI_Datatype> datatypes)
      : address(first), counts(of_counts), displacements(byte_displacements), types(datatypes) {}
  Blocks(const Buffer& data, Integers of_counts, Integers of_displacements = {})
      : address(data.address),
        counts(of_counts),
        displacements(of_displacements),
        type(data.type),
        room(data.count) {}

  operator ConstBlocks() const {  // NOLINT(google-explicit-constructor)
    ConstBlocks blocks;
    blocks.address = address;
    blocks.counts = counts;
    blocks.displacements = displacements;
    blocks.type = type;
    blocks.types = types;
    blocks.room = room;
    return blocks;
  }
};

/// in_place() as blocks.
inline ConstBlocks blocks_in_place() {
  return in_place();
}
inline bool is_in_place(const ConstBlocks& blocks) {
  return blocks.address == MPI_IN_PLACE;
}

}  // namespace wisp
