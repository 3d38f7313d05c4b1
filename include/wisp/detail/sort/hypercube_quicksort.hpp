#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/detail/sort/exscan_total.hpp"
#include "wisp/detail/sort/local_sort.hpp"
#include "wisp/detail/sort/place_in_slots.hpp"
#include "wisp/sort_options.hpp"
#include "wisp/task.hpp"

// Quicksort on a hypercube: on each dimension, the highest first, a cube agrees on a pivot, and every rank
// sends the half that does not belong on its side to its neighbour on the other, and merges what it gets. Few
// messages, each to a neighbour; elements are moved log p times: for few elements on many ranks.
//
//   shuffle      pivot of the cube           half to the neighbour       share
//   ▪▫ ⇄ ▫▪      windows around medians,     small ▪▪ | ▫▫ large         every rank fills its slots
//                merged up the dimensions
//
// Elements are shuffled first, so no input sends much to one rank; equal ones are told apart by their places.
// (log² p + 9 log p)/2 α + O(n/p log p) β expected. Ranks beyond the largest cube give it their elements.
// Source: Axtmann, Sanders 2017 (robust quicksort), section 5, with a final exchange for perfect balance

namespace wisp::detail {

/// An element that may be the pivot, and what tells it from equal ones: how much of those of its rank are in
/// front of it, from 0 to 1.
template <class T>
struct Candidate {
  T key;
  double tie;
};

/// The middle of entries in order, at most `most`; of an odd rest, `side` (0 or 1) loses one more.
template <class Entry>
std::span<const Entry> middle_of(std::span<const Entry> entries, std::size_t most, std::size_t side) {
  if (entries.size() <= most) return entries;
  return entries.subspan((entries.size() - most + side) / 2, most);
}

/// The elements of a sorted part that may be the pivot. `shift`, from 0 to 1, is another one on each rank.
template <class T, class Less>
std::vector<Candidate<T>> candidates_of(std::span<const T> sorted, std::size_t most, double shift,
                                        Less less) {
  std::vector<Candidate<T>> candidates;
  auto equal = std::pair(sorted.begin(), sorted.begin());
  for (const T& key : middle_of(sorted, most, 0)) {
    const auto at = sorted.begin() + (&key - sorted.data());
    if (at >= equal.second) equal = std::equal_range(sorted.begin(), sorted.end(), key, less);
    // Unsorted elements, of a rank whose order has thrown, may not be found among themselves.
    const auto count = std::max(1.0, static_cast<double>(equal.second - equal.first));
    candidates.push_back({key, (static_cast<double>(at - equal.first) + shift) / count});
  }
  return candidates;
}

/// How many elements of a sorted part come before a pivot: of equal ones, every rank's in the same ratio.
template <class T, class Less>
std::size_t count_before(std::span<const T> sorted, const Candidate<T>& pivot, double shift, Less less) {
  const auto equal = std::equal_range(sorted.begin(), sorted.end(), pivot.key, less);
  const auto count = static_cast<double>(equal.second - equal.first);
  const double before = std::clamp(std::ceil(pivot.tie * count - shift), 0.0, count);
  return as_size(equal.first - sorted.begin()) + static_cast<std::size_t>(before);
}

template <class T, class Less>
class HypercubeQuicksort {
 public:
  HypercubeQuicksort(Channel channel, std::vector<T>& data, Less less, std::uint64_t seed)
      : channel_(std::move(channel)),
        dimensions_(static_cast<int>(std::bit_width(as_size(channel_.size()))) - 1),
        data_(data),
        less_(less),
        seed_(mix(seed ^ mix(as_size(channel_.rank())))) {}

  Task<> run(Balance balance) {
    const int beyond_cube = channel_.rank() ^ (1 << dimensions_);
    if (channel_.rank() >> dimensions_ == 0) {
      if (beyond_cube < channel_.size()) co_await append_from(beyond_cube);
      for (int dimension = 0; dimension < dimensions_; ++dimension) co_await shuffle(dimension);
      local_sort<T>(data_, less_);
      for (int dimension = dimensions_ - 1; dimension >= 0; --dimension) co_await divide(dimension);
    } else {
      co_await channel_.post_send(bytes_of_all(data_), beyond_cube);
      data_.clear();
    }
    const Slot mine = data_.size();
    const auto sizes = co_await exscan_total(channel_, mine, Slot{0}, std::plus<Slot>{});
    co_await place_in_slots(channel_, balance, data_, sizes.before);
  }

