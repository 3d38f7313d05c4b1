#pragma once

#include <span>
#include <string>

#include "c/shims.hpp"
#include "wisp/blocks.hpp"
#include "wisp/torus.hpp"

// Array arguments of C functions. Where there is a block for each rank of a communicator or neighbor of a
// neighborhood, `on` is either, and size() of it says how many there are.

namespace wisp::c {

/// A buffer with one block of `count` elements for each rank of a communicator, or neighbor of a
/// neighborhood.
template <class On, class Count>
Buffer all_blocks(const On& on, void* address, Count count, MPI_Datatype type, const char* count_name) {
  Buffer buffer = to_receive(address, count, type, count_name);
  buffer.count *= as_size(on.size());
  return buffer;
}
template <class On, class Count>
ConstBuffer all_blocks(const On& on, const void* address, Count count, MPI_Datatype type,
                       const char* count_name) {
  ConstBuffer buffer = to_send(address, count, type, count_name);
  buffer.count *= as_size(on.size());
  return buffer;
}

template <class On, class Int>
Integers integers(const On& on, const Int* first, const char* name) {
  if (first == nullptr && on.size() > 0) throw Error(MPI_ERR_ARG, std::string(name) + " = NULL");
  return std::span<const Int>(first, as_size(on.size()));
}

template <class On>
std::span<const MPI_Datatype> datatypes(const On& on, const MPI_Datatype* first, const char* name) {
  if (first == nullptr && on.size() > 0) throw Error(MPI_ERR_ARG, std::string(name) + " = NULL");
  return {first, as_size(on.size())};
}

template <class On, class Count, class Displacement>
Blocks blocks(const On& on, void* address, const Count* counts, const Displacement* displs,
              MPI_Datatype type) {
  return {address, integers(on, counts, "recvcounts"), integers(on, displs, "displs"), type};
}
template <class On, class Count, class Displacement>
ConstBlocks blocks(const On& on, const void* address, const Count* counts, const Displacement* displs,
                   MPI_Datatype type) {
  if (address == MPI_IN_PLACE) return blocks_in_place();
  return {address, integers(on, counts, "sendcounts"), integers(on, displs, "displs"), type};
}
template <class On, class Count, class Displacement>
Blocks blocks(const On& on, void* address, const Count* counts, const Displacement* displs,
              const MPI_Datatype* types) {
  return {address, integers(on, counts, "recvcounts"), integers(on, displs, "rdispls"),
          datatypes(on, types, "recvtypes")};
}
template <class On, class Count, class Displacement>
ConstBlocks blocks(const On& on, const void* address, const Count* counts, const Displacement* displs,
                   const MPI_Datatype* types) {
  if (address == MPI_IN_PLACE) return blocks_in_place();
  return {address, integers(on, counts, "sendcounts"), integers(on, displs, "sdispls"),
          datatypes(on, types, "sendtypes")};
}

/// Where only the root's argument counts, that of others is not looked at.
inline bool is_at_root(const Comm& comm, int root) {
  return comm.rank() == root;
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
  for (std::size_t rank = 0; rank < all.size(); ++rank) sum += checked_count(all[rank], "recvcounts[i]");
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

/// An array argument of `count` integers; it may be null if there are none.
inline std::span<const int> integers_of(const int* first, std::size_t count, const char* name) {
  if (count == 0) return {};
  return {&out(first, name), count};
}

inline Offsets offsets_of(int dimensions, int count, const int* flat, const char* name) {
  const auto d = as_size(dimensions);
  const std::span<const int> all = integers_of(flat, checked_count(count, "s") * d, name);
  Offsets offsets(dimensions);
  for (int i = 0; i < count; ++i) offsets.add(all.subspan(as_size(i) * d, d));
  return offsets;
}

}  // namespace wisp::c
