#include "collectives/block_list.hpp"

#include "transport/device_memory.hpp"

#include <algorithm>
#include <climits>

#include "wisp/error.hpp"

namespace wisp::detail {

namespace {

/// What MPI wants to know of blocks of one type or of several, those that follow each other in one.
struct TypeMap {
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;

  void add(std::size_t count, MPI_Aint displacement, MPI_Datatype type, MPI_Aint extent) {
    while (count > 0) {
      const bool follows = !lengths.empty() && types.back() == type &&
                           displacements.back() + lengths.back() * extent == displacement;
      const auto most = as_size(follows ? INT_MAX - lengths.back() : INT_MAX);
      const auto part = static_cast<int>(std::min(count, most));
      if (follows && part > 0) {
        lengths.back() += part;
      } else {
        lengths.push_back(static_cast<int>(std::min(count, std::size_t{INT_MAX})));
        displacements.push_back(displacement);
        types.push_back(type);
      }
      const int added = follows && part > 0 ? part : lengths.back();
      count -= as_size(added);
      displacement += added * extent;
    }
  }
};

}  // namespace

JoinedBlocks::JoinedBlocks(const BlockList& blocks, std::span<const int> ranks) {
  TypeMap map;
  for (const int rank : ranks) {
    map.add(blocks.count(rank), blocks.offset(rank), blocks.type(rank), blocks.layout(rank).extent);
  }
  if (map.lengths.empty()) return;
  auto* base = static_cast<std::byte*>(blocks.address());
  if (map.lengths.size() == 1) {
    buffer_ = {base + map.displacements[0], as_size(map.lengths[0]), map.types[0]};
    return;
  }
  const auto parts = static_cast<int>(map.lengths.size());
  const bool is_of_one_type = std::all_of(map.types.begin(), map.types.end(),
                                          [&](MPI_Datatype type) { return type == map.types[0]; });
  if (is_of_one_type) {
    check_mpi(
        MPI_Type_create_hindexed(parts, map.lengths.data(), map.displacements.data(), map.types[0], &made_),
        "MPI_Type_create_hindexed");
  } else {
    check_mpi(
        MPI_Type_create_struct(parts, map.lengths.data(), map.displacements.data(), map.types.data(), &made_),
        "MPI_Type_create_struct");
  }
  check_mpi(MPI_Type_commit(&made_), "MPI_Type_commit");
  buffer_ = {base, 1, made_};
}

void pack_blocks(const BlockList& blocks, std::span<const int> ranks, std::byte* to) {
  for (const int rank : ranks) {
    pack(blocks(rank), blocks.layout(rank), to);
    to += blocks.bytes(rank);
  }
}

[[gnu::hot]] void copy_block(const ConstBuffer& from, const Buffer& to) {
  if (from.count == 0 || (from.address == to.address && from.type == to.type)) return;
  if (const std::size_t size = plain_size_of(from.type); size > 0 && from.type == to.type) {
    copy_bytes(to.address, from.address, from.count * size);
    return;
  }
  const TypeLayout from_layout = TypeLayout::of(from.type);
  const TypeLayout to_layout = TypeLayout::of(to.type);
  if (from_layout.contiguous && to_layout.contiguous) {
    copy_bytes(to.address, from.address, from.count * from_layout.size);
    return;
  }
  const ScratchVector packed(from.count * from_layout.size);
  pack(from, from_layout, packed.data());
  unpack(packed.data(), to, to_layout);
}

}  // namespace wisp::detail
