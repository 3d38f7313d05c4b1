#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/sort/byte_blocks.hpp"
#include "wisp/detail/sort/key_bytes.hpp"
#include "wisp/detail/sort/order.hpp"
#include "wisp/error.hpp"
#include "wisp/task.hpp"

// Exact splitters of sorted runs: for each border, how many elements of every run are in front of it. Every
// rank decides on one border: it gets samples from the elements of every run that may be on either side, and
// tells all between which two of them the border is; until it is found.
//
//   run 0    ─────[·····x·····x·····]────      x: samples. The border is between the last sample that is
//   run 1    ──[·····x·····x·····x]──────      surely before it and the first that is surely behind it.
//
// Elements are compared by key, equal ones by run and place: no two are the same, so borders are where they
// are wanted, and what was in front of an equal element stays there. ⌈log_{s/2} n/p⌉ rounds with s samples,
// each an all-to-all of s elements and an allgather. Source: the idea of multi-sequence selection; Axtmann,
// Sanders 2017 (AMS), section 4, for positions as keys

namespace wisp::detail {

/// Of a sorted run, the elements first … last - 1 may be on either side of a border.
struct OpenRange {
  Slot first = 0;
  Slot last = 0;

  Slot size() const { return last - first; }
  /// Samples of it cut it into parts that begin with them; all of it, if it is not larger.
  Slot samples(Slot most) const { return std::min(most, size()); }
  Slot sample(Slot i, Slot most) const { return first + i * size() / std::max<Slot>(samples(most), 1); }
};

/// The sorted runs of all ranks, and the order in which their equal elements come: rank by rank, or the first
/// runs of all ranks before the second ones. Every rank has as many runs; some may be empty.
struct RunOrder {
  int ranks = 1;
  int runs = 1;
  bool by_run = false;

  int count() const { return ranks * runs; }
  int place(int rank, int run) const { return by_run ? run * ranks + rank : rank * runs + run; }
  int rank(int place) const { return by_run ? place % ranks : place / runs; }
};

/// An element among all: its key, and where it is.
template <class Key>
struct PlacedKey {
  Key key{};
  int run = 0;  ///< in the order of runs
  Slot place = 0;
};

/// What is known of a border: the elements before `lower` are in front of it, `upper` and what follows behind
/// it.
template <class Key>
struct Bracket {
  std::optional<PlacedKey<Key>> lower;
  std::optional<PlacedKey<Key>> upper;
  bool is_exact = false;
};

/// Where a border is that has `before` elements in front of it, counted from the first open one. `samples`
/// are those of all runs' ranges, run by run, at most `most` of each.
template <class Key, class Less>
Bracket<Key> find_bracket(std::span<const OpenRange> ranges, std::span<const Key> samples, Slot most,
                          Slot before, Less less) {
  struct Sample {
    const Key* key;
    std::size_t run;
    Slot place;
  };
  std::vector<Sample> placed;
  placed.reserve(samples.size());
  for (std::size_t run = 0; run < ranges.size(); ++run) {
    const OpenRange& range = ranges[run];
    for (Slot i = 0; i < range.samples(most); ++i)
      placed.push_back({&samples[placed.size()], run, range.sample(i, most)});
  }
  std::vector<Sample> sorted = placed;
  const bool is_sorted = use_unguarded(less, [&](const auto& unguarded) {
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Sample& a, const Sample& b) {
      return unguarded(*a.key, *b.key);  // those of one run, and earlier runs, come first already
    });
  });
  if (is_sorted) placed = std::move(sorted);
  const auto kept = [](const Sample& sample) {
    return PlacedKey<Key>{*sample.key, static_cast<int>(sample.run), sample.place};
  };
  Bracket<Key> bracket;
  const Sample* lower = nullptr;
  // At least and at most so many of a run's open elements are before a sample.
  std::vector<Slot> next(ranges.size());
  std::vector<Slot> least(ranges.size());
  std::vector<Slot> at_most(ranges.size());
  Slot sum_least = 0;
  Slot sum_most = 0;
  for (const Sample& sample : placed) {
    const std::size_t run = sample.run;
    const OpenRange& range = ranges[run];
    const Slot surely = sum_least - least[run] + at_most[run];
    if (sum_most <= before) lower = &sample;
    if (surely >= before) {
      if (lower != nullptr) bracket.lower = kept(*lower);
      bracket.upper = kept(sample);
      bracket.is_exact = surely == before && sum_most == before;
      return bracket;
    }
    ++next[run];
    const Slot end = next[run] < range.samples(most) ? range.sample(next[run], most) : range.last;
    sum_least += sample.place + 1 - range.first - least[run];
    least[run] = sample.place + 1 - range.first;
    sum_most += end - range.first - at_most[run];
    at_most[run] = end - range.first;
  }
  if (lower != nullptr) bracket.lower = kept(*lower);
  bracket.is_exact = sum_least == sum_most && sum_least == before;  // all of them are in front
  return bracket;
}

