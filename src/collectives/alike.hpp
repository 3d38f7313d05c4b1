#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/agreement.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// What all ranks of a collective must say alike, as far as it has it.
struct Alike {
  std::int64_t root = -1;
  std::int64_t bytes = -1;  ///< of a vector or block
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< of its elements
  std::string_view algorithm;             ///< named or chosen
  int kind = 0;                           ///< of the operator
};

inline std::int64_t signed_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

/// A call as numbers that ranks compare: its name, and what is said of it.
using Said = std::array<std::int64_t, 4>;
std::vector<std::int64_t> words_of(const char* call, const Said& said, std::string_view algorithm = "");
/// What the rank that differs says of the call, and rank 0 of the same; throws if they make different ones.
struct TwoSaid {
  Said there;
  Said of_root;
};
TwoSaid said_of_same_call(const char* call, const Difference& found);

Said said_of(const Alike& mine);
[[noreturn]] void throw_difference(const char* call, const Difference& found);

/// Compares what the ranks of a Channel or a Link call, on whatever operation each of them is. All get the
/// error of the first rank that differs from rank 0. O(log p α)
template <class On>
Task<> check_alike(On on, const char* call, Alike mine) {
  const std::vector<std::int64_t> words = words_of(call, said_of(mine), mine.algorithm);
  const std::optional<Difference> found =
      co_await find_difference(std::move(on), words, static_cast<int>(words.size()));
  if (found) throw_difference(call, *found);
}

}  // namespace wisp::detail
