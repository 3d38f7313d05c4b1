#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <list>
#include <vector>

#include "wisp/blocks.hpp"
#include "wisp/buffer.hpp"

// Buffers of Python as those of MPI: what has the buffer protocol, __dlpack__ or __cuda_array_interface__,
// alone or in a list with counts and a datatype as mpi4py takes them, or None, MPI.IN_PLACE, MPI.BOTTOM.

namespace wisp::python {

namespace nb = nanobind;

/// What a buffer is to be used for.
struct Use {
  const char* argument;  ///< as errors name it
  bool is_written = false;
  int blocks = 1;  ///< of which a count that is given is one's
  /// MPI's operators work on its own datatypes only.
  bool is_reduced = false;
};

/// Elements in memory. An array with gaps is `count` times its first dimension's datatype.
struct Elements {
  void* address = nullptr;
  std::size_t count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// The views of one operation. They hold what Python gave, until they are dropped, and the arrays of counts
/// and datatypes that were made of it.
class Views {
 public:
  Views() = default;
  Views(Views&& other) noexcept = default;
  Views& operator=(Views&&) = delete;
  ~Views();

  ConstBuffer readable(nb::handle given, Use use);
  Buffer writable(nb::handle given, Use use);
  /// A block for each of `ranks`.
  ConstBlocks readable_blocks(nb::handle given, int ranks, Use use);
  Blocks writable_blocks(nb::handle given, int ranks, Use use);
  /// With a datatype for each: [buffer, counts, byte displacements, datatypes], or a list of buffers.
  ConstBlocks readable_typed_blocks(nb::handle given, int ranks, Use use);
  Blocks writable_typed_blocks(nb::handle given, int ranks, Use use);
  /// Lets go of all.
  void clear() noexcept;
  /// One number for each of `ranks`, or one for all.
  Integers integers(nb::handle given, int ranks, const char* argument);

 private:
  struct View {
    Py_buffer buffer{};
    nb::ndarray<nb::ro> array;  ///< where it comes by __dlpack__
    nb::object owner;           ///< where it comes by __cuda_array_interface__
  };

  Elements elements(nb::handle given, const Use& use);
  Elements bytes_of(nb::handle given, const Use& use);
  Elements from_buffer(nb::handle given, const Use& use);
  // With a datatype said elsewhere it must have no gaps.
  Elements from_array(nb::handle given, const Use& use, bool has_datatype = false);
  Elements from_dlpack(nb::handle given, const Use& use, bool has_datatype);
  Elements from_cuda(nb::handle given, const Use& use, bool has_datatype);
  Elements message(nb::handle given, const Use& use);
  Elements with_datatype(nb::handle given, nb::handle datatype, const Use& use);
  Blocks blocks(nb::handle given, int ranks, const Use& use);
  Blocks typed_blocks(nb::handle given, int ranks, const Use& use);
  Blocks listed_blocks(nb::handle given, int ranks, const Use& use);

  std::list<View> views_;
  std::list<std::vector<std::int64_t>> integers_;
  std::list<std::vector<MPI_Datatype>> types_;
};

}  // namespace wisp::python
