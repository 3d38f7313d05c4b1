#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/type_layout.hpp"
#include "wisp/blocks.hpp"
#include "wisp/detail/balance.hpp"

namespace wisp::detail {

/// A block for each rank, where an algorithm finds it: regular or irregular, of one type or of several.
class BlockList {
 public:
  /// `count` elements for each rank, one after the other.
  static BlockList regular(const Buffer& all, int ranks) {
    BlockList list;
    list.address_ = all.address;
    list.type_ = all.type;
    list.layout_ = TypeLayout::of(all.type);
    list.count_ = all.count / as_size(ranks);
    return list;
  }
  static BlockList irregular(const Blocks& blocks, int ranks);
  /// A vector cut as evenly as it can be.
  static BlockList even(const Buffer& all, int ranks) {
    BlockList list = regular(all, ranks);
    list.even_ = Balance(all.count, ranks);
    return list;
  }
  static BlockList even(const ConstBuffer& all, int ranks) { return even(writable(all), ranks); }
  /// Of blocks that are only read.
  static BlockList regular(const ConstBuffer& all, int ranks) { return regular(writable(all), ranks); }
  static BlockList irregular(const ConstBlocks& blocks, int ranks);

  /// True if all blocks have one size and follow each other.
  bool is_regular() const { return counts_.empty() && !even_; }
  /// True if they follow each other.
  bool is_consecutive() const { return counts_.empty() || !begins_.empty(); }
  /// Blocks first … first + blocks - 1 of consecutive ones.
  Buffer range(int first, int blocks) const {
    const std::size_t begin = begin_of(first);
    return {static_cast<std::byte*>(address_) + static_cast<std::ptrdiff_t>(begin) * layout_.extent,
            begin_of(first + blocks) - begin, type_};
  }

  std::size_t count(int rank) const {
    if (even_) return even_->size(rank);
    return counts_.empty() ? count_ : as_size(counts_[as_size(rank)]);
  }
  /// A block of nothing may come without a datatype of its own.
  MPI_Datatype type(int rank) const {
    if (types_.empty()) return type_;
    return counts_[as_size(rank)] == 0 ? MPI_BYTE : types_[as_size(rank)];
  }
  TypeLayout layout(int rank) const { return types_.empty() ? layout_ : TypeLayout::of(type(rank)); }
  std::size_t bytes(int rank) const { return count(rank) == 0 ? 0 : count(rank) * layout(rank).size; }
  Buffer operator()(int rank) const {
    return {static_cast<std::byte*>(address_) + offset(rank), count(rank), type(rank)};
  }
  /// Where a block begins, in bytes behind the address of all.
  std::ptrdiff_t offset(int rank) const {
    if (is_consecutive()) return static_cast<std::ptrdiff_t>(begin_of(rank)) * layout_.extent;
    return static_cast<std::ptrdiff_t>(displacements_[as_size(rank)]) * (types_.empty() ? layout_.extent : 1);
  }
  void* address() const { return address_; }

 private:
  static Buffer writable(const ConstBuffer& buffer) {
    return {const_cast<void*>(buffer.address), buffer.count, buffer.type};
  }

  /// Elements before a block of consecutive ones; of the block after the last: all.
  std::size_t begin_of(int rank) const {
    if (even_) return even_->begin(rank);
    return begins_.empty() ? as_size(rank) * count_ : begins_[as_size(rank)];
  }

  void* address_ = nullptr;
  MPI_Datatype type_ = MPI_BYTE;
  TypeLayout layout_;
  std::size_t count_ = 0;
  Integers counts_;
  Integers displacements_;
  std::span<const MPI_Datatype> types_;
  std::vector<std::size_t> begins_;  ///< in elements, of irregular blocks that follow each other; and the end
  std::optional<Balance> even_;
};

inline BlockList BlockList::irregular(const Blocks& blocks, int ranks) {
  BlockList list;
  list.address_ = blocks.address;
  list.counts_ = blocks.counts;
  list.displacements_ = blocks.displacements;
  list.types_ = blocks.types;
  if (blocks.types.empty()) {
    list.type_ = blocks.type;
    list.layout_ = TypeLayout::of(blocks.type);
  }
  if (blocks.displacements.empty() && blocks.types.empty()) {
    list.begins_.reserve(as_size(ranks) + 1);
    list.begins_.push_back(0);
    for (int rank = 0; rank < ranks; ++rank) list.begins_.push_back(list.begins_.back() + list.count(rank));
  }
  return list;
}

inline BlockList BlockList::irregular(const ConstBlocks& blocks, int ranks) {
  Blocks writable;
  writable.address = const_cast<void*>(blocks.address);
  writable.counts = blocks.counts;
  writable.displacements = blocks.displacements;
  writable.type = blocks.type;
  writable.types = blocks.types;
  return irregular(writable, ranks);
}

[[gnu::hot]] inline std::size_t bytes_of(const ConstBuffer& buffer) {
  if (buffer.count == 0) return 0;
  const std::size_t plain = plain_size_of(buffer.type);
  return buffer.count * (plain > 0 ? plain : TypeLayout::of(buffer.type).size);
}

inline std::size_t bytes_of_block(const ConstBlocks& blocks, int rank) {
  const auto i = as_size(rank);
  const MPI_Datatype type = blocks.types.empty() ? blocks.type : blocks.types[i];
  return bytes_of({blocks.address, as_size(blocks.counts[i]), type});
}

/// The blocks of several ranks, in the order given, as one buffer: through a datatype made for it where they
/// do not follow each other in memory.
class JoinedBlocks {
 public:
  JoinedBlocks() = default;
  JoinedBlocks(const BlockList& blocks, std::span<const int> ranks);
  JoinedBlocks(JoinedBlocks&& other) noexcept
      : buffer_(other.buffer_), made_(std::exchange(other.made_, MPI_DATATYPE_NULL)) {}
  JoinedBlocks& operator=(JoinedBlocks&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(made_, other.made_);
    return *this;
  }
  ~JoinedBlocks() { free_run(made_); }

  const Buffer& buffer() const { return buffer_; }

 private:
  Buffer buffer_;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

/// Copies a block to one of the same signature.
void copy_block(const ConstBuffer& from, const Buffer& to);
/// From and to the blocks of several ranks, packed one behind the other.
void pack_blocks(const BlockList& blocks, std::span<const int> ranks, std::byte* to);

}  // namespace wisp::detail
