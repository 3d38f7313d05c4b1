#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wisp/sort.hpp"

/// What is done with sequences that lie on all ranks, one part after the other: in order or not.

namespace wisp {

/// Merges two sequences whose parts are sorted on every rank: rank i has its share of the result as after
/// `sort`. Equal elements of `a` come before those of `b`, each in the order of ranks. A part that is not
/// sorted is an Error on every rank. O(α log p log n + β n/p) and O(n/p log p) local work.
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<T> merge(const Comm& comm, std::span<const T> a, std::span<const T> b, Less less = {});
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<T> merge(const Comm& comm, const std::vector<T>& a, const std::vector<T>& b, Less less = {}) {
  return merge<T, Less>(comm, std::span<const T>(a), std::span<const T>(b), less);
}
template <class T, detail::OrderOf<T> Less = Ascending>
Task<std::vector<T>> async_merge(const Comm& comm, std::span<const T> a, std::span<const T> b, Less less = {},
                                 std::optional<int> own_tag = {});

/// Of equal elements that follow each other, also across ranks, keeps the first: of a sorted sequence, one of
/// each. Nothing moves between ranks; `rebalance` gives all the same share again. 2 ⌈log p⌉ α.
template <class T, class Equal = std::equal_to<>>
void unique(const Comm& comm, std::vector<T>& data, Equal equal = {});
template <class T, class Equal = std::equal_to<>>
Task<> async_unique(const Comm& comm, std::vector<T>& data, Equal equal = {},
                    std::optional<int> own_tag = {});

/// For each of this rank's values, how many elements of a sorted sequence (sorted across ranks, parts of any
/// size) are less than it: where it belongs, counted over all ranks. Every rank may ask for any number.
/// O(p) memory, two exchanges of the values.
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<std::uint64_t> lower_bound(const Comm& comm, const std::vector<T>& sorted,
                                       const std::vector<T>& values, Less less = {});
/// The same of elements that are not greater than it.
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<std::uint64_t> upper_bound(const Comm& comm, const std::vector<T>& sorted,
                                       const std::vector<T>& values, Less less = {});
enum class Bound { lower, upper };
template <class T, detail::OrderOf<T> Less = Ascending>
Task<std::vector<std::uint64_t>> async_bound(const Comm& comm, std::span<const T> sorted,
                                             std::span<const T> values, Bound bound, Less less = {},
                                             std::optional<int> own_tag = {});

/// Moves elements to other ranks, in their order, until rank i has ⌊n/p⌋ or ⌈n/p⌉ of them (the first n mod p
/// ranks one more).
template <class T>
void rebalance(const Comm& comm, std::vector<T>& data);
template <class T>
Task<> async_rebalance(const Comm& comm, std::vector<T>& data, std::optional<int> own_tag = {});

/// The same until all ranks have about the same sum of `weight(element)`, a number that is not negative: an
/// element goes to the rank in whose part of the sum its middle is, so no rank has more than its share and
/// one element. A weight that is negative or no number, or an infinite sum, is an Error on every rank.
template <class T, class Weight>
requires std::is_arithmetic_v<std::invoke_result_t<Weight&, const T&>>
void rebalance(const Comm& comm, std::vector<T>& data, Weight weight);
template <class T, class Weight>
requires std::is_arithmetic_v<std::invoke_result_t<Weight&, const T&>> Task<> async_rebalance(
    const Comm& comm, std::vector<T>& data, Weight weight, std::optional<int> own_tag = {});

namespace detail {

template <class T, class Less>
Task<std::vector<T>> merge_on(Channel channel, std::span<const T> a, std::span<const T> b, Less less) {
  OrderFailure failure;
  const auto guarded = guard_order<T>(less, failure);
  const bool is_wrong = has_unordered<T, Less>(a) || has_unordered<T, Less>(b) ||
                        !std::is_sorted(a.begin(), a.end(), guarded) ||
                        !std::is_sorted(b.begin(), b.end(), guarded);
  SortCensus mine = SortCensus::of(a.size() + b.size(), is_wrong);
  mine.of_rank.most = std::max(a.size(), b.size());
  const auto census = co_await take_census(channel, mine);
  if (census.total.ranks_at_fault > 0) {
    failure.rethrow();
    throw Error(MPI_ERR_ARG, "wisp::merge: on " + std::to_string(census.total.ranks_at_fault) +
                                 " ranks what should be merged is not sorted");
  }
  std::vector<T> merged;
  if (census.total.elements == 0) co_return merged;
  SpanRuns<T> runs;
  runs.runs = {a, b};
  const Balance balance(census.total.elements, channel.size());
  co_await failure.instead_of(merge_balanced(channel, balance, std::move(runs), merged,
                                             census.total.of_rank.most, guarded, true, SortOptions{}));
  co_return merged;
}

/// The last element of some ranks, if they have any.
template <class T>
struct LastElement {
  T value{};
  bool exists = false;

