#include "collectives/reduction.hpp"

#include <algorithm>
#include <climits>

#include "wisp/error.hpp"

namespace wisp::detail {

void reduce_into_right(const void* left, void* right, std::size_t count, MPI_Datatype type, MPI_Op op) {
  if (count == 0) return;
  if (count <= INT_MAX) [[likely]] {
    check_mpi(MPI_Reduce_local(left, right, static_cast<int>(count), type, op), "MPI_Reduce_local");
    return;
  }
  const TypeLayout layout = TypeLayout::of(type);
  constexpr std::size_t part = std::size_t{1} << 30;
  for (std::size_t done = 0; done < count; done += part) {
    const auto elements = static_cast<int>(std::min(part, count - done));
    const auto* left_part = static_cast<const std::byte*>(left) + static_cast<MPI_Aint>(done) * layout.extent;
    check_mpi(MPI_Reduce_local(left_part, element(right, done, layout), elements, type, op),
              "MPI_Reduce_local");
  }
}

}  // namespace wisp::detail
