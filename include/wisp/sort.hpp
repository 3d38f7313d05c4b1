#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wisp/comm.hpp"
#include "wisp/detail/compared.hpp"
#include "wisp/detail/settled.hpp"
#include "wisp/detail/sort/census.hpp"
#include "wisp/detail/sort/choice.hpp"
#include "wisp/detail/sort/hypercube_quicksort.hpp"
#include "wisp/detail/sort/janus_quicksort.hpp"
#include "wisp/detail/sort/merge_sort.hpp"
#include "wisp/detail/sort/order.hpp"
#include "wisp/detail/sort/place_in_slots.hpp"
#include "wisp/detail/sort/run_for.hpp"
#include "wisp/error.hpp"
#include "wisp/sort_options.hpp"
#include "wisp/sort_order.hpp"

namespace wisp {

/// Sorts the elements of all ranks of `comm`: afterwards rank 0 has the smallest, and rank i has exactly
/// ⌊n/p⌋ or ⌈n/p⌉ elements (the first n mod p ranks one more), whatever the distribution before. Stable if
/// `options` say so. Elements that ascend over all ranks already stay as they are, or move to their shares.
///
/// T is trivially copyable, and can be made from nothing; `less` is a strict weak order of what `projection`
/// (a function or a member, as in std::ranges::sort) makes of elements, the same on all ranks. If it throws,
/// the sort ends on all ranks with elements in any order, and the exception is thrown on from the rank where
/// it was thrown; others may throw an Error, as no order is to be seen. Floating-point elements with another
/// order than Ascending must not be NaN: then every rank throws an Error, and no element is moved.
///
/// By one exchange and a merge: O(α log p log n + β n/p) and O(n/p log n) local work, memory for twice as
/// many elements as a rank has and for p samples; or, with few elements on many ranks, by quicksort on a
/// hypercube: about α (log² p + 9 log p)/2; or, with few on two ranks, by Janus Quicksort: O(α log² p +
/// β n/p log p) expected, memory for four times ⌈n/p⌉ elements. Whichever is fastest, unless `options` name
/// one. Sources: Axtmann, Wiebigke, Sanders 2018, section VII; Axtmann, Sanders 2017. All options but
/// `progress` are the same on all ranks; that those which are used are not is an Error on every rank.
template <class T, detail::OrderOf<T> Less = Ascending>
void sort(const Comm& comm, std::vector<T>& data, Less less = {}, const SortOptions& options = {});
template <class T, class Less, detail::ProjectionOf<T> Projection>
void sort(const Comm& comm, std::vector<T>& data, Less less, Projection projection,
          const SortOptions& options = {});

/// The same as a Request. `data` must stay until it is done.
template <class T, detail::OrderOf<T> Less = Ascending>
Request isort(const Comm& comm, std::vector<T>& data, Less less = {}, SortOptions options = {},
              std::optional<int> own_tag = {});

/// The same as a task to await.
template <class T, detail::OrderOf<T> Less = Ascending>
Task<> async_sort(const Comm& comm, std::vector<T>& data, Less less = {}, SortOptions options = {},
                  std::optional<int> own_tag = {});

/// Sorts `keys`, and takes the values along: value i belongs to key i, before and after. Ranks whose numbers
/// of keys and values differ are an Error on every rank.
template <class Key, class Value, detail::OrderOf<Key> Less = Ascending>
void sort_by_key(const Comm& comm, std::vector<Key>& keys, std::vector<Value>& values, Less less = {},
                 const SortOptions& options = {});
template <class Key, class Value, detail::OrderOf<Key> Less = Ascending>
Task<> async_sort_by_key(const Comm& comm, std::vector<Key>& keys, std::vector<Value>& values, Less less = {},
                         SortOptions options = {}, std::optional<int> own_tag = {});

/// The permutation that sorts: where, counted over all ranks, each element of this rank's share of the sorted
/// sequence is before. `data` stays; equal elements are in their order.
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<std::uint64_t> argsort(const Comm& comm, std::span<const T> data, Less less = {});
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<std::uint64_t> argsort(const Comm& comm, const std::vector<T>& data, Less less = {}) {
  return argsort<T, Less>(comm, std::span<const T>(data), less);
}
template <class T, detail::OrderOf<T> Less = Ascending>
Task<std::vector<std::uint64_t>> async_argsort(const Comm& comm, std::span<const T> data, Less less = {},
                                               std::optional<int> own_tag = {});

namespace detail {

/// Moves elements, in any order, so that every rank has its slots; `before` are on lower ranks.
template <class T>
Task<> move_to_slots(Channel channel, Balance balance, std::vector<T>& data, Slot before) {
  std::vector<T> balanced(balance.slots(channel.rank()).size());
  HalfExchange<T> all{data, {}, balanced};
  all.transfers = assign_greedily(balance, 0, {before, before + data.size()});
  co_await exchange<T>(std::move(channel), std::move(all), {});
  data = std::move(balanced);
}

template <class T, class Less>
Task<> sort_counted(Channel channel, std::vector<T>& data, PrefixAndTotal<SortCensus> census, Less less,
                    const SortOptions& options) {
  const Slot elements = census.total.elements;
  const Slot most = census.total.of_rank.most;
  const SortAlgorithm algorithm = choose_sort(channel, elements, most, sizeof(T), options);
  if (elements == 0) co_return;
  const Balance balance(elements, channel.size());
  if (algorithm == SortAlgorithm::merge) {
    co_await merge_sort(std::move(channel), balance, data, most, less, options);
    co_return;
  }
  if (algorithm == SortAlgorithm::rquick) {
    if (options.progress) options.progress({"hypercube", 0, data.size()});
    HypercubeQuicksort<T, Less> quicksort(std::move(channel), data, less, options.seed);
    co_await quicksort.run(balance);
    co_return;
  }
  check_same_options(channel.operation(), census.total.sampling, "seed or numbers of samples");
  if (!census.total.of_rank.is_one()) {
    if (options.progress) options.progress({"balance", 0, elements});
    co_await move_to_slots(channel, balance, data, census.before.elements);
  }
  std::vector<T> scratch(data.size());
  JanusQuicksort<T, Less> quicksort(channel, balance, data, scratch, less, options);
  co_await quicksort.run(elements);
}

template <class T, class Less>
Task<> sort_on(Channel channel, std::vector<T>& data, Less less, SortOptions options) {
  using Census = AscentCensus<T>;
  const SortCensus counts = SortCensus::of(data.size(), has_unordered<T, Less>(data), options);
  const auto combine = [&less](const Census& a, const Census& b) { return Census::combine(a, b, less); };
  const auto [before, total] =
      co_await exscan_total(channel, Census::of(data, counts, less), Census{}, combine);
  check_all_have_places(channel.operation(), total.counts);
  check_same_way(channel.operation(), total.counts);
  const bool is_named = !options.algorithm.empty() || options.make_group;
  if (total.ascends && !is_named) {
    if (total.counts.of_rank.is_one()) co_return;
    const Balance balance(total.counts.elements, channel.size());
    co_await place_in_slots(std::move(channel), balance, data, before.counts.elements);
    co_return;
  }
  const PrefixAndTotal<SortCensus> census{before.counts, total.counts};
  co_await sort_counted(std::move(channel), data, census, less, options);
}

/// The same with an order that may throw.
template <class T, class Less>
Task<> sort_guarded(Channel channel, std::vector<T>& data, Less less, SortOptions options) {
  OrderFailure failure;
  co_await failure.instead_of(
      sort_on(std::move(channel), data, guard_order<T>(less, failure), std::move(options)));
}

}  // namespace detail

template <class T, detail::OrderOf<T> Less>
Task<> async_sort(const Comm& comm, std::vector<T>& data, Less less, SortOptions options,
                  std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  Channel channel = comm.channel("wisp::sort", own_tag);
  if constexpr (detail::can_throw<T, Less>) {
    return detail::compared(
        channel, detail::settled(channel, detail::sort_guarded(channel, data, less, std::move(options))));
  } else {
    return detail::compared(
        channel, detail::settled(channel, detail::sort_on(channel, data, less, std::move(options))));
  }
}

template <class T, detail::OrderOf<T> Less>
void sort(const Comm& comm, std::vector<T>& data, Less less, const SortOptions& options) {
  comm.run(async_sort(comm, data, less, options));
}

template <class T, class Less, detail::ProjectionOf<T> Projection>
void sort(const Comm& comm, std::vector<T>& data, Less less, Projection projection,
          const SortOptions& options) {
  sort(comm, data, detail::project<T>(less, projection), options);
}

template <class T, detail::OrderOf<T> Less>
Request isort(const Comm& comm, std::vector<T>& data, Less less, SortOptions options,
              std::optional<int> own_tag) {
  return comm.start(async_sort(comm, data, less, std::move(options), own_tag));
}

namespace detail {

template <class Key, class Value, class Less>
Task<> sort_by_key_on(Channel channel, std::vector<Key>& keys, std::vector<Value>& values, Less less,
                      SortOptions options) {
  struct Pair {
    Key key;
    Value value;
  };
  const bool is_wrong = keys.size() != values.size() || has_unordered<Key, Less>(keys);
  const auto census = co_await take_census(channel, SortCensus::of(keys.size(), is_wrong, options));
  if (census.total.ranks_at_fault > 0) {
    throw Error(MPI_ERR_ARG, "wisp::sort_by_key: " + std::to_string(census.total.ranks_at_fault) +
                                 " ranks have other numbers of keys and values (here " +
                                 std::to_string(keys.size()) + " and " + std::to_string(values.size()) +
                                 "), or NaN that the given order does not place");
  }
  check_same_way(channel.operation(), census.total);
  std::vector<Pair> pairs(keys.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {keys[i], values[i]};
  keys = {};  // memory for the sort
  values = {};
  OrderFailure failure;
  const auto by_key = [less](const Pair& a, const Pair& b) { return less(a.key, b.key); };
  std::exception_ptr thrown;
  try {
    co_await failure.instead_of(
        sort_counted(std::move(channel), pairs, census, guard_order<Pair>(by_key, failure), options));
  } catch (...) {  // the pairs are there all the same, in any order
    thrown = std::current_exception();
  }
  keys.resize(pairs.size());
  values.resize(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    keys[i] = pairs[i].key;
    values[i] = pairs[i].value;
  }
  if (thrown) std::rethrow_exception(thrown);
}

template <class T, class Less>
Task<std::vector<std::uint64_t>> argsort_on(Channel channel, std::span<const T> data, Less less) {
  struct Placed {
    T key;
    std::uint64_t place;
  };
  const bool is_wrong = has_unordered<T, Less>(data);
  const auto census = co_await take_census(channel, SortCensus::of(data.size(), is_wrong));
  check_all_have_places(channel.operation(), census.total);
  std::vector<Placed> placed(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) placed[i] = {data[i], census.before.elements + i};
  OrderFailure failure;
  // Places make all elements different: any algorithm gives the stable order.
  const auto by_key = [less](const Placed& a, const Placed& b) {
    return less(a.key, b.key) || (!less(b.key, a.key) && a.place < b.place);
  };
  const SortOptions options;
  co_await failure.instead_of(
      sort_counted(std::move(channel), placed, census, guard_order<Placed>(by_key, failure), options));
  std::vector<std::uint64_t> places(placed.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = placed[i].place;
  co_return places;
}

}  // namespace detail

template <class Key, class Value, detail::OrderOf<Key> Less>
Task<> async_sort_by_key(const Comm& comm, std::vector<Key>& keys, std::vector<Value>& values, Less less,
                         SortOptions options, std::optional<int> own_tag) {
  detail::check_vector_elements<Key>();
  detail::check_vector_elements<Value>();
  const Channel channel = comm.channel("wisp::sort_by_key", own_tag);
  return detail::compared(
      channel,
      detail::settled(channel, detail::sort_by_key_on(channel, keys, values, less, std::move(options))));
}

template <class Key, class Value, detail::OrderOf<Key> Less>
void sort_by_key(const Comm& comm, std::vector<Key>& keys, std::vector<Value>& values, Less less,
                 const SortOptions& options) {
  comm.run(async_sort_by_key(comm, keys, values, less, options));
}

template <class T, detail::OrderOf<T> Less>
Task<std::vector<std::uint64_t>> async_argsort(const Comm& comm, std::span<const T> data, Less less,
                                               std::optional<int> own_tag) {
  detail::check_elements<T>();
  const Channel channel = comm.channel("wisp::argsort", own_tag);
  return detail::compared(channel,
                          detail::settled(channel, detail::argsort_on<T, Less>(channel, data, less)));
}

template <class T, detail::OrderOf<T> Less>
std::vector<std::uint64_t> argsort(const Comm& comm, std::span<const T> data, Less less) {
  return detail::run_for(comm, async_argsort<T, Less>(comm, data, less));
}

}  // namespace wisp