/// Samples that a run gives for each border, where none has more than `most` elements: of large ones fewer.
constexpr Slot samples_for_border(Slot most, std::size_t element_bytes, int runs = 1) {
  constexpr Slot block_bytes = 8192;
  const Slot bytes_of_samples = std::max<Slot>(element_bytes, 1) * static_cast<Slot>(runs);
  return std::min(most, std::clamp<Slot>(block_bytes / bytes_of_samples, 4, 64));
}

/// One rank's part in the splitting of runs.
///
/// `Runs` has: Key, count(), size(run), key(run, place) and key_bytes(), what a key takes as a rule.
template <class Runs, class Less>
class RunSplitting {
 public:
  using Key = typename Runs::Key;

  RunSplitting(RunOrder order, int rank, const Runs& runs, Slot most, Less less)
      : order_(order),
        rank_(rank),
        runs_(runs),
        less_(less),
        samples_(samples_for_border(most, runs.key_bytes(), order.runs)),
        open_(static_cast<std::size_t>(order.count())) {
    for (int border = 0; border < order_.ranks; ++border)
      for (int run = 0; run < order_.runs; ++run) open(border, run) = {0, runs_.size(run)};
  }

  OpenRange& open(int border, int run) {
    return open_[as_size(border) * as_size(order_.runs) + as_size(run)];
  }
  void close(int border, bool is_behind_all) {
    for (int run = 0; run < order_.runs; ++run) {
      const Slot place = is_behind_all ? runs_.size(run) : 0;
      open(border, run) = {place, place};
    }
  }

  /// Bytes of a block of samples, and of a bracket; 0 if keys differ.
  std::size_t sample_block_bytes() const {
    return key_bytes_ == 0
               ? 0
               : static_cast<std::size_t>(order_.runs) * (sizeof(OpenRange) + samples_ * key_bytes_);
  }
  static constexpr std::size_t bracket_bytes() {
    return key_bytes_ == 0 ? 0 : 1 + 2 * (key_bytes_ + sizeof(int) + sizeof(Slot));
  }

  /// Samples for every border.
  ByteBlocks samples() {
    ByteBlocks blocks;
    const std::size_t fixed = sample_block_bytes();
    blocks.bytes.reserve(fixed * static_cast<std::size_t>(order_.ranks));
    for (int border = 0; border < order_.ranks; ++border) {
      for (int run = 0; run < order_.runs; ++run) {
        const OpenRange& range = open(border, run);
        KeyBytes<OpenRange>::append(blocks.bytes, range);
        KeySequence<Key> keys;
        for (Slot i = 0; i < range.samples(samples_); ++i)
          keys.append(blocks.bytes, runs_.key(run, range.sample(i, samples_)));
      }
      blocks.end_block(fixed);
    }
    return blocks;
  }

  /// What the samples of all ranks tell of a border that has `target` elements in front of it.
  std::vector<std::byte> decide(const ByteBlocks& received, Slot target) {
    std::vector<const std::byte*> at;
    at.reserve(as_size(order_.ranks));
    for (int rank = 0; rank < order_.ranks; ++rank) at.push_back(received.block(rank).data());
    std::vector<OpenRange> ranges;
    std::vector<Key> keys;
    for (int run = 0; run < order_.count(); ++run) {
      const std::byte*& from = at[static_cast<std::size_t>(order_.rank(run))];
      ranges.push_back(KeyBytes<OpenRange>::read(from));
      target -= ranges.back().first;
      KeySequence<Key> sequence;
      for (Slot i = ranges.back().samples(samples_); i > 0; --i) keys.push_back(sequence.read(from));
    }
    const Bracket<Key> bracket = find_bracket<Key>(ranges, keys, samples_, target, less_);
    std::vector<std::byte> bytes;
    KeyBytes<std::uint8_t>::append(
        bytes, static_cast<std::uint8_t>((bracket.lower ? has_lower : 0) | (bracket.upper ? has_upper : 0) |
                                         (bracket.is_exact ? is_exact : 0)));
    for (const auto& bound : {bracket.lower, bracket.upper}) {
      if (!bound) continue;
      KeyBytes<Key>::append(bytes, bound->key);
      KeyBytes<int>::append(bytes, bound->run);
      KeyBytes<Slot>::append(bytes, bound->place);
    }
    if (bracket_bytes() > 0) bytes.resize(bracket_bytes());
    return bytes;
  }

