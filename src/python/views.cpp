#include "python/views.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "python/element.hpp"
#include "python/mpi4py.hpp"
#include "transport/device_memory.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

namespace wisp::python {
namespace {

using detail::as_size;
using detail::check_mpi;

bool is_list(nb::handle given) {
  return PyList_Check(given.ptr()) != 0 || PyTuple_Check(given.ptr()) != 0;
}

/// A datatype, or its character as NumPy has it.
bool names_datatype(nb::handle given) {
  return is_datatype(given) || PyUnicode_Check(given.ptr()) != 0;
}

MPI_Datatype named_datatype(nb::handle given, const Use& use) {
  if (PyUnicode_Check(given.ptr()) == 0) return datatype_in(given, use.argument);
  return datatype_called(nb::cast<std::string>(given), use.argument);
}

struct Extent {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;

  explicit Extent(MPI_Datatype type) {
    check_mpi(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  }
};

void check_no_gaps(const ArrayShape& shape, std::size_t bytes, const Use& use) {
  auto expected = static_cast<MPI_Aint>(bytes);
  bool has_gaps = false;
  for (std::size_t i = shape.sizes.size(); i-- > 0; expected *= shape.sizes[i])
    has_gaps = has_gaps || (shape.sizes[i] > 1 && shape.strides[i] != expected);
  if (has_gaps) {
    throw_value_error(std::string(use.argument) +
                      ": with a datatype beside it, memory without gaps is expected");
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

Views::~Views() {
  clear();
}

void Views::clear() noexcept {
  for (View& view : views_) {
    if (view.buffer.obj != nullptr) PyBuffer_Release(&view.buffer);
  }
  views_.clear();
  integers_.clear();
  types_.clear();
}

Elements Views::from_buffer(nb::handle given, const Use& use) {
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

Elements Views::from_dlpack(nb::handle given, const Use& use, bool has_datatype) {
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
Elements Views::from_cuda(nb::handle given, const Use& use, bool has_datatype) {
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
  std::vector<MPI_Aint> sizes;
  std::vector<MPI_Aint> strides;
  for (const nb::handle size : nb::borrow<nb::sequence>(entry("shape")))
    sizes.push_back(nb::cast<MPI_Aint>(size));
  const std::size_t bytes = std::stoul(type.substr(2));
  if (const nb::object given_strides = entry("strides"); !given_strides.is_none()) {
    for (const nb::handle stride : nb::borrow<nb::sequence>(given_strides))
      strides.push_back(nb::cast<MPI_Aint>(stride));
  } else {
    strides.resize(sizes.size());
    auto stride = static_cast<MPI_Aint>(bytes);
    for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  }
  const ArrayShape shape{sizes, strides};
  if (has_datatype) check_no_gaps(shape, bytes, use);
  return elements_of(reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0])),
                     element_of_typestr(type, bytes, use.argument), bytes, shape, use);
}

Elements Views::from_array(nb::handle given, const Use& use, bool has_datatype) {
  if (nb::hasattr(given, "__dlpack__")) return from_dlpack(given, use, has_datatype);
  if (nb::hasattr(given, "__cuda_array_interface__")) return from_cuda(given, use, has_datatype);
  throw_type_error(std::string(use.argument) + ": a buffer or [buffer, counts, datatype] is expected, not " +
                   nb::cast<std::string>(given.type().attr("__name__")));
}

Elements Views::elements(nb::handle given, const Use& use) {
  if (PyObject_CheckBuffer(given.ptr()) != 0) return from_buffer(given, use);
  return from_array(given, use);
}

/// Memory without gaps, whose datatype is said elsewhere.
Elements Views::bytes_of(nb::handle given, const Use& use) {
  if (given.is(mpi4py().bottom)) return {MPI_BOTTOM, ConstBlocks::unknown_room, MPI_BYTE};
  if (given.is_none()) return {};
  if (PyObject_CheckBuffer(given.ptr()) == 0) {
    const Elements found = from_array(given, use, true);
    const auto extent = as_size(Extent(found.type).extent);
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

/// So many of the datatype as there is room for.
Elements Views::with_datatype(nb::handle given, nb::handle datatype, const Use& use) {
  const MPI_Datatype type = named_datatype(datatype, use);
  Elements found = bytes_of(given, use);
  const Extent of(type);
  found.type = type;
  if (found.count == ConstBlocks::unknown_room) return found;
  if (of.extent <= 0) {
    found.count = ConstBlocks::unknown_room;
    return found;
  }
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  check_mpi(MPI_Type_get_true_extent(type, &true_lower, &true_extent), "MPI_Type_get_true_extent");
  // The last one need not reach to the end of its extent.
  const auto bytes = static_cast<MPI_Aint>(found.count);
  const MPI_Aint end = true_lower + true_extent;
  found.count = bytes < end ? 0 : as_size(1 + (bytes - end) / of.extent);
  return found;
}

/// mpi4py's: a buffer, [buffer, datatype], [buffer, count], [buffer, count, datatype],
/// [buffer, (count, displacement), datatype], [buffer, count, displacement, datatype].
Elements Views::message(nb::handle given, const Use& use) {
  if (!is_list(given)) return elements(given, use);
  const auto argument = std::string(use.argument);
  const std::size_t items = nb::len(given);
  if (items < 2 || items > 4)
    throw_value_error(argument + ": 2 to 4 items are expected, not " + std::to_string(items));
  nb::object count = nb::none();
  nb::object displacement = nb::none();
  nb::object datatype = nb::none();
  if (names_datatype(given[items - 1])) datatype = given[items - 1];
  if (items == 4 || datatype.is_none() || items == 3) count = given[1];
  if (items == 4) displacement = given[2];
  if (items == 3 && datatype.is_none()) displacement = given[2];
  if (is_list(count)) {
    if (nb::len(count) != 2) throw_value_error(argument + ": (count, displacement) is expected");
    displacement = count[1];
    count = count[0];
  }
  const Use whole = {use.argument, use.is_written, 1, use.is_reduced};
  const nb::object buffer = given[0];
  Elements found = datatype.is_none() ? elements(buffer, whole) : with_datatype(buffer, datatype, whole);
  const std::size_t room = found.count;
  const auto skipped = displacement.is_none() ? 0 : integer_in(displacement, use.argument);
  if (skipped < 0 || static_cast<std::size_t>(skipped) > room) {
    throw_value_error(argument + ": the displacement " + std::to_string(skipped) + " is outside its " +
                      std::to_string(room) + " elements");
  }
  found.address = static_cast<std::byte*>(found.address) + skipped * Extent(found.type).extent;
  found.count = room - static_cast<std::size_t>(skipped);
  if (count.is_none()) {
    if (room == ConstBlocks::unknown_room)
      throw_value_error(argument + ": a count is needed, for nothing says how many there are");
    return found;
  }
  const auto wanted = integer_in(count, use.argument);
  if (wanted < 0) throw_value_error(argument + ": count = " + std::to_string(wanted) + " is negative");
  std::size_t all = 0;
  const bool is_beyond = __builtin_mul_overflow(static_cast<std::size_t>(wanted), as_size(use.blocks), &all);
  if (is_beyond || (room != ConstBlocks::unknown_room && all > found.count)) {
    const std::string each = use.blocks > 1 ? std::to_string(use.blocks) + " times " : "";
    throw_value_error(argument + ": " + (is_beyond ? each + std::to_string(wanted) : std::to_string(all)) +
                      " elements are more than the " + std::to_string(found.count) + " that are there");
  }
  found.count = all;
  return found;
}

Buffer Views::writable(nb::handle given, Use use) {
  if (given.is_none()) return {};
  if (is_in_place(given)) return buffer_in_place();
  use.is_written = true;
  const Elements found = message(given, use);
  return {found.address, found.count, found.type};
}

ConstBuffer Views::readable(nb::handle given, Use use) {
  if (given.is_none()) return {};
  if (is_in_place(given)) return in_place();
  const Elements found = message(given, use);
  return {found.address, found.count, found.type};
}

Integers Views::integers(nb::handle given, int ranks, const char* argument) {
  std::vector<std::int64_t>& numbers = integers_.emplace_back();
  if (PyIndex_Check(given.ptr()) != 0 && PySequence_Check(given.ptr()) == 0) {
    numbers.assign(as_size(ranks), integer_in(given, argument));
    return numbers;
  }
  const auto all = nb::steal(PySequence_Fast(given.ptr(), "an integer for each rank is expected"));
  if (!all.is_valid()) throw nb::python_error();
  for (const nb::handle one : all) numbers.push_back(integer_in(one, argument));
  if (numbers.size() != as_size(ranks)) {
    throw_value_error(std::string(argument) + ": " + std::to_string(numbers.size()) +
                      " counts or displacements for " + std::to_string(ranks) + " ranks");
  }
  return numbers;
}

/// mpi4py's: as of a message, with counts and displacements for each rank, or one count for all, and as a
/// displacement the distance of blocks. Without counts, blocks of the same size, the first ones with what is
/// left.
Blocks Views::blocks(nb::handle given, int ranks, const Use& use) {
  nb::object counts = nb::none();
  nb::object displacements = nb::none();
  nb::object datatype = nb::none();
  nb::object buffer = nb::borrow(given);
  if (is_list(given)) {
    const std::size_t items = nb::len(given);
    if (items < 2 || items > 4) {
      throw_value_error(std::string(use.argument) + ": 2 to 4 items are expected, not " +
                        std::to_string(items));
    }
    buffer = given[0];
    if (names_datatype(given[items - 1])) datatype = given[items - 1];
    const std::size_t numbers = items - (datatype.is_none() ? 1 : 2);
    if (numbers > 0) counts = given[1];
    if (numbers > 1) displacements = given[2];
    // As for mpi4py, a tuple there is the pair of counts and displacements; lists are counts.
    if (numbers == 1 && PyTuple_Check(counts.ptr()) != 0) {
      if (nb::len(counts) != 2)
        throw_value_error(std::string(use.argument) +
                          ": a tuple is (counts, displacements); a list has the counts");
      displacements = counts[1];
      counts = counts[0];
    }
  }
  const Elements found = datatype.is_none() ? elements(buffer, use) : with_datatype(buffer, datatype, use);
  Blocks made(Buffer(found.address, found.count, found.type), Integers());
  if (counts.is_none()) {
    std::vector<std::int64_t>& even = integers_.emplace_back();
    const std::size_t all = as_size(ranks);
    for (std::size_t i = 0; i < all; ++i)
      even.push_back(static_cast<std::int64_t>(found.count / all + (i < found.count % all ? 1 : 0)));
    made.counts = even;
  } else {
    made.counts = integers(counts, ranks, use.argument);
  }
  if (!displacements.is_none()) {
    made.displacements = integers(displacements, ranks, use.argument);
    if (PyIndex_Check(displacements.ptr()) != 0 && PySequence_Check(displacements.ptr()) == 0) {
      for (std::size_t i = 0; i < integers_.back().size(); ++i)
        integers_.back()[i] *= static_cast<std::int64_t>(i);
    }
  }
  return made;
}

/// Each a buffer of its own: one datatype at an absolute address, as behind MPI_BOTTOM.
Blocks Views::listed_blocks(nb::handle given, int ranks, const Use& use) {
  std::vector<std::int64_t>& counts = integers_.emplace_back();
  std::vector<std::int64_t>& places = integers_.emplace_back();
  std::vector<MPI_Datatype>& types = types_.emplace_back();
  if (nb::len(given) != as_size(ranks)) {
    throw_value_error(std::string(use.argument) + ": " + std::to_string(nb::len(given)) + " buffers for " +
                      std::to_string(ranks) + " blocks");
  }
  for (const nb::handle one : nb::borrow<nb::sequence>(given)) {
    const Elements found = one.is_none() ? Elements{} : message(one, use);
    MPI_Aint place = 0;
    if (found.count > 0) check_mpi(MPI_Get_address(found.address, &place), "MPI_Get_address");
    counts.push_back(static_cast<std::int64_t>(found.count));
    places.push_back(place);
    types.push_back(found.type);
  }
  return {MPI_BOTTOM, counts, places, types};
}

Blocks Views::typed_blocks(nb::handle given, int ranks, const Use& use) {
  const auto argument = std::string(use.argument);
  if (!is_list(given))
    throw_type_error(argument +
                     ": [buffer, counts, displacements, datatypes] or a list of buffers is expected");
  const std::size_t items = nb::len(given);
  const nb::object last = items > 1 ? nb::object(given[items - 1]) : nb::none();
  const bool has_types = is_list(last) && nb::len(last) > 0 && names_datatype(last[0]);
  if (!has_types) return listed_blocks(given, ranks, use);
  nb::object counts = items > 2 ? nb::object(given[1]) : nb::none();
  nb::object displacements = items > 3 ? nb::object(given[2]) : nb::none();
  if (items == 3) {
    if (!is_list(counts) || nb::len(counts) != 2)
      throw_value_error(argument + ": (counts, displacements) are expected");
    displacements = counts[1];
    counts = counts[0];
  }
  std::vector<MPI_Datatype>& types = types_.emplace_back();
  for (const nb::handle one : nb::borrow<nb::sequence>(last)) types.push_back(named_datatype(one, use));
  if (types.size() != as_size(ranks)) {
    throw_value_error(argument + ": " + std::to_string(types.size()) + " datatypes for " +
                      std::to_string(ranks) + " blocks");
  }
  const Elements found = bytes_of(given[0], use);
  return {found.address, integers(counts.is_none() ? nb::int_(1) : counts, ranks, use.argument),
          integers(displacements.is_none() ? nb::int_(0) : displacements, ranks, use.argument), types};
}

ConstBlocks Views::readable_blocks(nb::handle given, int ranks, Use use) {
  if (is_in_place(given)) return blocks_in_place();
  if (given.is_none()) return {};
  return blocks(given, ranks, use);
}

Blocks Views::writable_blocks(nb::handle given, int ranks, Use use) {
  if (given.is_none()) return {};
  use.is_written = true;
  return blocks(given, ranks, use);
}

ConstBlocks Views::readable_typed_blocks(nb::handle given, int ranks, Use use) {
  if (is_in_place(given)) return blocks_in_place();
  return typed_blocks(given, ranks, use);
}

Blocks Views::writable_typed_blocks(nb::handle given, int ranks, Use use) {
  use.is_written = true;
  return typed_blocks(given, ranks, use);
}

}  // namespace wisp::python
