#include "wisp/detail/sort/assignment.hpp"

#include <algorithm>
#include <utility>

#include "wisp/detail/as_size.hpp"

namespace wisp::detail {
namespace {

constexpr Slot small_pieces_of_a_target = 3;

/// Room of the targets that is left for large pieces, filled from the first on.
class Room {
 public:
  Room(std::vector<Slot> room) : room_(std::move(room)) {}

  /// Fills `count` elements of room; hands each part to `use(target, count)`.
  template <class Use>
  void fill(Slot count, Use use) {
    while (count > 0) {
      const Slot part = std::min(count, room_[target_] - used_);
      if (part > 0) use(target_, part);
      count -= part;
      used_ += part;
      if (used_ == room_[target_]) {
        ++target_;
        used_ = 0;
      }
    }
  }

 private:
  std::vector<Slot> room_;
  std::size_t target_ = 0;
  Slot used_ = 0;
};

}  // namespace

std::vector<Transfer> assign_greedily(const Balance& balance, int first_rank, const Interval& slots) {
  std::vector<Transfer> transfers;
  for (Interval rest = slots; !rest.empty();) {
    const int owner = balance.owner(rest.first);
    const Slot count = (rest & balance.slots(owner)).size();
    transfers.push_back({owner - first_rank, count});
    rest.first += count;
  }
  return transfers;
}

std::vector<Transfer> assign_deterministically(const Balance& balance, int first_rank, const Interval& half,
                                               std::span<const Slot> pieces, int source) {
  if (half.empty()) return {};
  const Slot threshold = balance.floor() / 4;
  const int first_target = balance.owner(half.first);
  const int last_target = balance.owner(half.last - 1);
  std::vector<Slot> room;
  for (int rank = first_target; rank <= last_target; ++rank) {
    room.push_back((half & balance.slots(rank)).size());
  }

  std::vector<Transfer> transfers;
  const auto send = [&](std::size_t rank, std::size_t target, Slot count) {
    if (rank == as_size(source)) {
      transfers.push_back({first_target + static_cast<int>(target) - first_rank, count});
    }
  };
  std::vector<std::size_t> large;
  std::size_t target = 0;
  Slot taken = 0;
  // A target at the border of the half may have room for fewer small pieces, or none.
  const auto places = [&](std::size_t t) {
    return threshold == 0 ? 0 : std::min(small_pieces_of_a_target, room[t] / threshold);
  };
  std::vector<Slot> left = room;
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    if (pieces[rank] == 0) continue;
    while (target < room.size() && taken >= places(target)) {
      ++target;
      taken = 0;
    }
    if (pieces[rank] > threshold || target == room.size()) {
      large.push_back(rank);
      continue;
    }
    send(rank, target, pieces[rank]);
    left[target] -= pieces[rank];
    ++taken;
  }
  Room free(std::move(left));
  for (const std::size_t rank : large) {
    free.fill(pieces[rank], [&](std::size_t to, Slot count) { send(rank, to, count); });
  }
  return transfers;
}

bool is_even_enough(Slot small, Slot total, int ranks) {
  constexpr int ranks_without_need = 9;
  return ranks <= ranks_without_need || (5 * small >= 2 * total && 5 * small <= 3 * total);
}

}  // namespace wisp::detail
