#include "transport/kept_arguments.hpp"
#include "transport/mpi_process.hpp"

#include <algorithm>

#include "transport/type_layout.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
KeptArguments::~KeptArguments() {
  if (types_.empty() || is_finalized()) return;
  for (Kept& kept : types_) MPI_Type_free(&kept.ours);
}

MPI_Datatype KeptArguments::own_derived(MPI_Datatype type) {
  const auto known =
      std::find_if(types_.begin(), types_.end(), [&](const Kept& kept) { return kept.given == type; });
  if (known != types_.end()) return known->ours;
  if (type == MPI_DATATYPE_NULL || is_named(type)) return type;
  MPI_Datatype ours = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_dup(type, &ours), "MPI_Type_dup");
  types_.push_back({type, ours});
  return ours;
}

std::span<const MPI_Datatype> KeptArguments::own(std::span<const MPI_Datatype> types) {
  std::vector<MPI_Datatype>& list = lists_.emplace_back();
  for (const MPI_Datatype type : types) list.push_back(own(type));
  return list;
}

Integers KeptArguments::own(Integers given) {
  if (given.empty()) return given;
  std::vector<std::int64_t>& list = integers_.emplace_back(given.size());
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = given[i];
  return list;
}

}  // namespace wisp::detail