  /// Takes what was decided of a border; whether it is found. Equal elements are all behind it, if they are
  /// kept together.
  bool narrow(int border, const std::byte* decided, bool keeps_equal) {
    const auto flags = KeyBytes<std::uint8_t>::read(decided);
    const auto bound = [&] {
      PlacedKey<Key> placed;
      placed.key = KeyBytes<Key>::read(decided);
      placed.run = KeyBytes<int>::read(decided);
      placed.place = KeyBytes<Slot>::read(decided);
      return placed;
    };
    const bool is_found = (flags & is_exact) != 0;
    std::optional<PlacedKey<Key>> lower, upper;
    if ((flags & has_lower) != 0) lower = bound();
    if ((flags & has_upper) != 0) upper = bound();
    for (int run = 0; run < order_.runs; ++run) {
      OpenRange& range = open(border, run);
      const OpenRange within = range;
      if (lower) range.first = std::clamp(place_of(*lower, run, within), within.first, within.last);
      // An order that has thrown places nothing.
      if (upper) range.last = std::clamp(place_of(*upper, run, within), range.first, within.last);
      if (is_found && upper && keeps_equal) range.last = lower_bound(run, {0, range.last}, upper->key);
      if (is_found) range.first = range.last;
    }
    return is_found;
  }

 private:
  static constexpr std::uint8_t has_lower = 1, has_upper = 2, is_exact = 4;
  static constexpr std::size_t key_bytes_ = KeyBytes<Key>::fixed;

  template <class Before>
  Slot partition_point(int run, OpenRange within, Before is_before) const {
    while (within.first < within.last) {
      const Slot middle = within.first + within.size() / 2;
      if (is_before(runs_.key(run, middle))) {
        within.first = middle + 1;
      } else {
        within.last = middle;
      }
    }
    return within.first;
  }
  Slot lower_bound(int run, OpenRange within, const Key& key) const {
    return partition_point(run, within, [&](const auto& element) { return less_(element, key); });
  }
  /// A run's elements before `bound` in the order of all.
  Slot place_of(const PlacedKey<Key>& bound, int run, OpenRange within) const {
    const int mine = order_.place(rank_, run);
    if (mine == bound.run) return bound.place;
    if (mine > bound.run) return lower_bound(run, within, bound.key);
    return partition_point(run, within, [&](const auto& element) { return !less_(bound.key, element); });
  }

  RunOrder order_;
  int rank_;
  const Runs& runs_;
  Less less_;
  Slot samples_;
  std::vector<OpenRange> open_;  ///< border by border, run by run
};

struct SplitterOptions {
  bool by_run = false;       ///< the order of equal elements: see RunOrder
  bool keeps_equal = false;  ///< no border between equal elements: it is in front of all of them
};

/// How many elements of each of this rank's runs are in front of each border: border by border, run by run.
/// Border r, which rank r decides on, has targets[r] of the `elements` of all in front of it. No run has more
/// than `most`.
template <class Runs, class Less>
Task<std::vector<Slot>> find_splitters(Channel channel, std::vector<Slot> targets, const Runs& runs,
                                       Slot elements, Slot most, Less less, SplitterOptions options = {}) {
  const RunOrder order{channel.size(), runs.count(), options.by_run};
  RunSplitting<Runs, Less> splitting(order, channel.rank(), runs, most, less);
  std::vector<bool> is_found;
  for (int border = 0; border < channel.size(); ++border) {
    const Slot target = targets[as_size(border)];
    is_found.push_back(target == 0 || target == elements);
    if (is_found.back()) splitting.close(border, target > 0);
  }
  const auto is_open = [](bool found) { return !found; };
  // Every round leaves at most half of what is open; all ranks count the same rounds.
  for (int round = 0; std::any_of(is_found.begin(), is_found.end(), is_open); ++round) {
    if (round > 16 + 2 * static_cast<int>(std::bit_width(most))) {
      throw_no_order(channel.operation());
    }
    const ByteBlocks samples =
        co_await exchange_blocks(channel, splitting.samples(), splitting.sample_block_bytes());
    std::vector<std::byte> mine = splitting.decide(samples, targets[as_size(channel.rank())]);
    const ByteBlocks decided = co_await gather_blocks(channel, std::move(mine), splitting.bracket_bytes());
    for (int border = 0; border < channel.size(); ++border) {
      if (is_found[as_size(border)]) continue;
      is_found[as_size(border)] = splitting.narrow(border, decided.block(border).data(), options.keeps_equal);
    }
  }
  std::vector<Slot> splitters;
  for (int border = 0; border < order.ranks; ++border)
    for (int run = 0; run < order.runs; ++run) splitters.push_back(splitting.open(border, run).first);
  // So it is anyway, unless the order has thrown.
  for (std::size_t i = as_size(order.runs); i < splitters.size(); ++i)
    splitters[i] = std::max(splitters[i], splitters[i - as_size(order.runs)]);
  co_return splitters;
}

}  // namespace wisp::detail