  static LastElement combine(const LastElement& lower, const LastElement& higher) {
    return higher.exists ? higher : lower;
  }
};

template <class T, class Equal>
Task<> unique_on(Channel channel, std::vector<T>& data, Equal equal) {
  LastElement<T> mine;
  if (!data.empty()) mine = {data.back(), true};
  const auto last =
      co_await exscan_total(std::move(channel), mine, LastElement<T>{}, &LastElement<T>::combine);
  auto first = data.begin();
  if (last.before.exists) {
    first = std::find_if_not(first, data.end(),
                             [&](const T& element) { return equal(last.before.value, element); });
  }
  data.erase(std::unique(first, data.end(), equal), data.end());
  data.erase(data.begin(), first);
}

/// What a rank tells of its part of a sorted sequence.
template <class T>
struct PartFront {
  Slot size = 0;
  T first{};
};

template <class T, class Less>
Task<std::vector<std::uint64_t>> bound_on(Channel channel, std::span<const T> sorted,
                                          std::span<const T> values, Bound bound, Less less) {
  OrderFailure failure;
  const auto guarded = guard_order<T>(less, failure);
  const auto is_before = [&](const T& element, const T& value) {
    return bound == Bound::lower ? guarded(element, value) : !guarded(value, element);
  };
  const std::size_t ranks = as_size(channel.size());
  PartFront<T> mine;
  mine.size = sorted.size();
  if (!sorted.empty()) mine.first = sorted.front();
  std::vector<PartFront<T>> fronts(ranks);
  co_await allgather_on(channel, bytes_of(mine),
                        {fronts.data(), fronts.size() * sizeof(PartFront<T>), MPI_BYTE});
  // Only parts with elements, and where they begin: the last that begins before a value knows the rest.
  std::vector<int> owners;
  std::vector<Slot> begins(ranks);
  Slot elements = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    begins[r] = elements;
    elements += fronts[r].size;
    if (fronts[r].size > 0) owners.push_back(static_cast<int>(r));
  }
  std::vector<int> asked(values.size(), -1);
  std::vector<std::vector<T>> questions(ranks);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto after = std::partition_point(owners.begin(), owners.end(), [&](int owner) {
      return is_before(fronts[as_size(owner)].first, values[i]);
    });
    if (after == owners.begin()) continue;  // it belongs in front of all
    asked[i] = *(after - 1);
    questions[as_size(asked[i])].push_back(values[i]);
  }
  ByteBlocks sent;
  for (const std::vector<T>& question : questions) {
    for (const T& value : question) KeyBytes<T>::append(sent.bytes, value);
    sent.end_block();
  }
  const ByteBlocks received = co_await exchange_blocks(channel, std::move(sent), 0);
  ByteBlocks answers;
  for (int r = 0; r < channel.size(); ++r) {
    const std::span<const std::byte> block = received.block(r);
    const std::byte* from = block.data();
    for (std::size_t left = block.size() / sizeof(T); left > 0; --left) {
      const T value = KeyBytes<T>::read(from);
      const auto found = std::partition_point(sorted.begin(), sorted.end(),
                                              [&](const T& element) { return is_before(element, value); });
      KeyBytes<Slot>::append(answers.bytes,
                             begins[as_size(channel.rank())] + static_cast<Slot>(found - sorted.begin()));
    }
    answers.end_block();
  }
  const ByteBlocks answered = co_await exchange_blocks(channel, std::move(answers), 0);
  if constexpr (can_throw<T, Less>) {
    const Slot here = has_failed(guarded) ? 1 : 0;
    Slot failed = 0;
    co_await allreduce_on(channel, {&here, 1, MPI_UINT64_T}, {&failed, 1, MPI_UINT64_T}, MPI_SUM);
    failure.rethrow();
    throw_if_failed(channel.operation(), failed);
  }
  std::vector<const std::byte*> next;
  for (int r = 0; r < channel.size(); ++r) next.push_back(answered.block(r).data());
  std::vector<std::uint64_t> places(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (asked[i] >= 0) places[i] = KeyBytes<Slot>::read(next[as_size(asked[i])]);
  co_return places;
}

/// Sends elements on, in their order: rank 0 gets the first ones as long as
/// `stays(place, 0)`, then rank 1 …
template <class T, class Stays>
Task<> hand_out(Channel channel, std::vector<T>& data, Stays stays) {
  ByteBlocks sent;
  std::size_t next = 0;
  for (int r = 0; r < channel.size(); ++r) {
    const std::size_t first = next;
    while (next < data.size() && stays(next, r)) ++next;
    const auto bytes = std::as_bytes(std::span(data).subspan(first, next - first));
    sent.bytes.insert(sent.bytes.end(), bytes.begin(), bytes.end());
    sent.end_block();
  }
  const ByteBlocks received = co_await exchange_blocks(channel, std::move(sent), 0);
  data.resize(received.bytes.size() / sizeof(T));
  if (!data.empty()) std::memcpy(data.data(), received.bytes.data(), received.bytes.size());
}

template <class T>
Task<> rebalance_on(Channel channel, std::vector<T>& data) {
  const auto census = co_await take_census(channel, SortCensus::of(data.size(), false));
  if (census.total.of_rank.is_one()) co_return;
  const Balance balance(census.total.elements, channel.size());
  co_await place_in_slots(std::move(channel), balance, data, census.before.elements);
}

struct WeightCensus {
  double weight = 0;
  Slot ranks_at_fault = 0;

