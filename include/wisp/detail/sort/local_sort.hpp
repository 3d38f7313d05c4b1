#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

#include "wisp/sort_order.hpp"

// What one rank sorts by itself. Numbers in ascending or descending order go to Highway's vectorized
// quicksort, if wisp was built with it; all else to std::sort.

namespace wisp::detail {

enum class NumberKind { none, signed_integer, unsigned_integer, floating };

template <class T>
constexpr NumberKind number_kind() {
  const bool has_width = sizeof(T) == 4 || sizeof(T) == 8;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) return NumberKind::floating;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (has_width) return std::is_signed_v<T> ? NumberKind::signed_integer : NumberKind::unsigned_integer;
  }
  return NumberKind::none;
}

/// Numbers of so many bytes, no NaN among them. False, and nothing done, where there is nothing faster than
/// std::sort.
bool sort_numbers(void* numbers, std::size_t count, NumberKind kind, std::size_t bytes, bool ascending);

template <class T, class Less>
void local_sort(std::span<T> data, Less less) {
  constexpr bool ascends = std::is_same_v<Less, Ascending> || std::is_same_v<Less, std::less<T>> ||
                           std::is_same_v<Less, std::less<>>;
  constexpr bool descends = std::is_same_v<Less, std::greater<T>> || std::is_same_v<Less, std::greater<>>;
  constexpr std::size_t fewest = 128;  // for which it pays
  if constexpr (number_kind<T>() != NumberKind::none && (ascends || descends)) {
    if (data.size() >= fewest) {
      auto end = data.end();
      // NaN comes last in Ascending, and is nowhere else.
      if constexpr (std::is_same_v<Less, Ascending> && std::is_floating_point_v<T>)
        end = std::partition(data.begin(), data.end(), [](T x) { return x == x; });
      const auto numbers = static_cast<std::size_t>(end - data.begin());
      if (sort_numbers(data.data(), numbers, number_kind<T>(), sizeof(T), ascends)) return;
    }
  }
  std::sort(data.begin(), data.end(), less);
}

}  // namespace wisp::detail
