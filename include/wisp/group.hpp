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

/// Which rank is at which place of a group that is no range, and the way back.
class Places {
 public:
  virtual ~Places() = default;
  virtual int at(int position) const noexcept = 0;
  /// The position of `rank`, or -1.
  virtual int position_of(int rank) const noexcept = 0;
};

/// Arbitrary ranks in an order of their own.
class RankList final : public Places {
 public:
  explicit RankList(std::vector<int> ranks) : ranks_(std::move(ranks)), by_rank_(ranks_.size()) {
    std::iota(by_rank_.begin(), by_rank_.end(), 0);
    std::sort(by_rank_.begin(), by_rank_.end(), [this](int a, int b) { return at(a) < at(b); });
  }

  int at(int position) const noexcept override { return ranks_[as_size(position)]; }
  int position_of(int rank) const noexcept override {
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
        places_(std::make_shared<const detail::RankList>(std::move(ranks))) {}
  Group(std::shared_ptr<const detail::Places> places, int size)
      : range_{0, 1, size}, places_(std::move(places)) {}

  int size() const noexcept { return range_.size; }
  bool empty() const noexcept { return range_.empty(); }
  /// True if the members are the ranks of `range()` themselves.
  bool is_range() const noexcept { return places_ == nullptr; }
  const Range& range() const noexcept { return range_; }

  int to_world(int rank) const noexcept {
    const int place = range_.to_parent(rank);
    return places_ == nullptr ? place : places_->at(place);
  }
  /// The rank in this group, or -1.
  int from_world(int world_rank) const noexcept {
    if (places_ == nullptr) return range_.from_parent(world_rank);
    const int place = places_->position_of(world_rank);
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
  std::shared_ptr<const detail::Places> places_;
};

}  // namespace wisp
