#pragma once

#if __cplusplus < 202002L
#error "wisp needs C++20: compile with -std=c++20 or later"
#endif

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace wisp::detail {

/// Ranks and counts of MPI are signed, sizes and indices of C++ are not; tables are indexed by enumerations.
template <class T>
requires(std::integral<T> || std::is_enum_v<T>) constexpr std::size_t as_size(T number) {
  return static_cast<std::size_t>(number);
}

}  // namespace wisp::detail
