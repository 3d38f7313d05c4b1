#include "python/element.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "python/mpi4py.hpp"
#include "transport/made_types.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::python {

using detail::as_size;

namespace {

/// Of a record, outside of the names of its fields.
bool has_objects(const char* format) {
  bool is_name = false;
  for (; *format != 0; ++format) {
    if (*format == ':') is_name = !is_name;
    if (*format == 'O' && !is_name) return true;
  }
  return false;
}

constexpr bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

[[noreturn]] void throw_byte_order(const char* argument) {
  throw_type_error(
      std::string(argument) +
      ": its numbers have another byte order; array.astype(array.dtype.newbyteorder('=')) changes it");
}

}  // namespace

Element element_of_format(const char* format, std::size_t bytes, const char* argument) {
  const Element opaque = {MPI_BYTE, static_cast<int>(bytes), false};
  if (format == nullptr) return bytes == 1 ? Element{MPI_UNSIGNED_CHAR} : opaque;
  if (has_objects(format))
    throw_type_error(std::string(argument) +
                     ": its elements are objects of Python, which are pickled or not sent");
  if ((*format == (is_little ? '>' : '<') || *format == '!') && bytes > 1 &&
      std::strpbrk(format, "T{sw") == nullptr)
    throw_byte_order(argument);
  if (*format == '@' || *format == '=' || *format == (is_little ? '<' : '>')) ++format;
  const std::size_t length = std::strlen(format);
  if (length == 2 && format[0] == 'Z') {
    if (format[1] == 'f') return {MPI_C_FLOAT_COMPLEX};
    if (format[1] == 'd') return {MPI_C_DOUBLE_COMPLEX};
    if (format[1] == 'g') return {MPI_C_LONG_DOUBLE_COMPLEX};
  }
  if (length != 1) return opaque;
  switch (*format) {
    case '?':
      return {MPI_C_BOOL};
    case 'b':
      return {MPI_SIGNED_CHAR};
    case 'B':
      return {MPI_UNSIGNED_CHAR};
    case 'c':
      return {MPI_CHAR};
    case 'h':
      return {MPI_SHORT};
    case 'H':
      return {MPI_UNSIGNED_SHORT};
    case 'i':
      return {MPI_INT};
    case 'I':
      return {MPI_UNSIGNED};
    // With an order of bytes before it, a long has four of them.
    case 'l':
      return {bytes == 4 ? MPI_INT32_T : MPI_LONG};
    case 'L':
      return {bytes == 4 ? MPI_UINT32_T : MPI_UNSIGNED_LONG};
    case 'q':
      return {MPI_LONG_LONG};
    case 'Q':
      return {MPI_UNSIGNED_LONG_LONG};
    case 'f':
      return {MPI_FLOAT};
    case 'd':
      return {MPI_DOUBLE};
    case 'g':
      return {MPI_LONG_DOUBLE};
    default:
      return opaque;
  }
}

Element element_of_dlpack(int code, int bits, int lanes) {
  struct Known {
    int code;
    int bits;
    MPI_Datatype type;
  };
  constexpr bool has_long = sizeof(long) == 8;
  // Those that NumPy's arrays of the same numbers have.
  const Known known[] = {{0, 8, MPI_SIGNED_CHAR},
                         {0, 16, MPI_SHORT},
                         {0, 32, MPI_INT},
                         {0, 64, has_long ? MPI_LONG : MPI_LONG_LONG},
                         {1, 8, MPI_UNSIGNED_CHAR},
                         {1, 16, MPI_UNSIGNED_SHORT},
                         {1, 32, MPI_UNSIGNED},
                         {1, 64, has_long ? MPI_UNSIGNED_LONG : MPI_UNSIGNED_LONG_LONG},
                         {2, 32, MPI_FLOAT},
                         {2, 64, MPI_DOUBLE},
                         {5, 64, MPI_C_FLOAT_COMPLEX},
                         {5, 128, MPI_C_DOUBLE_COMPLEX},
                         {6, 8, MPI_C_BOOL}};
  for (const Known& one : known) {
    if (one.code == code && one.bits == bits && lanes == 1) return {one.type};
  }
  return {MPI_BYTE, (bits * lanes + 7) / 8, false};
}

Element element_of_typestr(const std::string& type, std::size_t bytes, const char* argument) {
  constexpr std::string_view kinds = "iuf__cb";  // at the places that are DLPack's codes
  if (type[0] == (is_little ? '>' : '<') && bytes > 1) throw_byte_order(argument);
  const std::size_t code = kinds.find(type[1]);
  return element_of_dlpack(code == kinds.npos ? -1 : static_cast<int>(code), static_cast<int>(8 * bytes), 1);
}

Elements elements_of(void* address, const Element& element, std::size_t bytes, const ArrayShape& shape,
                     const Use& use) {
  const auto argument = std::string(use.argument);
  if (use.is_reduced && !element.is_number) {
    throw_type_error(argument + ": its elements are no numbers of MPI, and cannot be reduced");
  }
  // Inner dimensions without gaps are elements in a row.
  std::size_t dimensions = shape.sizes.size();
  std::size_t run = 1;
  bool is_empty = false;
  for (const MPI_Aint size : shape.sizes) is_empty = is_empty || size == 0;
  if (is_empty) return {address, 0, element.of_type == 1 ? element.type : MPI_BYTE};
  while (dimensions > 0 && (shape.sizes[dimensions - 1] == 1 ||
                            shape.strides[dimensions - 1] == static_cast<MPI_Aint>(run * bytes))) {
    run *= as_size(shape.sizes[--dimensions]);
  }
  const std::size_t in_run = run * as_size(element.of_type);
  if (dimensions == 0) {
    if (element.of_type == 1) return {address, run, element.type};
    // One of the datatype is one element, so that counts are of elements.
    return {address, run,
            detail::strided_type(element.type, element.of_type, {}, static_cast<MPI_Aint>(bytes))};
  }
  if (use.is_reduced) {
    throw_value_error(argument +
                      ": the array has gaps or another order than C's, which a reduction cannot take; "
                      "numpy.ascontiguousarray makes a copy without");
  }
  // Leading dimensions of one are none.
  std::size_t outer = 0;
  while (outer + 1 < dimensions && shape.sizes[outer] == 1) ++outer;
  std::vector<detail::Dimension> inner;
  for (std::size_t i = dimensions; i-- > outer + 1;) inner.push_back({shape.sizes[i], shape.strides[i]});
  return {address, as_size(shape.sizes[outer]),
          detail::strided_type(element.type, static_cast<MPI_Aint>(in_run), inner, shape.strides[outer])};
}

}  // namespace wisp::python
