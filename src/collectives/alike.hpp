#pragma once

#include <cstddef>
#include <cstdint>

#include "wisp/channel.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// What all ranks of a collective must say alike, as far as it has it.
struct Alike {
  std::int64_t root = -1;
  std::int64_t bytes = -1;  ///< of a vector or block
  MPI_Op op = MPI_OP_NULL;
};

inline std::int64_t signed_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

/// Compares what the ranks call, on whatever operation each of them is. All get the error of the first rank
/// that differs from rank 0. O(log p α)
Task<> check_alike(Channel channel, const char* call, Alike mine);

}  // namespace wisp::detail
