#pragma once

#include <span>
#include <string>

#include "c/shims.hpp"
#include "wisp/blocks.hpp"
#include "wisp/torus.hpp"

// Array arguments of C functions. Where there is a block for each rank of a communicator or neighbor of a
// neighborhood, `on` is either, and size() of it says how many there are.

namespace wisp::c {

/// The elements of all blocks.
inline std::size_t of_all(std::size_t count, int blocks, const char* count_name) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, as_size(blocks), &all)) {
    detail::throw_error(MPI_ERR_COUNT, "{} = {} in {} blocks is more than memory can hold", count_name, count,
                        blocks);
  }
  return all;
}

/// A buffer with one block of `count` elements for each rank of a communicator, or neighbor of a
/// neighborhood.
template <class On, class Count>
Buffer all_blocks(const On& on, void* address, Count count, MPI_Datatype type, const char* count_name) {
  Buffer buffer = to_receive(address, count, type, count_name);
  buffer.count = of_all(buffer.count, on.size(), count_name);
  return buffer;
}
template <class On, class Count>
ConstBuffer all_blocks(const On& on, const void* address, Count count, MPI_Datatype type,
                       const char* count_name) {
  ConstBuffer buffer = to_send(address, count, type, count_name);
  buffer.count = of_all(buffer.count, on.size(), count_name);
  return buffer;
}

template <class On, class Int>
Integers integers(const On& on, const Int* first, const char* name) {
  if (first == nullptr && on.size() > 0) throw Error(MPI_ERR_ARG, std::string(name) + " = NULL");
  return std::span<const Int>(first, as_size(on.size()));
}

template <class On>
MPI_Datatype datatypes(const On&, MPI_Datatype type, const char*) {
  return type;
}
template <class On>
std::span<const MPI_Datatype> datatypes(const On& on, const MPI_Datatype* first, const char* name) {
  if (first == nullptr && on.size() > 0) throw Error(MPI_ERR_ARG, std::string(name) + " = NULL");
  return {first, as_size(on.size())};
}

/// Array arguments with their names, which errors tell.
struct ArrayNames {
  const char* counts;
  const char* displs;
  const char* types;
};

/// Of one datatype, or of one for each block.
template <class On, class Count, class Displacement, class Types>
Blocks blocks(const On& on, void* address, const Count* counts, const Displacement* displs, Types types,
              const ArrayNames& names) {
  return {address, integers(on, counts, names.counts), integers(on, displs, names.displs),
          datatypes(on, types, names.types)};
}
template <class On, class Count, class Displacement, class Types>
ConstBlocks blocks(const On& on, const void* address, const Count* counts, const Displacement* displs,
                   Types types, const ArrayNames& names) {
  if (address == MPI_IN_PLACE) return in_place();
  return {address, integers(on, counts, names.counts), integers(on, displs, names.displs),
          datatypes(on, types, names.types)};
}
/// Blocks of arrays that have the names of the C function's arguments.
#define WISP_BLOCKS(on, address, counts, displs, types) \
  wisp::c::blocks(on, address, counts, displs, types, {#counts, #displs, #types})

/// Where only the root's argument counts, that of others is not looked at.
template <class On>
bool is_at_root(const On& on, int root) {
  return on.rank() == root;
}

/// In place, the whole input is in the output buffer.
template <class Count>
Buffer reduce_scatter_output(const Comm& comm, const void* sendbuf, void* recvbuf, Count count,
                             MPI_Datatype type) {
  return sendbuf == MPI_IN_PLACE ? all_blocks(comm, recvbuf, count, type, "recvcount")
                                 : to_receive(recvbuf, count, type, "recvcount");
}

template <class Count>
std::size_t sum_of(const Comm& comm, const Count* counts) {
  const Integers all = integers(comm, counts, "recvcounts");
  std::size_t sum = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) sum += checked_count(all[rank], "recvcounts", rank);
  return sum;
}
template <class Count>
Buffer reduce_scatter_output(const Comm& comm, const void* sendbuf, void* recvbuf, const Count* counts,
                             MPI_Datatype type) {
  const std::size_t sum = sum_of(comm, counts);
  if (sendbuf == MPI_IN_PLACE) return {recvbuf, sum, type};
  const int rank = comm.is_member() ? comm.rank() : 0;
  return {recvbuf, as_size(counts[rank]), type};
}
template <class Count>
ConstBuffer reduce_scatter_input(const Comm& comm, const void* sendbuf, const Count* counts,
                                 MPI_Datatype type) {
  if (sendbuf == MPI_IN_PLACE) return in_place();
  return {sendbuf, sum_of(comm, counts), type};
}

/// How many blocks a rank sends, or receives.
struct Degree {
  int blocks;
  int size() const { return blocks; }
};
inline Degree sent_on(const Neighborhood& on) {
  return {static_cast<int>(on.targets().size())};
}
inline Degree received_on(const Neighborhood& on) {
  return {static_cast<int>(on.sources().size())};
}

inline Offsets offsets_of(int dimensions, int count, const int* flat, const char* name) {
  const auto d = as_size(dimensions);
  const std::span<const int> all = array_of(flat, checked_count(count, "s") * d, name);
  Offsets offsets(dimensions);
  for (int i = 0; i < count; ++i) offsets.add(all.subspan(as_size(i) * d, d));
  return offsets;
}

}  // namespace wisp::c
