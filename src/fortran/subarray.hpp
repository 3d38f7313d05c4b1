#pragma once

#include <ISO_Fortran_binding.h>
#include <mpi.h>

#include <vector>

// Arrays of Fortran as what MPI has: an address, a count and a datatype.

namespace wisp::fortran {

/// Whether a buffer is one block, or one for each of several ranks or neighbors, of which the count is that
/// of one.
enum class Role { whole, blocks };

bool is_contiguous(const CFI_cdesc_t& array);

/// The elements of an array one behind the other, and back to where they lie.
std::vector<char> packed(const CFI_cdesc_t& array);
void unpack(const std::vector<char>& elements, const CFI_cdesc_t& array);

/// `count` elements of an array with gaps as one element of a datatype, whose next one begins where the next
/// block does. Datatypes are made once for each shape, and live until MPI_Finalize. `type` must be the one of
/// the array's elements, and the elements whole columns: 1 of this many elements, or an error names `name`.
MPI_Datatype subarray_of(const CFI_cdesc_t& array, MPI_Count count, MPI_Datatype type, Role role,
                         const char* name);

}  // namespace wisp::fortran
