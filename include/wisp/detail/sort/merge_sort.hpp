#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/detail/sort/pieces.hpp"
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

/// Sorted runs in memory.
template <class T>
struct SpanRuns {
  using Key = T;
  std::vector<std::span<const T>> runs;

  int count() const { return static_cast<int>(runs.size()); }
  Slot size(int run) const { return runs[as_size(run)].size(); }
  const T& key(int run, Slot place) const { return runs[as_size(run)][place]; }
  static constexpr std::size_t key_bytes() { return sizeof(T); }
};

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

/// Sends of every run what is between `first` and `last` (border by border, run by run) to the rank of the
/// border, and receives what is this rank's: the pieces follow each other in the order of runs. Returns
/// where they begin, and where the last one ends.
template <class T>
Task<std::vector<Slot>> exchange_runs(Channel channel, const SpanRuns<T>& runs, std::vector<Slot> first,
                                      std::vector<Slot> last, bool by_run, std::vector<T>& received) {
  const RunOrder order{channel.size(), runs.count(), by_run};
  std::vector<Slot> sizes_sent(first.size());
  std::vector<Slot> sizes(first.size());
  std::vector<OutgoingPiece> outgoing;
  for (std::size_t i = 0; i < first.size(); ++i) {
    sizes_sent[i] = last[i] - first[i];
    const std::span<const T> piece = runs.runs[i % runs.runs.size()].subspan(first[i], sizes_sent[i]);
    outgoing.push_back({static_cast<int>(i / runs.runs.size()), std::as_bytes(piece)});
  }
  co_await alltoall_on(channel, {sizes_sent.data(), sizes_sent.size() * sizeof(Slot), MPI_BYTE},
                       {sizes.data(), sizes.size() * sizeof(Slot), MPI_BYTE});
  std::vector<Slot> begins(sizes.size() + 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int rank = static_cast<int>(i / runs.runs.size());
    const int run = static_cast<int>(i % runs.runs.size());
    begins[as_size(order.place(rank, run)) + 1] = sizes[i];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  received.resize(begins.back());
  std::vector<IncomingPiece> incoming;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int rank = static_cast<int>(i / runs.runs.size());
    const auto at = as_size(order.place(rank, static_cast<int>(i % runs.runs.size())));
    incoming.push_back({rank, std::as_writable_bytes(std::span(received).subspan(begins[at], sizes[i]))});
  }
  co_await exchange_pieces(channel, std::move(outgoing), std::move(incoming));
  co_return begins;
}

/// Merges the sorted runs of all ranks into `data`, balanced. None has more than `most` elements; `data` may
/// be one of them. Of equal elements, those of the first run (`by_run`) or rank come first.
template <class T, class Less>
Task<> merge_balanced(Channel channel, Balance balance, SpanRuns<T> runs, std::vector<T>& data, Slot most,
                      Less less, bool by_run, const SortOptions& options) {
  const auto report = [&](const char* phase) {
    if (options.progress) options.progress({phase, 0, data.size()});
  };
  report("splitters");
  std::vector<Slot> targets;
  for (int rank = 0; rank <= channel.size(); ++rank) targets.push_back(balance.begin(rank));
  const Slot elements = targets.back();
  targets.pop_back();
  const std::vector<Slot> first = co_await find_splitters(channel, std::move(targets), runs, elements, most,
                                                          less, {.by_run = by_run, .keeps_equal = false});
  std::vector<Slot> last(first.begin() + runs.count(), first.end());
  for (int run = 0; run < runs.count(); ++run) last.push_back(runs.size(run));
  report("exchange");
  std::vector<T> received;
  std::vector<Slot> begins = co_await exchange_runs(channel, runs, first, std::move(last), by_run, received);
  data.resize(received.size());
  report("merge");
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());  // empty pieces
  merge_runs(received, data, std::move(begins), less);
  data.swap(received);
}

/// No rank has more than `most` elements.
template <class T, class Less>
Task<> merge_sort(Channel channel, Balance balance, std::vector<T>& data, Slot most, Less less,
                  const SortOptions& options) {
  if (options.progress) options.progress({"sort", 0, data.size()});
  local_sort<T>(data, less, options.stable);
  SpanRuns<T> runs;
  runs.runs.push_back(data);
  co_await merge_balanced(channel, balance, std::move(runs), data, most, less, false, options);
}

}  // namespace wisp::detail
