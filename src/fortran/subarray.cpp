#include "fortran/subarray.hpp"

#include <climits>
#include <map>
#include <memory>
#include <vector>

#include "transport/throw_error.hpp"
#include "transport/transport.hpp"
#include "transport/type_layout.hpp"

namespace wisp::fortran {
namespace {

using detail::check_mpi;
using detail::throw_error;

using Shape = std::vector<MPI_Aint>;
using Datatypes = std::map<Shape, MPI_Datatype>;

int forget(MPI_Comm, int, void* datatypes, void*) {
  const std::unique_ptr<Datatypes> all(static_cast<Datatypes*>(datatypes));
  for (auto& [shape, type] : *all) {
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);  // null: it could not be made
  }
  return MPI_SUCCESS;
}

/// MPI keeps them: it deletes the attributes of MPI_COMM_SELF first of all in MPI_Finalize.
Datatypes& made_datatypes() {
  static int key = MPI_KEYVAL_INVALID;
  void* kept = nullptr;
  int found = 0;
  if (key == MPI_KEYVAL_INVALID) {
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr), "MPI_Comm_create_keyval");
  }
  check_mpi(MPI_Comm_get_attr(MPI_COMM_SELF, key, &kept, &found), "MPI_Comm_get_attr");
  if (found == 0) {
    kept = new Datatypes;
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, kept), "MPI_Comm_set_attr");
  }
  return *static_cast<Datatypes*>(kept);
}

/// How many of the datatype an element of the array is: more than one of a text.
MPI_Count in_an_element(const CFI_cdesc_t& array, MPI_Datatype type, const char* name) {
  int size = 0;
  check_mpi(MPI_Type_size(type, &size), "MPI_Type_size");
  if (size == 0 || array.elem_len % detail::as_size(size) != 0 || !detail::is_named(type)) {
    throw_error(MPI_ERR_TYPE,
                "{} is a subarray with gaps: its datatype must be one of MPI's own, for elements of {} bytes",
                name, array.elem_len);
  }
  return static_cast<MPI_Count>(array.elem_len) / size;
}

/// So many copies, `stride` bytes apart.
void repeat(MPI_Datatype& type, MPI_Aint count, MPI_Aint stride) {
  if (count > INT_MAX)
    throw_error(MPI_ERR_COUNT, "a subarray of {} columns: MPI has datatypes of {}", count, INT_MAX);
  MPI_Datatype repeated = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_hvector(static_cast<int>(count), 1, stride, type, &repeated),
            "MPI_Type_create_hvector");
  MPI_Type_free(&type);
  type = repeated;
}

}  // namespace

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
  Shape shape = {MPI_Type_c2f(type), static_cast<MPI_Aint>(of_type), columns, array.dim[dimension].sm};
  for (int i = 0; i < dimension; ++i) {
    shape.push_back(array.dim[i].extent);
    shape.push_back(array.dim[i].sm);
  }
  MPI_Datatype& made = made_datatypes().try_emplace(std::move(shape), MPI_DATATYPE_NULL).first->second;
  if (made != MPI_DATATYPE_NULL) return made;
  MPI_Datatype built = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(of_type), type, &built), "MPI_Type_contiguous");
  for (int i = 0; i < dimension; ++i) repeat(built, array.dim[i].extent, array.dim[i].sm);
  repeat(built, columns, array.dim[dimension].sm);
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_resized(built, 0, columns * array.dim[dimension].sm, &resized),
            "MPI_Type_create_resized");
  MPI_Type_free(&built);
  check_mpi(MPI_Type_commit(&resized), "MPI_Type_commit");
  return made = resized;
}

}  // namespace wisp::fortran
