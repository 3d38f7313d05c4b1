#pragma once

#include <mpi.h>

#include <span>

// Datatypes of arrays with gaps, for languages whose arrays have them.

namespace wisp::detail {

/// One dimension of an array: how many there are, and how many bytes from one to the next.
struct Dimension {
  MPI_Aint count;
  MPI_Aint stride;
};

/// `of_element` elements of one of MPI's own datatypes at each place of an array, the innermost dimension
/// first; the next one of the datatype begins `extent` bytes further. Made once for each shape, committed,
/// and freed by MPI_Finalize.
MPI_Datatype strided_type(MPI_Datatype element, MPI_Aint of_element, std::span<const Dimension> dimensions,
                          MPI_Aint extent);

}  // namespace wisp::detail
