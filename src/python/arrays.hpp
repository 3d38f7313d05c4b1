#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <list>

#include "python/element.hpp"

// The memory of Python's arrays, with what is in it: of what has the buffer protocol, __dlpack__ or
// __cuda_array_interface__.

namespace wisp::python {

namespace nb = nanobind;

/// The arrays of one operation, held until they are dropped.
class Arrays {
 public:
  Arrays() = default;
  Arrays(Arrays&& other) noexcept = default;
  Arrays& operator=(Arrays&&) = delete;
  ~Arrays();

  Elements elements(nb::handle given, const Use& use);
  /// Memory without gaps, whose datatype is said elsewhere, in bytes; also None and MPI.BOTTOM.
  Elements bytes_of(nb::handle given, const Use& use);
  /// Lets go of all.
  void clear() noexcept;
  /// For the collector of cycles.
  int visit(visitproc visit, void* arg) const;

 private:
  struct View {
    Py_buffer buffer{};
    nb::ndarray<nb::ro> array;  ///< where it comes by __dlpack__
    nb::object owner;           ///< where it comes by __cuda_array_interface__
  };

  Elements from_buffer(nb::handle given, const Use& use);
  // With a datatype said elsewhere it must have no gaps.
  Elements from_array(nb::handle given, const Use& use, bool has_datatype = false);
  Elements from_dlpack(nb::handle given, const Use& use, bool has_datatype);
  Elements from_cuda(nb::handle given, const Use& use, bool has_datatype);

  std::list<View> views_;
};

}  // namespace wisp::python
