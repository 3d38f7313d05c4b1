#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "wisp/detail/as_size.hpp"
#include "wisp/detail/balance.hpp"

namespace wisp::detail {

/// An element and where it was when it was chosen. Elements are compared by key, equal ones by position, so
/// no two are the same and duplicates split as evenly as anything else; positions are never stored or sent
/// (Axtmann et al. 2018, section VIII-A).
template <class T>
struct Pivot {
  T key;
  Slot position;
};

struct Partitioned {
  std::size_t small = 0;             ///< elements before the pivot; they come first
  std::optional<std::size_t> pivot;  ///< where the pivot itself is now, if it is here: among the large
};

/// Moves the elements before `pivot` to the front of `data`, whose first element has position `first`.
template <class T, class Less>
Partitioned partition_by(std::span<T> data, Slot first, const Pivot<T>& pivot, Less less) {
  const auto begin = data.begin();
  const auto end = data.end();
  const auto not_after = [&](const T& element) { return !less(pivot.key, element); };
  const auto before = [&](const T& element) { return less(element, pivot.key); };

  if (first + data.size() <= pivot.position) {
    return {as_size(std::partition(begin, end, not_after) - begin), {}};
  }
  if (first > pivot.position) {
    return {as_size(std::partition(begin, end, before) - begin), {}};
  }
  // The pivot's own rank: equal elements are small in front of it, and large behind.
  const auto at_pivot = begin + static_cast<std::ptrdiff_t>(pivot.position - first);
  const auto large_in_front = std::partition(begin, at_pivot, not_after);
  const auto large_behind = std::partition(at_pivot + 1, end, before);
  std::rotate(large_in_front, at_pivot + 1, large_behind);
  const auto small_behind = large_behind - (at_pivot + 1);
  return {as_size(large_in_front - begin + small_behind), as_size(at_pivot - begin + small_behind)};
}

}  // namespace wisp::detail
