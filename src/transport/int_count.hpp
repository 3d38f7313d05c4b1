#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>

#include "wisp/buffer.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

/// A count and datatype that MPI's int counts can hold: a larger buffer becomes one element of a type made
/// for it.
class IntCount {
 public:
  explicit IntCount(const ConstBuffer& buffer) : count_(static_cast<int>(buffer.count)), type_(buffer.type) {
    if (buffer.count > INT_MAX) [[unlikely]]
      build(buffer);
  }
  IntCount(const IntCount&) = delete;
  IntCount& operator=(const IntCount&) = delete;
  ~IntCount() {
    if (built_) MPI_Type_free(&type_);
  }

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  void build(const ConstBuffer& buffer) {
    constexpr std::size_t chunk = std::size_t{1} << 30;
    const auto chunks = static_cast<int>(buffer.count / chunk);
    const auto rest = static_cast<int>(buffer.count % chunk);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    check_mpi(MPI_Type_get_extent(buffer.type, &lower, &extent), "MPI_Type_get_extent");
    MPI_Datatype one_chunk = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(static_cast<int>(chunk), buffer.type, &one_chunk), "MPI_Type_contiguous");
    const int lengths[] = {chunks, rest};
    const MPI_Aint displacements[] = {0, chunks * static_cast<MPI_Aint>(chunk) * extent};
    const MPI_Datatype types[] = {one_chunk, buffer.type};
    check_mpi(MPI_Type_create_struct(2, lengths, displacements, types, &type_), "MPI_Type_create_struct");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    check_mpi(MPI_Type_free(&one_chunk), "MPI_Type_free");
    count_ = 1;
    built_ = true;
  }

  int count_;
  MPI_Datatype type_;
  bool built_ = false;
};

}  // namespace wisp::detail
