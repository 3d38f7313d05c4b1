#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/detail/sort/janus_quicksort.hpp"
#include "wisp/detail/sort/merge_sort.hpp"
#include "wisp/error.hpp"
#include "wisp/sort_options.hpp"
#include "wisp/sort_order.hpp"

namespace wisp {

/// Sorts the elements of all ranks of `comm`: afterwards rank 0 has the smallest, and rank i has exactly
/// ⌊n/p⌋ or ⌈n/p⌉ elements (the first n mod p ranks one more), whatever the distribution before. Not stable.
///
/// T is trivially copyable; `less` is a strict weak order, the same on all ranks. Floating-point elements
/// with another order than Ascending must not be NaN: then every rank throws an Error, and no element is
/// moved.
///
/// By one exchange and a merge: O(α log p log n + β n/p) and O(n/p log n) local work, memory for twice as
/// many elements as a rank has and for p samples; or, where ranks are many and elements few, by Janus
/// Quicksort: O(α log² p + β n/p log p) expected, memory for four times ⌈n/p⌉ elements. Whichever is faster,
/// unless `options` name one. Sources: Axtmann, Wiebigke, Sanders 2018, section VII; Axtmann, Sanders 2017.
template <class T, class Less = Ascending>
void sort(const Comm& comm, std::vector<T>& data, Less less = {}, const SortOptions& options = {});

/// The same as a Request. `data` must stay until it is done.
template <class T, class Less = Ascending>
Request isort(const Comm& comm, std::vector<T>& data, Less less = {}, SortOptions options = {},
              std::optional<int> own_tag = {});

/// The same as a task to await.
template <class T, class Less = Ascending>
Task<> async_sort(const Comm& comm, std::vector<T>& data, Less less = {}, SortOptions options = {},
                  std::optional<int> own_tag = {});

namespace detail {

/// What is agreed on before a sort begins.
struct SortCensus {
  Slot elements = 0;
  Slot fewest = ~Slot{0};
  Slot most = 0;
  Slot ranks_with_nan = 0;

  static SortCensus combine(const SortCensus& a, const SortCensus& b) {
    return {a.elements + b.elements, std::min(a.fewest, b.fewest), std::max(a.most, b.most),
            a.ranks_with_nan + b.ranks_with_nan};
  }
};

template <class T, class Less>
bool has_unordered(std::span<const T> data) {
  if constexpr (std::is_floating_point_v<T> && !std::is_same_v<Less, Ascending>) {
    return std::any_of(data.begin(), data.end(), [](T x) { return x != x; });
  } else {
    return false;
  }
}

template <class T, class Less>
Task<> sort_on(Channel channel, std::vector<T>& data, Less less, SortOptions options) {
  const SortCensus mine{data.size(), data.size(), data.size(), has_unordered<T, Less>(data) ? Slot{1} : 0};
  const auto census = co_await exscan_total(channel, mine, SortCensus{}, &SortCensus::combine);
  if (census.total.ranks_with_nan > 0) {
    throw Error(MPI_ERR_ARG,
                "wisp::sort: " + std::to_string(census.total.ranks_with_nan) +
                    " ranks have NaN among their elements, which the given order does not place");
  }
  const Slot elements = census.total.elements;
  if (elements == 0) co_return;
  const Balance balance(elements, channel.size());
  const Slot most = census.total.most;
  if (sorts_by_merging(channel, elements, most, sizeof(T), options)) {
    co_await merge_sort(std::move(channel), balance, data, most, less, options);
    co_return;
  }
  const Interval own = balance.slots(channel.rank());
  if (census.total.fewest != census.total.most) {
    if (options.progress) options.progress({"balance", 0, elements});
    std::vector<T> balanced(own.size());
    HalfExchange<T> all{data, {}, balanced};
    all.transfers =
        assign_greedily(balance, 0, {census.before.elements, census.before.elements + data.size()});
    co_await exchange<T>(channel, std::move(all), {});
    data = std::move(balanced);
  }
  std::vector<T> scratch(data.size());
  JanusQuicksort<T, Less> quicksort(channel, balance, data, scratch, less, options);
  co_await quicksort.run(elements);
}

}  // namespace detail

template <class T, class Less>
Task<> async_sort(const Comm& comm, std::vector<T>& data, Less less, SortOptions options,
                  std::optional<int> own_tag) {
  static_assert(std::is_trivially_copyable_v<T>, "wisp::sort moves elements as bytes");
  return detail::sort_on(comm.channel("wisp::sort", own_tag), data, less, std::move(options));
}

template <class T, class Less>
void sort(const Comm& comm, std::vector<T>& data, Less less, const SortOptions& options) {
  comm.run(async_sort(comm, data, less, options));
}

template <class T, class Less>
Request isort(const Comm& comm, std::vector<T>& data, Less less, SortOptions options,
              std::optional<int> own_tag) {
  return comm.start(async_sort(comm, data, less, std::move(options), own_tag));
}

}  // namespace wisp
