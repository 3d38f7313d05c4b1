#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/detail/sort/splitters.hpp"
#include "wisp/sort_options.hpp"

// Sorting by one exchange: every rank sorts what it has, exact splitters say what belongs where, pieces go
// there straight, and every rank merges what it gets. Each element is sent at most once.
//
//   sort         splitters        pieces          merge
//   ░░▒▒▓▓       ░░|▒▒▓|▓         ░░ ░ ░▒         ░░░░▒
//
// O(n/p log n) local work, p α + n/p β, and the rounds of the splitters; memory for two times ⌈n/p⌉ elements.
// Source: Axtmann, Sanders 2017 (AMS sort), on one level and with exact splitters

namespace wisp::detail {

/// Whether one exchange and a merge take less time than Janus Quicksort, or are what `options` name. (An
/// error if they name nothing that there is.)
bool sorts_by_merging(const Channel& channel, Slot elements, Slot most, std::size_t element_bytes,
                      const SortOptions& options);

/// Merges runs that follow each other, run i from begins[i] to begins[i + 1], two by two. The result is in
/// `data`; `other` has as much room.
template <class T, class Less>
void merge_runs(std::vector<T>& data, std::vector<T>& other, std::vector<Slot> begins, Less less) {
  while (begins.size() > 2) {
    std::vector<Slot> joined{0};
    const auto at = [&](Slot place) { return data.begin() + static_cast<std::ptrdiff_t>(place); };
    auto to = other.begin();
    for (std::size_t i = 0; i + 1 < begins.size(); i += 2) {
      const std::size_t end = std::min(i + 2, begins.size() - 1);
      to = std::merge(at(begins[i]), at(begins[i + 1]), at(begins[i + 1]), at(begins[end]), to, less);
      joined.push_back(begins[end]);
    }
    begins = std::move(joined);
    data.swap(other);
  }
}

/// No rank has more than `most` elements.
template <class T, class Less>
Task<> merge_sort(Channel channel, Balance balance, std::vector<T>& data, Slot most, Less less,
                  const SortOptions& options) {
  const auto ranks = as_size(channel.size());
  const auto self = as_size(channel.rank());
  const auto report = [&](const char* phase) {
    if (options.progress) options.progress({phase, 0, data.size()});
  };
  report("sort");
  local_sort<T>(data, less);
  report("splitters");
  const std::vector<Slot> splitters = co_await find_splitters<T>(channel, balance, data, most, less);
  std::vector<Slot> sent(ranks);
  std::vector<Slot> received(ranks);
  for (std::size_t r = 0; r < ranks; ++r) sent[r] = splitters[r + 1] - splitters[r];
  co_await alltoall_on(channel, {sent.data(), ranks * sizeof(Slot), MPI_BYTE},
                       {received.data(), ranks * sizeof(Slot), MPI_BYTE});
  report("exchange");
  std::vector<Slot> begins(ranks + 1);
  std::partial_sum(received.begin(), received.end(), begins.begin() + 1);
  std::vector<T> runs(begins.back());
  Posts pieces;
  for (std::size_t distance = 1; distance < ranks; ++distance) {
    const std::size_t source = (self + ranks - distance) % ranks;
    if (received[source] == 0) continue;
    pieces.add(channel.post_receive({runs.data() + begins[source], received[source] * sizeof(T), MPI_BYTE},
                                    static_cast<int>(source)));
  }
  for (std::size_t distance = 1; distance < ranks; ++distance) {
    const std::size_t target = (self + distance) % ranks;
    if (sent[target] == 0) continue;
    pieces.add(channel.post_send({data.data() + splitters[target], sent[target] * sizeof(T), MPI_BYTE},
                                 static_cast<int>(target)));
  }
  std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(splitters[self]), sent[self],
              runs.begin() + static_cast<std::ptrdiff_t>(begins[self]));
  co_await pieces;
  data.resize(runs.size());
  report("merge");
  std::erase(received, 0);
  begins.assign(1, 0);
  for (const Slot size : received) begins.push_back(begins.back() + size);
  merge_runs(runs, data, std::move(begins), less);
  data.swap(runs);
}

}  // namespace wisp::detail
