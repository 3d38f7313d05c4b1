#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace wisp::detail {

/// A number that is the same for all ways to say the same basic types in the same order (MPI's type
/// signature), on all ranks; nothing if there is none to compare: bytes or packed data among them, which may
/// be anything. For each basic type of the datatype O(1), for repetitions O(log count).
std::optional<std::uint64_t> signature_of(MPI_Datatype type, std::size_t count);

}  // namespace wisp::detail
