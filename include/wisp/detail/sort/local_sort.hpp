#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

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

template <class T, class Less>
constexpr bool is_ascending = std::is_same_v<Less, Ascending> || std::is_same_v<Less, std::less<T>> ||
                              std::is_same_v<Less, std::less<>>;
template <class T, class Less>
constexpr bool is_descending = std::is_same_v<Less, std::greater<T>> || std::is_same_v<Less, std::greater<>>;
/// Numbers in an order that a processor knows.
template <class T, class Less>
constexpr bool sorts_numbers = number_kind<T>() != NumberKind::none &&
                               (is_ascending<T, Less> || is_descending<T, Less>);

/// Numbers of so many bytes, no NaN among them. False, and nothing done, where there is nothing faster than
/// std::sort.
bool sort_numbers(void* numbers, std::size_t count, NumberKind kind, std::size_t bytes, bool ascending);

/// Moves elements so that place i has what was at order[i]; `order` is used up.
template <class T>
void permute(std::span<T> data, std::span<std::uint32_t> order) {
  for (std::uint32_t begin = 0; begin < order.size(); ++begin) {
    if (order[begin] == begin) continue;
    T first = data[begin];
    std::uint32_t to = begin;
    for (std::uint32_t from = order[to]; from != begin; from = order[to]) {
      data[to] = data[from];
      order[to] = to;
      to = from;
    }
    data[to] = first;
    order[to] = to;
  }
}

/// Elements so large that moving them costs more than to look them up: their places are sorted, and each is
/// moved once.
template <class T, class Less>
void sort_by_places(std::span<T> data, Less less, bool stable) {
  std::vector<std::uint32_t> order(data.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto place_less = [&](std::uint32_t a, std::uint32_t b) { return less(data[a], data[b]); };
  if (stable) {
    std::stable_sort(order.begin(), order.end(), place_less);
  } else {
    std::sort(order.begin(), order.end(), place_less);
  }
  permute<T>(data, order);
}

template <class T, class Less>
void local_sort(std::span<T> data, Less less, bool stable = false) {
  constexpr std::size_t fewest = 128;  // for which it pays
  constexpr std::size_t large_element = 64;
  // Equal integers cannot be told apart; 0 and -0, and two NaN, can.
  if constexpr (sorts_numbers<T, Less>) {
    if (data.size() >= fewest && (!stable || std::is_integral_v<T>)) {
      auto end = data.end();
      // NaN comes last in Ascending, and is nowhere else.
      if constexpr (std::is_same_v<Less, Ascending> && std::is_floating_point_v<T>)
        end = std::partition(data.begin(), data.end(), [](T x) { return x == x; });
      const auto numbers = static_cast<std::size_t>(end - data.begin());
      if (sort_numbers(data.data(), numbers, number_kind<T>(), sizeof(T), is_ascending<T, Less>)) return;
    }
  }
  if constexpr (sizeof(T) >= large_element) {
    if (data.size() < std::numeric_limits<std::uint32_t>::max()) return sort_by_places<T>(data, less, stable);
  }
  if (stable) {
    std::stable_sort(data.begin(), data.end(), less);
  } else {
    std::sort(data.begin(), data.end(), less);
  }
}

}  // namespace wisp::detail
