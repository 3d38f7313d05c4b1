#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/detail/sort/byte_blocks.hpp"
#include "wisp/sort.hpp"

/// Elements by their place in the order of all, without sorting.

namespace wisp {

/// The element that would be at place n (from 0) if those of all ranks were sorted; on every rank. `data`
/// stays, in any order. A place that there is not, or that is not the same on all, is an Error on every rank;
/// so is an order that throws, but for the rank where it does, which throws that on, and unless it throws in
/// the last step, which each rank does alone. O(n/p + α log p) expected, in a few rounds of samples; memory
/// for a rank's elements once more.
template <class T, detail::OrderOf<T> Less = Ascending>
T nth_element(const Comm& comm, const std::vector<T>& data, std::uint64_t n, Less less = {});
template <class T, detail::OrderOf<T> Less = Ascending>
Task<T> async_nth_element(const Comm& comm, std::span<const T> data, std::uint64_t n, Less less = {},
                          std::optional<int> own_tag = {});

/// The k largest elements of all ranks (all, if there are not so many), the largest first; on every rank. k
/// is the same on all, else it is an Error on every rank. O(n/p + α log p + β k) expected.
template <class T, detail::OrderOf<T> Less = Ascending>
std::vector<T> top_k(const Comm& comm, const std::vector<T>& data, std::uint64_t k, Less less = {});
template <class T, detail::OrderOf<T> Less = Ascending>
Task<std::vector<T>> async_top_k(const Comm& comm, std::span<const T> data, std::uint64_t k, Less less = {},
                                 std::optional<int> own_tag = {});

namespace detail {

/// Samples of a rank's elements, and how many each stands for.
template <class T>
struct WeightedSample {
  T key;
  double weight;
};

/// Two of the samples between which the element at `target` of `elements` is likely to be; one and the same,
/// if they are to be close.
template <class T, class Less>
std::pair<T, T> choose_pivots(std::vector<WeightedSample<T>> samples, double target, double elements,
                              bool is_close, Less less) {
  use_unguarded(less, [&](const auto& unguarded) {
    std::sort(samples.begin(), samples.end(),
              [&](const auto& a, const auto& b) { return unguarded(a.key, b.key); });
  });
  // About four standard deviations of a sample's place.
  const double slack = is_close ? 0 : 2 * elements / std::sqrt(static_cast<double>(samples.size()));
  const auto at = [&](double place) {
    for (const auto& sample : samples) {
      place -= sample.weight;
      if (place < 0) return sample.key;
    }
    return samples.back().key;
  };
  return {at(target - slack), at(target + slack)};
}

/// Every round leaves the elements between two pivots that are close to the one that is sought. What is
/// left is few at last, and goes to all.
template <class T, class Less>
Task<T> nth_element_on(Channel channel, std::vector<T> open, Slot elements, Slot n, Less less) {
  constexpr Slot few = 1024;
  const std::size_t most_samples = std::clamp<std::size_t>(2 * few / as_size(channel.size()), 2, 64);
  std::uint64_t state = 1;
  for (bool is_close = false; elements > few;) {
    std::vector<std::byte> mine;
    const std::size_t count = std::min(most_samples, open.size());
    for (std::size_t i = 0; i < count; ++i) {
      // One of each stratum.
      const std::size_t first = i * open.size() / count;
      const std::size_t last = (i + 1) * open.size() / count;
      state = mix(state + static_cast<std::uint64_t>(channel.rank()) + i);
      const T key = open[first + state % (last - first)];
      KeyBytes<WeightedSample<T>>::append(mine, {key, static_cast<double>(last - first)});
    }
    const ByteBlocks gathered = co_await gather_blocks(channel, std::move(mine), 0);
    const std::byte* from = gathered.bytes.data();
    std::vector<WeightedSample<T>> samples;
    while (samples.size() * sizeof(WeightedSample<T>) < gathered.bytes.size())
      samples.push_back(KeyBytes<WeightedSample<T>>::read(from));
    const auto [low, high] = choose_pivots(std::move(samples), static_cast<double>(n),
                                           static_cast<double>(elements), is_close, less);
    const auto is_below = [&](const T& element) { return less(element, low); };
    const auto is_inside = [&](const T& element) { return !less(high, element); };
    const auto inside = std::partition(open.begin(), open.end(), is_below);
    const auto above = std::partition(inside, open.end(), is_inside);
    const bool is_one_pivot = !less(low, high);
    const Slot counts[] = {static_cast<Slot>(inside - open.begin()), static_cast<Slot>(above - inside),
                           has_failed(less) ? Slot{1} : 0};
    Slot sums[3] = {};
    co_await allreduce_on(channel, {counts, 3, MPI_UINT64_T}, {sums, 3, MPI_UINT64_T}, MPI_SUM);
    throw_if_failed(channel.operation(), sums[2]);
    const Slot before = elements;
    if (n < sums[0]) {
      if (sums[0] == elements) throw_no_order(channel.operation());  // a pivot is below itself
      open.erase(inside, open.end());
      elements = sums[0];
    } else if (n < sums[0] + sums[1]) {
      if (is_one_pivot) co_return low;
      open.erase(above, open.end());
      open.erase(open.begin(), inside);
      n -= sums[0];
      elements = sums[1];
    } else {
      open.erase(open.begin(), above);
      n -= sums[0] + sums[1];
      elements -= sums[0] + sums[1];
    }
    is_close = elements > before / 2;  // many equal ones: one pivot ends them
  }
  std::vector<std::byte> mine(open.size() * sizeof(T));
  if (!open.empty()) std::memcpy(mine.data(), open.data(), mine.size());
  const ByteBlocks all = co_await gather_blocks(channel, std::move(mine), 0);
  std::vector<T> left(all.bytes.size() / sizeof(T));
  std::memcpy(left.data(), all.bytes.data(), all.bytes.size());
  const auto found = left.begin() + static_cast<std::ptrdiff_t>(n);
  use_unguarded(less,
                [&](const auto& unguarded) { std::nth_element(left.begin(), found, left.end(), unguarded); });
  co_return *found;
}

/// What is known of all ranks before a selection; the least and the most that they ask for must be the same.
struct SelectionCensus {
  SortCensus counts;
  LeastAndMost asked;

