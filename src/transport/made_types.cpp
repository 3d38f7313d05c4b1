// Datatypes of structs, of strided views, and of arrays with gaps.

#include <algorithm>
#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/made_types.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "wisp/buffer.hpp"

namespace wisp::detail {
namespace {

/// Datatypes of the process, as long as MPI is there.
template <class Key, class Before = std::less<Key>>
struct KeptTypes {
  std::mutex mutex;
  std::map<Key, MPI_Datatype, Before> of;

  static std::shared_ptr<KeptTypes> of_this_process() {
    check_mpi_runs("wisp::datatype_of");
    return of_process<KeptTypes>([] { return std::make_shared<KeptTypes>(); });
  }
  void close() {
    for (auto& [_, type] : of) MPI_Type_free(&type);
    of.clear();
  }
};
/// Its bytes, and its members in a vector, or in a span of whoever looks for it.
struct StructBefore {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const {
    return a.first != b.first ? a.first < b.first : std::ranges::lexicographical_compare(a.second, b.second);
  }
};
using KeptStructs = KeptTypes<std::pair<std::size_t, std::vector<StructMember>>, StructBefore>;
/// An element, and the numbers of `strided_type`.
using KeptArrays = KeptTypes<std::pair<MPI_Datatype, std::vector<MPI_Aint>>>;

MPI_Datatype resized(MPI_Datatype type, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_resized(type, 0, extent, &made), "MPI_Type_create_resized");
  check_mpi(MPI_Type_free(&type), "MPI_Type_free");
  check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
  return made;
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

MPI_Datatype struct_type(std::span<const StructMember> members, std::size_t bytes) {
  const auto kept = KeptStructs::of_this_process();
  const std::lock_guard lock(kept->mutex);
  if (const auto found = kept->of.find(std::pair(bytes, members)); found != kept->of.end())
    return found->second;
  std::vector<int> counts;
  std::vector<MPI_Aint> offsets;
  std::vector<MPI_Datatype> types;
  for (const StructMember& member : members) {
    counts.push_back(member.count);
    offsets.push_back(member.offset);
    types.push_back(member.type);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_struct(static_cast<int>(counts.size()), counts.data(), offsets.data(),
                                   types.data(), &made),
            "MPI_Type_create_struct");
  return kept->of[{bytes, {members.begin(), members.end()}}] = resized(made, static_cast<MPI_Aint>(bytes));
}

MPI_Datatype make_run(MPI_Datatype element, std::size_t length, std::ptrdiff_t stride, std::size_t bytes) {
  MPI_Aint extent = 0;
  if (__builtin_mul_overflow(stride, static_cast<std::ptrdiff_t>(bytes), &extent)) {
    throw_error(MPI_ERR_ARG, "wisp::Strided: stride = {} elements of {} bytes is further than memory reaches",
                stride, bytes);
  }
  check_mpi_runs("wisp::Strided");
  check_within(MPI_ERR_COUNT, "wisp::Strided", "length", static_cast<std::int64_t>(length), 0, INT_MAX);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(length), element, &made), "MPI_Type_contiguous");
  return resized(made, extent);
}

void free_run(MPI_Datatype& type) noexcept {
  if (type != MPI_DATATYPE_NULL && !is_finalized()) MPI_Type_free(&type);
}

void throw_not_contiguous() {
  throw_error(MPI_ERR_ARG, "wisp::Strided: the view's last dimension has gaps: stride(1) is not 1");
}

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
  const auto kept = KeptArrays::of_this_process();
  const std::lock_guard lock(kept->mutex);
  std::pair key(element, std::move(shape));
  if (const auto found = kept->of.find(key); found != kept->of.end()) return found->second;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(of_element), element, &type), "MPI_Type_contiguous");
  for (const Dimension& dimension : dimensions) {
    MPI_Datatype inner = std::exchange(type, repeated(type, dimension));
    check_mpi(MPI_Type_free(&inner), "MPI_Type_free");
  }
  return kept->of[std::move(key)] = resized(type, extent);
}

}  // namespace wisp::detail
