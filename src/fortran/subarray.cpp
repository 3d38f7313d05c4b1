#include "fortran/subarray.hpp"

#include <vector>

#include "transport/device_memory.hpp"
#include "transport/made_types.hpp"
#include "transport/throw_error.hpp"
#include "transport/transport.hpp"
#include "transport/type_layout.hpp"

namespace wisp::fortran {
namespace {

using detail::check_mpi;
using detail::throw_error;

/// How many of the datatype an element of the array is: more than one of a text.
MPI_Count in_an_element(const CFI_cdesc_t& array, MPI_Datatype type, const char* name) {
  int size = 0;
  check_mpi(MPI_Type_size(type, &size), "MPI_Type_size");
  if (size == 0 || array.elem_len % detail::as_size(size) != 0 ||
      !detail::envelope_of(type).is_predefined()) {
    throw_error(MPI_ERR_TYPE,
                "{} is a subarray with gaps: its datatype must be one of MPI's own, for elements of {} bytes",
                name, array.elem_len);
  }
  return static_cast<MPI_Count>(array.elem_len) / size;
}

/// `visit(element)` for each, in Fortran's order.
template <class Visit>
void for_each_element(const CFI_cdesc_t& array, Visit visit) {
  std::vector<CFI_index_t> place(detail::as_size(array.rank));
  auto* element = static_cast<char*>(array.base_addr);
  for (int i = 0; i < array.rank;) {
    visit(element);
    for (i = 0; i < array.rank; ++i) {
      CFI_index_t& at = place[detail::as_size(i)];
      element += array.dim[i].sm;
      if (++at < array.dim[i].extent) break;
      element -= at * array.dim[i].sm;
      at = 0;
    }
  }
}

}  // namespace

std::vector<char> packed(const CFI_cdesc_t& array) {
  std::vector<char> elements;
  for_each_element(array, [&](const char* from) {
    elements.resize(elements.size() + array.elem_len);
    detail::copy_bytes(elements.data() + elements.size() - array.elem_len, from, array.elem_len);
  });
  return elements;
}

void unpack(const std::vector<char>& elements, const CFI_cdesc_t& array) {
  const char* from = elements.data();
  for_each_element(array, [&](char* to) {
    detail::copy_bytes(to, from, array.elem_len);
    from += array.elem_len;
  });
}

bool is_contiguous(const CFI_cdesc_t& array) {
  auto expected = static_cast<CFI_index_t>(array.elem_len);
  bool is = true;
  for (int i = 0; i < array.rank; ++i) {
    if (array.dim[i].extent == 0) return true;
    if (array.dim[i].extent == -1) break;  // assumed size
    if (array.dim[i].extent > 1 && array.dim[i].sm != expected) is = false;
    expected *= array.dim[i].extent;
  }
  return is;
}

MPI_Datatype subarray_of(const CFI_cdesc_t& array, MPI_Count count, MPI_Datatype type, Role role,
                         const char* name) {
  const MPI_Count of_type = in_an_element(array, type, name);
  const MPI_Count elements = count / of_type;
  // Whole dimensions while they fill the count, and so many of the next one.
  const int last = array.rank - 1;
  MPI_Count column = 1;
  int dimension = 0;
  while (dimension < last && elements % (column * array.dim[dimension].extent) == 0) {
    column *= array.dim[dimension++].extent;
  }
  const auto columns = static_cast<MPI_Aint>(elements / column);
  if (elements % column != 0 || count % of_type != 0 || columns > array.dim[dimension].extent ||
      (role == Role::blocks && dimension < last)) {
    throw_error(MPI_ERR_COUNT, "{} is a subarray with gaps: {} elements are no whole columns of it{}", name,
                count, role == Role::blocks ? " for each rank" : "");
  }
  std::vector<detail::Dimension> dimensions;
  for (int i = 0; i < dimension; ++i) dimensions.push_back({array.dim[i].extent, array.dim[i].sm});
  dimensions.push_back({columns, array.dim[dimension].sm});
  return detail::strided_type(type, static_cast<MPI_Aint>(of_type), dimensions,
                              columns * array.dim[dimension].sm);
}

}  // namespace wisp::fortran
