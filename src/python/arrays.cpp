#include "python/arrays.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "python/mpi4py.hpp"
#include "transport/device_memory.hpp"
#include "transport/type_layout.hpp"
#include "wisp/blocks.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::python {
namespace {

/// Of an array in the order of C, in bytes.
std::vector<MPI_Aint> strides_without_gaps(std::span<const MPI_Aint> sizes, std::size_t bytes) {
  std::vector<MPI_Aint> strides(sizes.size());
  auto stride = static_cast<MPI_Aint>(bytes);
  for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  return strides;
}

void check_no_gaps(const ArrayShape& shape, std::size_t bytes, const Use& use) {
  if (std::ranges::find(shape.sizes, 0) != shape.sizes.end()) return;
  const std::vector<MPI_Aint> expected = strides_without_gaps(shape.sizes, bytes);
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    if (shape.sizes[i] > 1 && shape.strides[i] != expected[i]) {
      throw_value_error(std::string(use.argument) +
                        ": with a datatype beside it, memory without gaps is expected");
    }
  }
}

/// The library may have been loaded since the first communicator.
void check_cuda(const Use& use) {
  detail::find_devices();
  if (!detail::knows_devices()) {
    throw_value_error(std::string(use.argument) +
                      " is on a device of CUDA, whose driver this process has not loaded");
  }
}

}  // namespace

Arrays::~Arrays() {
  clear();
}

void Arrays::clear() noexcept {
  for (View& view : views_) {
    if (view.buffer.obj != nullptr) PyBuffer_Release(&view.buffer);
  }
  views_.clear();
}

int Arrays::visit(visitproc visit, void* arg) const {
  for (const View& view : views_) {
    Py_VISIT(view.buffer.obj);
    Py_VISIT(view.owner.ptr());
  }
  return 0;
}

Elements Arrays::from_buffer(nb::handle given, const Use& use) {
  View& view = views_.emplace_back();
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (use.is_written ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(given.ptr(), &view.buffer, flags) != 0) {
    nb::python_error error;
    const std::string sentence = std::string(use.argument) +
                                 (use.is_written ? " cannot be written: " : " cannot be read: ") +
                                 nb::cast<std::string>(nb::str(error.value()));
    nb::raise_from(error, PyExc_ValueError, "%s", sentence.c_str());
  }
  const Py_buffer& buffer = view.buffer;
  const auto bytes = static_cast<std::size_t>(buffer.itemsize);
  const auto dimensions = static_cast<std::size_t>(buffer.ndim);
  const Element element = element_of_format(buffer.format, bytes, use.argument);
  static_assert(sizeof(Py_ssize_t) == sizeof(MPI_Aint));
  if (buffer.strides != nullptr && buffer.shape != nullptr)
    return elements_of(buffer.buf, element, bytes, {{buffer.shape, dimensions}, {buffer.strides, dimensions}},
                       use);
  // ctypes has no strides: there are no gaps.
  const MPI_Aint count = bytes == 0 ? 0 : buffer.len / buffer.itemsize;
  const MPI_Aint stride = buffer.itemsize;
  return elements_of(buffer.buf, element, bytes, {{&count, 1}, {&stride, 1}}, use);
}

Elements Arrays::from_dlpack(nb::handle given, const Use& use, bool has_datatype) {
  const auto argument = std::string(use.argument);
  nb::ndarray<nb::ro>& array = views_.emplace_back().array;
  bool can_be_taken = nb::try_cast<nb::ndarray<nb::ro>>(given, array);
  if (nb::ndarray<> written; can_be_taken && use.is_written)
    can_be_taken = nb::try_cast<nb::ndarray<>>(given, written);
  if (!can_be_taken) {
    const std::string sentence = argument + ": the __dlpack__ of " +
                                 nb::cast<std::string>(given.type().attr("__name__")) +
                                 " gives no array that can be " + (use.is_written ? "written" : "read");
    try {
      given.attr("__dlpack__")();
    } catch (nb::python_error& why) {
      nb::raise_from(why, PyExc_TypeError, "%s", sentence.c_str());
    }
    throw_type_error(sentence);
  }
  constexpr int of_cuda[] = {nb::device::cuda::value, nb::device::cuda_managed::value};
  if (std::ranges::find(of_cuda, array.device_type()) != std::end(of_cuda)) {
    check_cuda(use);
  } else if (array.device_type() != nb::device::cpu::value &&
             array.device_type() != nb::device::cuda_host::value) {
    throw_value_error(argument + " is in memory that neither the host nor CUDA reads (DLPack device " +
                      std::to_string(array.device_type()) + ")");
  }
  const std::size_t bytes = array.itemsize();
  std::vector<MPI_Aint> sizes;
  std::vector<MPI_Aint> strides;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    sizes.push_back(static_cast<MPI_Aint>(array.shape(i)));
    strides.push_back(static_cast<MPI_Aint>(array.stride(i)) * static_cast<MPI_Aint>(bytes));
  }
  const nb::dlpack::dtype type = array.dtype();
  const ArrayShape shape{sizes, strides};
  if (has_datatype) check_no_gaps(shape, bytes, use);
  return elements_of(const_cast<void*>(array.data()), element_of_dlpack(type.code, type.bits, type.lanes),
                     bytes, shape, use);
}

