// Datatypes of structs and of strided views.

#include <climits>
#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "wisp/buffer.hpp"

namespace wisp::detail {
namespace {

/// Of the process, as long as MPI is there.
struct KeptDatatypes {
  std::mutex mutex;
  std::unordered_map<std::type_index, MPI_Datatype> of;

  void close() {
    for (auto& [_, type] : of) MPI_Type_free(&type);
    of.clear();
  }
};

std::shared_ptr<KeptDatatypes> kept_datatypes() {
  return of_process<KeptDatatypes>([] { return std::make_shared<KeptDatatypes>(); });
}

MPI_Datatype resized(MPI_Datatype type, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_resized(type, 0, extent, &made), "MPI_Type_create_resized");
  check_mpi(MPI_Type_free(&type), "MPI_Type_free");
  check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
  return made;
}

}  // namespace

MPI_Datatype kept_datatype(const std::type_info& of) {
  const std::shared_ptr<KeptDatatypes> kept = kept_datatypes();
  const std::lock_guard lock(kept->mutex);
  const auto found = kept->of.find(of);
  return found == kept->of.end() ? MPI_DATATYPE_NULL : found->second;
}

MPI_Datatype keep_datatype(const std::type_info& of, std::span<const StructMember> members,
                           std::size_t bytes) {
  const std::shared_ptr<KeptDatatypes> kept = kept_datatypes();
  const std::lock_guard lock(kept->mutex);
  if (const auto found = kept->of.find(of); found != kept->of.end()) return found->second;
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
  return kept->of[of] = resized(made, static_cast<MPI_Aint>(bytes));
}

MPI_Datatype make_run(MPI_Datatype element, std::size_t length, MPI_Aint stride) {
  check_within(MPI_ERR_COUNT, "wisp::Strided", "length", static_cast<std::int64_t>(length), 0, INT_MAX);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(length), element, &made), "MPI_Type_contiguous");
  return resized(made, stride);
}

void free_run(MPI_Datatype& type) noexcept {
  int finalized = 0;
  if (type == MPI_DATATYPE_NULL) return;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Type_free(&type);
}

void throw_not_contiguous() {
  throw_error(MPI_ERR_ARG, "wisp::Strided: the view's last dimension has gaps: stride(1) is not 1");
}

}  // namespace wisp::detail
