#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/sort/balance.hpp"
#include "wisp/task.hpp"

// Exact splitters of parts that are sorted: for every rank, how many of its elements are among the first of
// all up to each border between ranks. Who comes after a border decides on it: it gets samples from the
// elements of every rank that may be on either side, and tells all between which two of them the border is;
// until it is found.
//
//   rank 0   ─────[·····x·····x·····]────      x: samples. The border is between the last sample that is
//   rank 1   ──[·····x·····x·····x]──────      surely before it and the first that is surely behind it.
//
// Elements are compared by key, equal ones by rank and place: no two are the same, so borders are where
// balance wants them. ⌈log_{s/2} n/p⌉ rounds with s samples, each an all-to-all of s elements and an
// allgather. Source: the idea of multi-sequence selection; Axtmann, Sanders 2017 (AMS), section 4, for
// positions as keys

namespace wisp::detail {

/// Of a rank's sorted elements, those first … last - 1 may be on either side of a border.
struct OpenRange {
  Slot first = 0;
  Slot last = 0;

  Slot size() const { return last - first; }
  /// Samples of it cut it into parts that begin with them; all of it, if it is not larger.
  Slot samples(Slot most) const { return std::min(most, size()); }
  Slot sample(Slot i, Slot most) const { return first + i * size() / std::max<Slot>(samples(most), 1); }
};

/// An element among all: its key, and where it is.
template <class T>
struct PlacedKey {
  T key;
  int rank;
  Slot place;
};

/// What is known of a border: the elements before `lower` are in front of it, `upper` and what follows behind
/// it.
template <class T>
struct Bracket {
  std::optional<PlacedKey<T>> lower;
  std::optional<PlacedKey<T>> upper;
  bool is_exact = false;
};

/// Where a border is that has `before` elements in front of it, counted from the first open one. `samples`
/// are those of all ranks' ranges, rank by rank, at most `most` of each.
template <class T, class Less>
Bracket<T> find_bracket(std::span<const OpenRange> ranges, std::span<const T> samples, Slot most, Slot before,
                        Less less) {
  std::vector<PlacedKey<T>> placed;
  placed.reserve(samples.size());
  for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
    const OpenRange& range = ranges[rank];
    for (Slot i = 0; i < range.samples(most); ++i) {
      placed.push_back({samples[placed.size()], static_cast<int>(rank), range.sample(i, most)});
    }
  }
  std::stable_sort(placed.begin(), placed.end(), [&](const PlacedKey<T>& a, const PlacedKey<T>& b) {
    return less(a.key, b.key);  // those of one rank, and lower ranks, come first already
  });
  Bracket<T> bracket;
  // At least and at most so many of a rank's open elements are before a sample.
  std::vector<Slot> next(ranges.size());
  std::vector<Slot> least(ranges.size());
  std::vector<Slot> at_most(ranges.size());
  Slot sum_least = 0;
  Slot sum_most = 0;
  for (const PlacedKey<T>& sample : placed) {
    const auto rank = static_cast<std::size_t>(sample.rank);
    const OpenRange& range = ranges[rank];
    const Slot surely = sum_least - least[rank] + at_most[rank];
    if (sum_most <= before) bracket.lower = sample;
    if (surely >= before) {
      bracket.upper = sample;
      bracket.is_exact = surely == before && sum_most == before;
      return bracket;
    }
    ++next[rank];
    const Slot end = next[rank] < range.samples(most) ? range.sample(next[rank], most) : range.last;
    sum_least += sample.place + 1 - range.first - least[rank];
    least[rank] = sample.place + 1 - range.first;
    sum_most += end - range.first - at_most[rank];
    at_most[rank] = end - range.first;
  }
  bracket.is_exact = sum_least == sum_most && sum_least == before;  // all of them are in front
  return bracket;
}

/// Samples of a range that is open to a border, as they travel.
template <class T>
class SampleBlock {
 public:
  explicit SampleBlock(Slot most) : most_(most) {}

  Slot most() const { return most_; }
  std::size_t bytes() const { return sizeof(OpenRange) + most_ * sizeof(T); }

