#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "wisp/detail/as_size.hpp"
#include "wisp/range.hpp"

namespace wisp {

namespace detail {

/// Arbitrary ranks in an order of their own, and the way back.
class RankList {
 public:
  explicit RankList(std::vector<int> ranks) : ranks_(std::move(ranks)), by_rank_(ranks_.size()) {
    std::iota(by_rank_.begin(), by_rank_.end(), 0);
    std::sort(by_rank_.begin(), by_rank_.end(), [this](int a, int b) { return at(a) < at(b); });
  }

  int at(int position) const { return ranks_[as_size(position)]; }
  /// The position of `rank`, or -1.
  int position_of(int rank) const {
    const auto found = std::lower_bound(by_rank_.begin(), by_rank_.end(), rank,
                                        [this](int position, int value) { return at(position) < value; });
    return found != by_rank_.end() && at(*found) == rank ? *found : -1;
  }

 private:
  std::vector<int> ranks_;
  std::vector<int> by_rank_;  ///< positions in the order of their ranks
};

}  // namespace detail

/// The members of a communicator as ranks of the MPI communicator below: a range, or a range of the places of
/// a list, which copies share.
class Group {
 public:
  Group() = default;
  explicit Group(Range range) noexcept : range_(range) {}
  /// Ranks in an order of their own.
  explicit Group(std::vector<int> ranks)
      : range_{0, 1, static_cast<int>(ranks.size())},
        list_(std::make_shared<const detail::RankList>(std::move(ranks))) {}

  int size() const noexcept { return range_.size; }
  bool empty() const noexcept { return range_.empty(); }
  /// True if the members are the ranks of `range()` themselves.
  bool is_range() const noexcept { return list_ == nullptr; }
  const Range& range() const noexcept { return range_; }

  int to_world(int rank) const noexcept {
    const int place = range_.to_parent(rank);
    return list_ == nullptr ? place : list_->at(place);
  }
  /// The rank in this group, or -1.
  int from_world(int world_rank) const noexcept {
    if (list_ == nullptr) return range_.from_parent(world_rank);
    const int place = list_->position_of(world_rank);
    return place < 0 ? -1 : range_.from_parent(place);
  }
  Group compose(const Range& inner) const noexcept {
    Group composed = *this;
    composed.range_ = range_.compose(inner);
    return composed;
  }

  friend bool operator==(const Group&, const Group&) = default;

 private:
  Range range_;
  std::shared_ptr<const detail::RankList> list_;
};

}  // namespace wisp
