#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>

// What the elements of an array of Python are to MPI.

namespace wisp::python {

/// What a buffer is to be used for.
struct Use {
  const char* argument;  ///< as errors name it
  bool is_written = false;
  int blocks = 1;  ///< of which a count that is given is one's
  /// MPI's operators work on its own datatypes only.
  bool is_reduced = false;
  /// A datatype for each block: [buffer, counts, byte displacements, datatypes], or a list of buffers.
  bool is_typed = false;
};

/// Elements in memory. An array with gaps is `count` times its first dimension's datatype.
struct Elements {
  void* address = nullptr;
  std::size_t count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// `of_type` elements of one of MPI's datatypes. What MPI has no datatype for (records, texts, half
/// precision) goes as bytes, on which no operator works.
struct Element {
  MPI_Datatype type;
  int of_type = 1;
  bool is_number = true;
};

/// Of a format of the struct module, as the buffer protocol has it; null: bytes. Numbers in another byte
/// order, and what has objects in it, are an error that names the argument.
Element element_of_format(const char* format, std::size_t bytes, const char* argument);
/// Of DLPack's code (0: signed, 1: unsigned, 2: floating, 5: complex, 6: bool), bits, and how many of them.
Element element_of_dlpack(int code, int bits, int lanes);
/// Of a type as NumPy writes it: order of bytes, kind, size ("<f8"). Errors as of a format.
Element element_of_typestr(const std::string& type, std::size_t bytes, const char* argument);

struct ArrayShape {
  std::span<const MPI_Aint> sizes;    ///< of dimensions, the last one the innermost
  std::span<const MPI_Aint> strides;  ///< in bytes
};

/// An array at `address`, its elements in the order of their indices. Without gaps they are counted; with
/// gaps the count is that of the first dimension.
Elements elements_of(void* address, const Element& element, std::size_t bytes, const ArrayShape& shape,
                     const Use& use);

}  // namespace wisp::python