  void write(std::byte* to, const OpenRange& range, std::span<const T> sorted) const {
    std::memcpy(to, &range, sizeof(range));
    to += sizeof(range);
    for (Slot i = 0; i < range.samples(most_); ++i, to += sizeof(T)) {
      std::memcpy(to, &sorted[range.sample(i, most_)], sizeof(T));
    }
  }
  /// Appends the samples.
  OpenRange read(const std::byte* from, std::vector<T>& samples) const {
    OpenRange range;
    std::memcpy(&range, from, sizeof(range));
    const std::size_t count = range.samples(most_);
    const std::size_t before = samples.size();
    samples.resize(before + count);
    if (count > 0) std::memcpy(samples.data() + before, from + sizeof(range), count * sizeof(T));
    return range;
  }

 private:
  Slot most_;
};

/// Samples that a rank gives for each border, where none has more than `most` elements: of large ones fewer.
constexpr Slot samples_for_border(Slot most, std::size_t element_bytes) {
  constexpr Slot block_bytes = 8192;
  return std::min(most, std::clamp<Slot>(block_bytes / element_bytes, 4, 64));
}

/// A rank's elements before `bound` in the order of all.
template <class T, class Less>
Slot place_of(const PlacedKey<T>& bound, std::span<const T> sorted, const OpenRange& within, int rank,
              Less less) {
  if (rank == bound.rank) return bound.place;
  const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(within.first);
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(within.last);
  const auto found = rank < bound.rank ? std::upper_bound(first, last, bound.key, less)
                                       : std::lower_bound(first, last, bound.key, less);
  return static_cast<Slot>(found - sorted.begin());
}

/// How many of `sorted` are before the first slot of each rank: size() + 1 numbers. No rank has more than
/// `most`.
template <class T, class Less>
Task<std::vector<Slot>> find_splitters(Channel channel, Balance balance, std::span<const T> sorted, Slot most,
                                       Less less) {
  struct Decision {
    Bracket<T> bracket;
    bool is_done = false;
  };
  const SampleBlock<T> block(samples_for_border(most, sizeof(T)));
  const auto ranks = as_size(channel.size());
  std::vector<OpenRange> open(ranks, {0, sorted.size()});
  open[0] = {0, 0};
  std::vector<std::byte> sent(ranks * block.bytes());
  std::vector<std::byte> received(sent.size());
  std::vector<Decision> decisions(ranks);
  for (bool is_done = channel.size() == 1; !is_done;) {
    for (std::size_t r = 0; r < ranks; ++r) block.write(sent.data() + r * block.bytes(), open[r], sorted);
    co_await alltoall_on(channel, {sent.data(), sent.size(), MPI_BYTE},
                         {received.data(), received.size(), MPI_BYTE});
    std::vector<OpenRange> ranges(ranks);
    std::vector<T> samples;
    Slot before = balance.begin(channel.rank());
    for (std::size_t r = 0; r < ranks; ++r) {
      ranges[r] = block.read(received.data() + r * block.bytes(), samples);
      before -= ranges[r].first;
    }
    Decision mine;
    if (channel.rank() > 0) mine.bracket = find_bracket<T>(ranges, samples, block.most(), before, less);
    mine.is_done = channel.rank() == 0 || mine.bracket.is_exact;
    co_await allgather_on(channel, {&mine, sizeof(mine), MPI_BYTE},
                          {decisions.data(), ranks * sizeof(Decision), MPI_BYTE});
    is_done = true;
    for (std::size_t r = 1; r < ranks; ++r) {
      const auto& [bracket, is_found] = decisions[r];
      const OpenRange within = open[r];
      const auto place = [&](const PlacedKey<T>& bound) {
        return place_of<T>(bound, sorted, within, channel.rank(), less);
      };
      if (bracket.lower) open[r].first = place(*bracket.lower);
      if (bracket.upper) open[r].last = place(*bracket.upper);
      if (is_found) open[r].first = open[r].last;
      is_done = is_done && is_found;
    }
  }
  std::vector<Slot> splitters;
  for (const OpenRange& range : open) splitters.push_back(range.first);
  splitters.push_back(sorted.size());
  co_return splitters;
}

}  // namespace wisp::detail