 private:
  static constexpr std::size_t window_ = std::clamp<std::size_t>(512 / sizeof(Candidate<T>), 2, 16);

  template <class Element>
  static Buffer bytes_of_all(std::vector<Element>& elements) {
    return {elements.data(), elements.size() * sizeof(Element), MPI_BYTE};
  }
  int neighbor(int dimension) const { return channel_.rank() ^ (1 << dimension); }
  bool is_upper(int dimension) const { return (channel_.rank() >> dimension & 1) != 0; }
  double shift(int dimension) const {
    return static_cast<double>(mix(seed_ + as_size(dimension)) >> 11) * 0x1p-53;
  }

  /// Appends what a rank sends; where it begins.
  Task<std::size_t> append_from(int source) {
    const Posted probe = channel_.post_probe(source);
    const Envelope found = co_await probe;
    const std::size_t begin = data_.size();
    data_.resize(begin + found.bytes / sizeof(T));
    co_await channel_.post_receive({data_.data() + begin, found.bytes, MPI_BYTE}, source);
    co_return begin;
  }

  /// A random half goes to the neighbour: one of each two.
  Task<> shuffle(int dimension) {
    std::vector<T> sent;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Slot random = mix(seed_ + (as_size(dimension + 1) << 32) + i / 2);
      if (((random + i) & 1) != 0) {
        sent.push_back(data_[i]);
      } else {
        data_[kept++] = data_[i];
      }
    }
    data_.resize(kept);
    Posts sending;
    sending.add(channel_.post_send(bytes_of_all(sent), neighbor(dimension)));
    co_await append_from(neighbor(dimension));
    co_await sending;
  }

  /// A median of the cube whose highest dimension this is, nearly; nobody has an element, nobody a pivot.
  /// Both neighbours merge the same windows, so all come to the same one.
  Task<std::vector<Candidate<T>>> find_pivot(int highest) {
    const auto before = [this](const Candidate<T>& a, const Candidate<T>& b) {
      return less_(a.key, b.key) || (!less_(b.key, a.key) && a.tie < b.tie);
    };
    std::vector<Candidate<T>> window = candidates_of<T>(data_, window_, shift(highest), less_);
    for (int dimension = 0; dimension <= highest; ++dimension) {
      std::vector<Candidate<T>> other(window_);
      Posts sending;
      sending.add(channel_.post_send(bytes_of_all(window), neighbor(dimension)));
      const Posted receive = channel_.post_receive_up_to(bytes_of_all(other), neighbor(dimension));
      const Envelope envelope = co_await receive;
      co_await sending;
      other.resize(envelope.bytes / sizeof(Candidate<T>));
      std::vector<Candidate<T>> both(window.size() + other.size());
      std::merge(window.begin(), window.end(), other.begin(), other.end(), both.begin(), before);
      const std::size_t side = mix(as_size(channel_.rank() >> (dimension + 1))) & 1;
      const auto middle = middle_of<Candidate<T>>(both, window_, side);
      window.assign(middle.begin(), middle.end());
    }
    const auto median = middle_of<Candidate<T>>(window, 1, 1);
    co_return std::vector<Candidate<T>>(median.begin(), median.end());
  }

  Task<> divide(int dimension) {
    const std::vector<Candidate<T>> pivot = co_await find_pivot(dimension);
    if (pivot.empty()) co_return;
    const std::size_t small = count_before<T>(data_, pivot.front(), shift(dimension), less_);
    const auto border = data_.begin() + static_cast<std::ptrdiff_t>(small);
    std::vector<T> sent;
    if (is_upper(dimension)) {
      sent.assign(data_.begin(), border);
      data_.erase(data_.begin(), border);
    } else {
      sent.assign(border, data_.end());
      data_.erase(border, data_.end());
    }
    Posts sending;
    sending.add(channel_.post_send(bytes_of_all(sent), neighbor(dimension)));
    const std::size_t received = co_await append_from(neighbor(dimension));
    co_await sending;
    std::inplace_merge(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(received), data_.end(),
                       less_);
  }

  Channel channel_;
  int dimensions_;  ///< of the largest cube
  std::vector<T>& data_;
  Less less_;
  std::uint64_t seed_;
};

}  // namespace wisp::detail
