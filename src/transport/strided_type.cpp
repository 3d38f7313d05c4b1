#include "transport/strided_type.hpp"

#include <climits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

struct StridedTypes {
  std::mutex mutex;
  std::map<std::pair<MPI_Datatype, std::vector<MPI_Aint>>, MPI_Datatype> of_shape;

  void close() {
    for (auto& [_, type] : of_shape) MPI_Type_free(&type);
    of_shape.clear();
  }
};

void replace(MPI_Datatype& type, MPI_Datatype by) {
  check_mpi(MPI_Type_free(&type), "MPI_Type_free");
  type = by;
}

MPI_Datatype repeated(MPI_Datatype type, const Dimension& dimension) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int count = static_cast<int>(dimension.count);
  if (dimension.stride != -1) {
    check_mpi(MPI_Type_create_hvector(count, 1, dimension.stride, type, &made), "MPI_Type_create_hvector");
    return made;
  }
  // Open MPI takes this stride for none at all.
  const std::vector<int> ones(as_size(count), 1);
  std::vector<MPI_Aint> displacements(as_size(count));
  for (int i = 0; i < count; ++i) displacements[as_size(i)] = -i;
  check_mpi(MPI_Type_create_hindexed(count, ones.data(), displacements.data(), type, &made),
            "MPI_Type_create_hindexed");
  return made;
}

}  // namespace

MPI_Datatype strided_type(MPI_Datatype element, MPI_Aint of_element, std::span<const Dimension> dimensions,
                          MPI_Aint extent) {
  if (of_element > INT_MAX) {
    throw_error(MPI_ERR_COUNT, "an array with gaps, in runs of {} elements: MPI has datatypes of {}",
                of_element, INT_MAX);
  }
  std::vector<MPI_Aint> shape = {of_element, extent};
  for (const Dimension& dimension : dimensions) {
    if (dimension.count > INT_MAX) {
      throw_error(MPI_ERR_COUNT, "an array with gaps, of {} columns: MPI has datatypes of {}",
                  dimension.count, INT_MAX);
    }
    shape.push_back(dimension.count);
    shape.push_back(dimension.stride);
  }
  const std::shared_ptr<StridedTypes> types =
      of_process<StridedTypes>([] { return std::make_shared<StridedTypes>(); });
  const std::lock_guard lock(types->mutex);
  auto& kept = types->of_shape;
  std::pair key(element, std::move(shape));
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(of_element), element, &type), "MPI_Type_contiguous");
  for (const Dimension& dimension : dimensions) replace(type, repeated(type, dimension));
  check_mpi(MPI_Type_create_resized(type, 0, extent, &made), "MPI_Type_create_resized");
  replace(type, made);
  check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
  return kept.emplace(std::move(key), type).first->second;
}

}  // namespace wisp::detail
