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

#include "wisp/detail/sort/order.hpp"

// What one rank sorts by itself. Numbers in ascending or descending order go to Highway's vectorized
// quicksort, if wisp was built with it; all else to std::sort.

namespace wisp::detail {

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

template <class T, class Less>
void std_sort(std::span<T> data, const Less& less, bool stable) {
  if (stable) {
    std::stable_sort(data.begin(), data.end(), less);
  } else {
    std::sort(data.begin(), data.end(), less);
  }
}

/// Elements so large that moving them costs more than to look them up: their places are sorted, and each is
/// moved once.
template <class T, class Less>
void sort_by_places(std::span<T> data, Less less, bool stable) {
  std::vector<std::uint32_t> order(data.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const bool is_sorted = use_unguarded(less, [&](const auto& unguarded) {
    const auto place_less = [&](std::uint32_t a, std::uint32_t b) { return unguarded(data[a], data[b]); };
    std_sort<std::uint32_t>(order, place_less, stable);
  });
  if (is_sorted) permute<T>(data, order);
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
  if constexpr (may_have_failed<Less>) {
    // Where the order throws, the element that is moved just then is lost.
    const std::vector<T> given(data.begin(), data.end());
    const auto sort = [&](const auto& unguarded) { std_sort(data, unguarded, stable); };
    if (!use_unguarded(less, sort)) std::copy(given.begin(), given.end(), data.begin());
  } else {
    std_sort(data, less, stable);
  }
}

}  // namespace wisp::detail