  static WeightCensus combine(const WeightCensus& a, const WeightCensus& b) {
    return {a.weight + b.weight, a.ranks_at_fault + b.ranks_at_fault};
  }
};

template <class T, class Weight>
Task<> rebalance_weighted_on(Channel channel, std::vector<T>& data, Weight weight) {
  WeightCensus mine;
  std::vector<double> weights;
  std::exception_ptr thrown;
  try {
    for (const T& element : data) {
      weights.push_back(static_cast<double>(weight(element)));
      if (!(weights.back() >= 0)) mine.ranks_at_fault = 1;
      mine.weight += weights.back();
    }
  } catch (...) {  // the others wait for this rank
    thrown = std::current_exception();
    mine.ranks_at_fault = 1;
  }
  const auto census = co_await exscan_total(channel, mine, WeightCensus{}, &WeightCensus::combine);
  if (thrown) std::rethrow_exception(thrown);
  if (census.total.ranks_at_fault > 0) {
    throw Error(MPI_ERR_ARG, "wisp::rebalance: " + std::to_string(census.total.ranks_at_fault) +
                                 " ranks have weights that are negative, no number, or cannot be computed");
  }
  if (std::isinf(census.total.weight)) {
    throw Error(MPI_ERR_ARG, "wisp::rebalance: the sum of all weights is infinite");
  }
  if (census.total.weight == 0) {
    co_await rebalance_on(std::move(channel), data);
    co_return;
  }
  // Sums of floating-point numbers depend on who makes them, and elements would change their order at
  // borders. Parts of the total as integers do not.
  constexpr double whole = 0x1p62;
  std::vector<std::uint64_t> parts;
  std::uint64_t sum = 0;
  for (const double one : weights) {
    parts.push_back(static_cast<std::uint64_t>(one / census.total.weight * whole));
    sum += parts.back();
  }
  const auto sums = co_await exscan_total(channel, sum, std::uint64_t{0}, std::plus<std::uint64_t>());
  const double share = static_cast<double>(sums.total) / channel.size();
  std::uint64_t before = sums.before;
  const auto stays = [&](std::size_t i, int rank) {
    const auto middle = static_cast<double>(before + parts[i] / 2);
    const bool does = rank + 1 == channel.size() || middle < share * (rank + 1);
    if (does) before += parts[i];
    return does;
  };
  co_await hand_out(channel, data, stays);
}

}  // namespace detail

