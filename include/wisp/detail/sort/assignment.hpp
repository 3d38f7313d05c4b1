#pragma once

#include <functional>
#include <span>
#include <vector>

#include "wisp/detail/balance.hpp"

namespace wisp::detail {

/// Part of what one rank sends: the next `count` elements of a piece, to rank `target` of the group.
struct Transfer {
  int target;
  Slot count;
};

/// Greedy: small elements fill the slots in the order of the ranks that send them. This rank's piece fills
/// `slots`; the group begins at rank `first_rank`. At most ⌈piece/(n/p)⌉ + 1 messages are sent, but a rank
/// may receive as many as the group has ranks.
std::vector<Transfer> assign_greedily(const Balance& balance, int first_rank, const Interval& slots);

/// Deterministic: at most eight messages sent and eight received by each rank, both pieces together.
///
/// A piece is small up to a quarter of ⌊n/p⌋. Three small pieces at most go to one target, whole; large ones
/// fill what room is left, in the order of ranks. So a target receives at most three small pieces and parts
/// of five large ones, and a large piece, which meets at least a quarter of a target's room each time, goes
/// to few. The bound needs a level that divides its elements evenly: see `is_even_enough`.
///
/// `pieces[i]` is what rank i of the group has for the half whose slots are `half`. Every rank computes all:
/// O(p) time, after an allgather of the counts. Returns what rank `source` sends.
std::vector<Transfer> assign_deterministically(const Balance& balance, int first_rank, const Interval& half,
                                               std::span<const Slot> pieces, int source);

/// Whether `small` of `total` elements is near enough to one half for the bound of eight: 0.4 to 0.6. A level
/// with another pivot chooses again. Groups of up to nine ranks keep the bound anyway.
bool is_even_enough(Slot small, Slot total, int ranks);

}  // namespace wisp::detail
