#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

#include "wisp/detail/sort/choice.hpp"
#include "wisp/detail/sort/exscan_total.hpp"
#include "wisp/detail/sort/order.hpp"
#include "wisp/error.hpp"
#include "wisp/sort_options.hpp"
#include "wisp/sort_order.hpp"

// What is agreed on before a sort or a selection begins: numbers of elements, and arguments that must be the
// same on all ranks or right on each, so that an error is one on all of them. 2 ⌈log p⌉ α.

namespace wisp::detail {

/// Of a number that each rank has.
struct LeastAndMost {
  Slot least = ~Slot{0};
  Slot most = 0;

  static LeastAndMost of(Slot number) { return {number, number}; }
  static LeastAndMost combine(const LeastAndMost& a, const LeastAndMost& b) {
    return {std::min(a.least, b.least), std::max(a.most, b.most)};
  }
  bool is_one() const { return least == most; }
};

struct SortCensus {
  Slot elements = 0;
  LeastAndMost of_rank;     ///< elements
  Slot ranks_at_fault = 0;  ///< with NaN, or numbers of elements that do not agree
  LeastAndMost way;         ///< of `way_of`
  LeastAndMost sampling;    ///< of `sampling_of`

  static SortCensus of(std::size_t elements, bool is_at_fault, const SortOptions& options = {}) {
    return {elements, LeastAndMost::of(elements), is_at_fault ? Slot{1} : 0,
            LeastAndMost::of(way_of(options)), LeastAndMost::of(sampling_of(options))};
  }
  static SortCensus combine(const SortCensus& a, const SortCensus& b) {
    return {a.elements + b.elements, LeastAndMost::combine(a.of_rank, b.of_rank),
            a.ranks_at_fault + b.ranks_at_fault, LeastAndMost::combine(a.way, b.way),
            LeastAndMost::combine(a.sampling, b.sampling)};
  }
};

inline Task<PrefixAndTotal<SortCensus>> take_census(Channel channel, SortCensus mine) {
  return exscan_total(std::move(channel), mine, SortCensus{}, &SortCensus::combine);
}

inline void check_same_options(const char* call, const LeastAndMost& numbers, const char* options) {
  if (numbers.is_one()) return;
  throw Error(MPI_ERR_ARG, std::string(call) + ": options differ between ranks (" + options + ")");
}
inline void check_same_way(const char* call, const SortCensus& total) {
  check_same_options(call, total.way, "algorithm, stable, assignment or make_group");
}

/// Where ranks are at fault that have elements without a place in the order.
inline void check_all_have_places(const char* call, const SortCensus& total) {
  if (total.ranks_at_fault == 0) return;
  throw Error(MPI_ERR_ARG, std::string(call) + ": " + std::to_string(total.ranks_at_fault) +
                               " ranks have NaN among their elements, which the given order does not place");
}

template <class T, class Less>
bool has_unordered(std::span<const T> data) {
  constexpr bool places_all =
      std::is_same_v<Less, Ascending> || std::is_same_v<Less, GuardedOrder<T, Ascending>>;
  if constexpr (std::is_floating_point_v<T> && !places_all) {
    return std::any_of(data.begin(), data.end(), [](T x) { return x != x; });
  } else {
    return false;
  }
}

/// A census that sees, too, whether the elements ascend over all ranks already.
template <class T>
struct AscentCensus {
  SortCensus counts;
  bool ascends = true;
  T first{};  ///< of the elements, if there are any
  T last{};

  template <class Less>
  static AscentCensus of(std::span<const T> data, SortCensus counts, Less less) {
    AscentCensus census{counts, std::is_sorted(data.begin(), data.end(), less), {}, {}};
    if (!data.empty()) {
      census.first = data.front();
      census.last = data.back();
    }
    return census;
  }
  template <class Less>
  static AscentCensus combine(const AscentCensus& a, const AscentCensus& b, Less less) {
    const SortCensus counts = SortCensus::combine(a.counts, b.counts);
    if (a.counts.elements == 0) return {counts, b.ascends, b.first, b.last};
    if (b.counts.elements == 0) return {counts, a.ascends, a.first, a.last};
    return {counts, a.ascends && b.ascends && !less(b.first, a.last), a.first, b.last};
  }
};

}  // namespace wisp::detail