template <class T, detail::OrderOf<T> Less>
Task<std::vector<T>> async_merge(const Comm& comm, std::span<const T> a, std::span<const T> b, Less less,
                                 std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  const Channel channel = comm.channel("wisp::merge", own_tag);
  return detail::compared(channel, detail::merge_on<T, Less>(channel, a, b, less));
}
template <class T, detail::OrderOf<T> Less>
std::vector<T> merge(const Comm& comm, std::span<const T> a, std::span<const T> b, Less less) {
  return detail::run_for(comm, async_merge<T, Less>(comm, a, b, less));
}

template <class T, class Equal>
Task<> async_unique(const Comm& comm, std::vector<T>& data, Equal equal, std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  const Channel channel = comm.channel("wisp::unique", own_tag);
  return detail::compared(channel, detail::unique_on(channel, data, equal));
}
template <class T, class Equal>
void unique(const Comm& comm, std::vector<T>& data, Equal equal) {
  comm.run(async_unique(comm, data, equal));
}

template <class T, detail::OrderOf<T> Less>
Task<std::vector<std::uint64_t>> async_bound(const Comm& comm, std::span<const T> sorted,
                                             std::span<const T> values, Bound bound, Less less,
                                             std::optional<int> own_tag) {
  detail::check_elements<T>();
  const char* name = bound == Bound::lower ? "wisp::lower_bound" : "wisp::upper_bound";
  const Channel channel = comm.channel(name, own_tag);
  return detail::compared(channel, detail::bound_on<T, Less>(channel, sorted, values, bound, less));
}
template <class T, detail::OrderOf<T> Less>
std::vector<std::uint64_t> lower_bound(const Comm& comm, const std::vector<T>& sorted,
                                       const std::vector<T>& values, Less less) {
  return detail::run_for(comm, async_bound<T, Less>(comm, sorted, values, Bound::lower, less));
}
template <class T, detail::OrderOf<T> Less>
std::vector<std::uint64_t> upper_bound(const Comm& comm, const std::vector<T>& sorted,
                                       const std::vector<T>& values, Less less) {
  return detail::run_for(comm, async_bound<T, Less>(comm, sorted, values, Bound::upper, less));
}

template <class T>
Task<> async_rebalance(const Comm& comm, std::vector<T>& data, std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  const Channel channel = comm.channel("wisp::rebalance", own_tag);
  return detail::compared(channel, detail::settled(channel, detail::rebalance_on(channel, data)));
}
template <class T>
void rebalance(const Comm& comm, std::vector<T>& data) {
  comm.run(async_rebalance(comm, data));
}

template <class T, class Weight>
requires std::is_arithmetic_v<std::invoke_result_t<Weight&, const T&>> Task<> async_rebalance(
    const Comm& comm, std::vector<T>& data, Weight weight, std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  const Channel channel = comm.channel("wisp::rebalance", own_tag);
  return detail::compared(channel,
                          detail::settled(channel, detail::rebalance_weighted_on(channel, data, weight)));
}
template <class T, class Weight>
requires std::is_arithmetic_v<std::invoke_result_t<Weight&, const T&>>
void rebalance(const Comm& comm, std::vector<T>& data, Weight weight) {
  comm.run(async_rebalance(comm, data, weight));
}

}  // namespace wisp