  static SelectionCensus combine(const SelectionCensus& a, const SelectionCensus& b) {
    return {SortCensus::combine(a.counts, b.counts), LeastAndMost::combine(a.asked, b.asked)};
  }
};

/// The elements of all ranks, whose arguments are checked. `asked` is the argument with this name.
template <class T, class Less>
Task<Slot> count_for_selection(Channel channel, std::span<const T> data, const char* argument, Slot asked) {
  const char* const name = channel.operation();
  const SelectionCensus mine{SortCensus::of(data.size(), has_unordered<T, Less>(data)),
                             LeastAndMost::of(asked)};
  const auto census =
      co_await exscan_total(std::move(channel), mine, SelectionCensus{}, &SelectionCensus::combine);
  const SelectionCensus& all = census.total;
  check_all_have_places(name, all.counts);
  if (!all.asked.is_one()) {
    throw Error(MPI_ERR_ARG, std::string(name) + ": " + argument + " = " + std::to_string(asked) +
                                 ", but the ranks give from " + std::to_string(all.asked.least) + " to " +
                                 std::to_string(all.asked.most));
  }
  co_return all.counts.elements;
}

template <class T, class Less>
Task<T> nth_of(Channel channel, std::span<const T> data, Slot n, Less less) {
  const Slot elements = co_await count_for_selection<T, Less>(channel, data, "n", n);
  if (n >= elements) {
    throw Error(MPI_ERR_ARG, "wisp::nth_element: n = " + std::to_string(n) + " is no place among the " +
                                 std::to_string(elements) + " elements of all ranks");
  }
  OrderFailure failure;
  co_return co_await failure.instead_of(
      nth_element_on<T>(channel, {data.begin(), data.end()}, elements, n, guard_order<T>(less, failure)));
}

/// Of fewer than all elements. `is_larger` puts the largest first.
template <class T, class IsLarger>
Task<std::vector<T>> largest_on(Channel channel, std::span<const T> data, Slot elements, Slot k,
                                IsLarger is_larger) {
  const T last = co_await nth_element_on<T>(channel, {data.begin(), data.end()}, elements, k - 1, is_larger);
  // All that are larger than the last, and of those like it as many as there is room for, rank by rank.
  std::vector<T> chosen;
  std::vector<T> equal;
  for (const T& element : data) {
    if (is_larger(element, last)) {
      chosen.push_back(element);
    } else if (!is_larger(last, element)) {
      equal.push_back(element);
    }
  }
  struct Counts {
    Slot larger;
    Slot equal;
    Slot failed;
    static Counts combine(const Counts& a, const Counts& b) {
      return {a.larger + b.larger, a.equal + b.equal, a.failed + b.failed};
    }
  };
  const Counts mine{chosen.size(), equal.size(), has_failed(is_larger) ? Slot{1} : 0};
  const auto counts = co_await exscan_total(channel, mine, Counts{0, 0, 0}, &Counts::combine);
  throw_if_failed(channel.operation(), counts.total.failed);
  if (counts.total.larger >= k) throw_no_order(channel.operation());
  const Slot room = k - counts.total.larger;
  const Slot first = std::min(counts.before.equal, room);
  const Slot end = std::min(counts.before.equal + equal.size(), room);
  chosen.insert(chosen.end(), equal.begin(), equal.begin() + static_cast<std::ptrdiff_t>(end - first));
  co_return chosen;
}

template <class T, class Less>
Task<std::vector<T>> top_k_of(Channel channel, std::span<const T> data, Slot k, Less less) {
  const Slot elements = co_await count_for_selection<T, Less>(channel, data, "k", k);
  if (k == 0 || elements == 0) co_return std::vector<T>();
  OrderFailure failure;
  const auto larger = [less](const T& a, const T& b) noexcept(!can_throw<T, Less>) { return less(b, a); };
  const auto is_larger = guard_order<T>(larger, failure);
  std::vector<T> chosen(data.begin(), data.end());
  if (k < elements) {
    chosen = co_await failure.instead_of(largest_on<T>(channel, data, elements, k, is_larger));
  }
  std::vector<std::byte> mine(chosen.size() * sizeof(T));
  if (!chosen.empty()) std::memcpy(mine.data(), chosen.data(), mine.size());
  const ByteBlocks all = co_await gather_blocks(channel, std::move(mine), 0);
  chosen.resize(all.bytes.size() / sizeof(T));
  if (!chosen.empty()) std::memcpy(chosen.data(), all.bytes.data(), all.bytes.size());
  use_unguarded(is_larger,
                [&](const auto& unguarded) { std::stable_sort(chosen.begin(), chosen.end(), unguarded); });
  failure.rethrow();
  co_return chosen;
}

}  // namespace detail

template <class T, detail::OrderOf<T> Less>
Task<T> async_nth_element(const Comm& comm, std::span<const T> data, std::uint64_t n, Less less,
                          std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  const Channel channel = comm.channel("wisp::nth_element", own_tag);
  return detail::compared(channel, detail::nth_of<T, Less>(channel, data, n, less));
}
template <class T, detail::OrderOf<T> Less>
T nth_element(const Comm& comm, const std::vector<T>& data, std::uint64_t n, Less less) {
  return detail::run_for(comm, async_nth_element<T, Less>(comm, data, n, less));
}

template <class T, detail::OrderOf<T> Less>
Task<std::vector<T>> async_top_k(const Comm& comm, std::span<const T> data, std::uint64_t k, Less less,
                                 std::optional<int> own_tag) {
  detail::check_vector_elements<T>();
  const Channel channel = comm.channel("wisp::top_k", own_tag);
  return detail::compared(channel, detail::top_k_of<T, Less>(channel, data, k, less));
}
template <class T, detail::OrderOf<T> Less>
std::vector<T> top_k(const Comm& comm, const std::vector<T>& data, std::uint64_t k, Less less) {
  return detail::run_for(comm, async_top_k<T, Less>(comm, data, k, less));
}

}  // namespace wisp
