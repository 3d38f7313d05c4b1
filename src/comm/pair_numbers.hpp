#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pattern/range_counts.hpp"
#include "wisp/group.hpp"

namespace wisp::detail {

/// How many communicators this process has made that another rank is a member of too: n(i, j). Two processes
/// create the communicators they share in the same order, so both know the same number without a message,
/// and it tells these communicators apart wherever the two talk.
///
/// A copy is a snapshot, O(1). add: O(log p) for a range, O(log p) a member for a list. with: O(log p), times
/// the number of strides in use.
class PairNumbers {
 public:
  explicit PairNumbers(int world_size) : contiguous_(world_size), world_size_(world_size) {}

  std::int64_t with(int peer) const {
    std::int64_t number = contiguous_.at(peer);
    if (strided_ != nullptr) {
      for (const Strided& strided : *strided_) number += strided.counts.at(strided.place_of(peer));
    }
    return number;
  }
  /// True if the number is 0 with everybody.
  bool is_zero() const { return contiguous_.is_zero() && strided_ == nullptr; }

  /// One communicator, or so many, of these members.
  void add(const Group& members, std::int64_t times = 1) {
    if (!members.is_range()) {
      for (int rank = 0; rank < members.size(); ++rank) {
        const int member = members.to_world(rank);
        contiguous_.add(member, member, times);
      }
    } else if (members.range().stride == 1 || members.size() == 1) {
      contiguous_.add(members.range().first, members.to_world(members.size() - 1), times);
    } else {
      Strided& strided = of_stride(members.range().stride);
      strided.counts.add(strided.place_of(members.range().first),
                         strided.place_of(members.to_world(members.size() - 1)), times);
    }
  }

 private:
  /// Ranks of one residue follow each other, so that a range with this stride is a range of places.
  struct Strided {
    int stride;
    int places_of_residue;
    RangeCounts counts;

    int place_of(int rank) const { return rank % stride * places_of_residue + rank / stride; }
  };

  Strided& of_stride(int stride) {
    if (strided_ == nullptr) {
      strided_ = std::make_shared<std::vector<Strided>>();
    } else if (strided_.use_count() > 1) {
      strided_ = std::make_shared<std::vector<Strided>>(*strided_);
    }
    for (Strided& strided : *strided_) {
      if (strided.stride == stride) return strided;
    }
    const int places = (world_size_ + stride - 1) / stride;
    strided_->push_back({stride, places, RangeCounts(stride * places)});
    return strided_->back();
  }

  RangeCounts contiguous_;
  int world_size_;
  std::shared_ptr<std::vector<Strided>> strided_;  ///< shared with snapshots until it changes
};

}  // namespace wisp::detail
