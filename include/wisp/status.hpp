#pragma once

#include <mpi.h>

#include <cstddef>

#include "wisp/buffer.hpp"

namespace wisp {

/// Matches a message from any rank of the communicator, and from no other.
inline constexpr int any_source = MPI_ANY_SOURCE;
/// Matches a message with any tag.
inline constexpr int any_tag = MPI_ANY_TAG;

/// What is known of a message that was received or probed.
struct Status {
  int source = any_source;  ///< in the ranks of the communicator that received it
  int tag = any_tag;
  std::size_t bytes = 0;

  /// How many elements of `type` it holds.
  std::size_t count(MPI_Datatype type) const;
  template <HasDatatype T>
  std::size_t count() const {
    return count(datatype_of<T>());
  }
  /// As MPI says it; does nothing for MPI_STATUS_IGNORE. MPI_Get_count works on the result.
  void copy_to(MPI_Status* status) const;
};

}  // namespace wisp