/// An array of CUDA's by a library that has no DLPack, as Numba's: sizes, strides in bytes, and the type as
/// NumPy writes it.
Elements Arrays::from_cuda(nb::handle given, const Use& use, bool has_datatype) {
  const auto argument = std::string(use.argument);
  views_.emplace_back().owner = nb::borrow(given);
  check_cuda(use);
  const auto described = nb::cast<nb::dict>(given.attr("__cuda_array_interface__"));
  const auto entry = [&](const char* name) {
    return described.contains(name) ? nb::object(described[name]) : nb::none();
  };
  const auto type = nb::cast<std::string>(entry("typestr"));
  const nb::object data = entry("data");
  if (type.size() < 3) throw_type_error(argument + ": its elements are '" + type + "', which is no type");
  if (!entry("mask").is_none()) throw_type_error(argument + ": arrays with a mask are not sent");
  if (use.is_written && nb::cast<bool>(data[1])) throw_value_error(argument + " cannot be written");
  const auto sizes = nb::cast<std::vector<MPI_Aint>>(entry("shape"));
  constexpr std::size_t of_character = 4;
  const std::size_t bytes = std::stoul(type.substr(2)) * (type[1] == 'U' ? of_character : 1);
  const nb::object given_strides = entry("strides");
  const std::vector<MPI_Aint> strides = given_strides.is_none()
                                            ? strides_without_gaps(sizes, bytes)
                                            : nb::cast<std::vector<MPI_Aint>>(given_strides);
  const ArrayShape shape{sizes, strides};
  if (has_datatype) check_no_gaps(shape, bytes, use);
  return elements_of(reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0])),
                     element_of_typestr(type, bytes, use.argument), bytes, shape, use);
}

Elements Arrays::from_array(nb::handle given, const Use& use, bool has_datatype) {
  if (nb::hasattr(given, "__dlpack__")) return from_dlpack(given, use, has_datatype);
  if (nb::hasattr(given, "__cuda_array_interface__")) return from_cuda(given, use, has_datatype);
  throw_type_error(std::string(use.argument) + ": a buffer or [buffer, counts, datatype] is expected, not " +
                   nb::cast<std::string>(given.type().attr("__name__")));
}

Elements Arrays::elements(nb::handle given, const Use& use) {
  if (PyObject_CheckBuffer(given.ptr()) != 0) return from_buffer(given, use);
  return from_array(given, use);
}

Elements Arrays::bytes_of(nb::handle given, const Use& use) {
  if (given.is(mpi4py().bottom)) return {MPI_BOTTOM, ConstBlocks::unknown_room, MPI_BYTE};
  if (given.is_none()) return {};
  if (PyObject_CheckBuffer(given.ptr()) == 0) {
    const Elements found = from_array(given, use, true);
    const auto extent = detail::as_size(detail::TypeLayout::of(found.type).extent);
    return {found.address, found.count * extent, MPI_BYTE};
  }
  View& view = views_.emplace_back();
  if (PyObject_GetBuffer(given.ptr(), &view.buffer,
                         use.is_written ? PyBUF_WRITABLE | PyBUF_ANY_CONTIGUOUS : PyBUF_ANY_CONTIGUOUS) !=
      0) {
    nb::python_error error;
    nb::raise_from(error, PyExc_ValueError, "%s: with a datatype beside it, memory without gaps is expected",
                   use.argument);
  }
  return {view.buffer.buf, static_cast<std::size_t>(view.buffer.len), MPI_BYTE};
}

}  // namespace wisp::python
