#pragma once

// Sums over the ranks on either side, by doubling distances. Before round k a rank holds the sum of the 2^k
// ranks that end with it; it sends that to its partner 2^k above, and joins what it hears from 2^k below on
// the left. The other side is the mirror image, at the same time.
//
//   round 0   r-1 ─► r ─► r+1
//   round 1   r-2 ─► r ─► r+2        ⌈log2 p⌉ (α + nβ + nγ), O(n) memory
//   round 2   r-4 ─► r ─► r+4
//
// Source: Hillis, Steele 1986; Axtmann et al. 2018, section V-D; on chains Moody et al. 2011, section 2

#include <utility>

#include "collectives/channel_walks.hpp"
#include "collectives/reduction.hpp"
#include "wisp/posted.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// What a scan gives: each may be absent.
struct ScanResults {
  Buffer inclusive;
  Buffer exclusive;
  Buffer total;
};

enum class Side { before, after };

/// The sums of the ranks on one side that this one has heard of: with its own vector, which it passes on, and
/// without, if that is wanted.
class SideSum {
 public:
  SideSum(Side side, const Reduction& of, const ScanResults& results)
      : inclusive_(of.send, of.op, results.inclusive),
        inclusive_result_(results.inclusive.address),
        exclusive_result_(results.exclusive.address),
        is_before_(side == Side::before),
        gives_inclusive_(is_given(results.inclusive)),
        wants_exclusive_(is_given(results.exclusive)) {}
  /// The sum without this rank's own is kept in `exclusive`, which exists where there are such ranks.
  SideSum(Side side, const ConstBuffer& mine, const Operator& op, ScratchVector& exclusive)
      : inclusive_(mine, op), kept_(&exclusive), is_before_(side == Side::before), wants_exclusive_(true) {}

  static constexpr bool exists = true;
  Buffer incoming() { return inclusive_.incoming(); }
  ConstBuffer outgoing() const { return inclusive_.value(); }

  /// After a round. The inclusive sum is looked at again only if it is passed on, or a result.
  void join(bool is_passed_on) {
    const bool wants_inclusive = is_passed_on || gives_inclusive_;
    ScratchVector& incoming = inclusive_.incoming_memory();
    if (is_before_) {
      if (wants_inclusive) inclusive_.prepend(incoming.data());
      if (wants_exclusive_) join_exclusive(incoming);
    } else {
      ScratchVector higher;
      if (wants_exclusive_ && wants_inclusive) higher = inclusive_.copy_of(incoming.data());
      if (wants_exclusive_) join_exclusive(incoming);
      if (wants_inclusive) inclusive_.append(higher.exists() ? higher : incoming);
    }
  }
  void finish() {
    if (gives_inclusive_) inclusive_.copy_to(inclusive_result_);
    if (kept_ != nullptr) {
      kept_->swap(exclusive_);
    } else if (exclusive_.exists()) {
      const ConstBuffer like = inclusive_.value();
      copy_elements(exclusive_.data(), exclusive_result_, like.count, like.type, inclusive_.layout());
    }
  }

 private:
  void join_exclusive(ScratchVector& incoming) {
    const ConstBuffer like = inclusive_.value();
    if (!exclusive_.exists()) {
      exclusive_.swap(incoming);
    } else if (is_before_) {
      inclusive_.op().apply(incoming.data(), exclusive_.data(), like.count, like.type);
    } else {
      inclusive_.op().apply(exclusive_.data(), incoming.data(), like.count, like.type);
      exclusive_.swap(incoming);
    }
  }

  Partial inclusive_;
  void* inclusive_result_ = nullptr;
  void* exclusive_result_ = nullptr;
  ScratchVector* kept_ = nullptr;
  ScratchVector exclusive_;
  bool is_before_;
  bool gives_inclusive_ = false;
  bool wants_exclusive_;
};

/// A side that nobody asks for.
struct NoSum {
  static constexpr bool exists = false;
};

/// Over a walk whose partners are ranks at doubling distances to the left and right (see
/// collectives/channel_walks.hpp and chain/doubling.hpp).
template <class Walk, class Before, class After>
[[gnu::hot]] Task<> doubling_scan(Walk walk, Before before, After after) {
  while (!walk.done()) {
    const bool has_left = walk.has_left();
    const bool has_right = walk.has_right();
    WalkData data;
    if constexpr (Before::exists) {
      if (has_left) data.from_left = before.incoming();
      if (has_right) data.to_right = before.outgoing();
    }
    if constexpr (After::exists) {
      if (has_right) data.from_right = after.incoming();
      if (has_left) data.to_left = after.outgoing();
    }
    Posts round;
    walk.post(round, data);
    co_await round;
    walk.advance();
    if constexpr (Before::exists) {
      if (has_left) before.join(walk.has_right());
    }
    if constexpr (After::exists) {
      if (has_right) after.join(walk.has_left());
    }
  }
  // The one that may lie where the input is comes last.
  if constexpr (After::exists) after.finish();
  if constexpr (Before::exists) before.finish();
}

/// Ends when all have begun.
template <class Walk>
Task<> doubling_barrier(Walk walk) {
  std::byte token{};
  std::byte heard[2];
  while (!walk.done()) {
    Posts round;
    walk.post(round, {buffer_of(std::as_const(token)), buffer_of(std::as_const(token)), buffer_of(heard[0]),
                      buffer_of(heard[1])});
    co_await round;
    walk.advance();
  }
}

}  // namespace wisp::detail
