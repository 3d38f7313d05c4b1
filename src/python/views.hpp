#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <list>
#include <vector>

#include "python/arrays.hpp"
#include "wisp/blocks.hpp"
#include "wisp/buffer.hpp"

// Buffers of Python as those of MPI: what has the buffer protocol, __dlpack__ or __cuda_array_interface__,
// alone or in a list with counts and a datatype as mpi4py takes them, or None, MPI.IN_PLACE, MPI.BOTTOM.

namespace wisp::python {

namespace nb = nanobind;

/// The views of one operation. They hold what Python gave, until they are dropped, and the arrays of counts
/// and datatypes that were made of it.
class Views {
 public:
  Views() = default;
  Views(Views&& other) noexcept = default;
  Views& operator=(Views&&) = delete;

  ConstBuffer readable(nb::handle given, Use use);
  Buffer writable(nb::handle given, Use use);
  /// A block for each of `ranks`.
  ConstBlocks readable_blocks(nb::handle given, int ranks, Use use);
  Blocks writable_blocks(nb::handle given, int ranks, Use use);
  /// Lets go of all.
  void clear() noexcept;
  /// For the collector of cycles.
  int visit(visitproc visit, void* arg) const { return arrays_.visit(visit, arg); }
  /// One number for each of `ranks`, or one for all.
  Integers integers(nb::handle given, int ranks, const char* argument);

 private:
  Elements message(nb::handle given, const Use& use);
  Elements with_datatype(nb::handle given, nb::handle datatype, const Use& use);
  Blocks blocks(nb::handle given, int ranks, const Use& use);
  Blocks typed_blocks(nb::handle given, int ranks, const Use& use);
  Blocks listed_blocks(nb::handle given, int ranks, const Use& use);

  Arrays arrays_;
  std::list<std::vector<std::int64_t>> integers_;
  std::list<std::vector<MPI_Datatype>> types_;
};

}  // namespace wisp::python
