#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "harness.hpp"
#include "wisp/collectives.hpp"

namespace wisp::bench {

/// The buffers of one cell.
struct Cell {
  int ranks;
  int count;  ///< what one rank contributes, or gets; of one block
  std::vector<double> input;
  std::vector<double> output;
  std::vector<int> counts;  ///< of blocks that may be irregular
  std::vector<int> begins;

  ConstBuffer send() const { return input; }
  Buffer receive() { return output; }
  const double* in() const { return input.data(); }
  double* out() { return output.data(); }
};

/// One collective in all its forms. `blocks_in` and `blocks_out` say which side has a block for each rank.
struct Collective {
  const char* name;
  bool blocks_in;
  bool blocks_out;
  Operation (*make)(const Comm&, Cell&, int root, const CollectiveOptions&);
  int (*mpi)(Cell&, int root, MPI_Comm);
  int (*mpi_nonblocking)(Cell&, int root, MPI_Comm, MPI_Request*);
};

/// Collectives of doubles with blocks of one size.
std::span<const Collective> collectives();
/// Those with irregular blocks, whose sizes nobody knows; here all are of one size.
std::span<const Collective> irregular_collectives();

Cell make_cell(const Collective& of, int ranks, int count);

/// Results of an all-to-all of the largest blocks would not fit into memory.
bool is_too_large(const Collective& of, int ranks, int count);

/// Every variant once on fresh buffers: all must end with what MPI's blocking one ends with.
void check_variants(const Collective& of, Cell& cell, int rank, const std::vector<Variant>& variants);

}  // namespace wisp::bench
