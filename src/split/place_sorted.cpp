// From sorted items to chains. Neighbors show each other their items, and so see where groups begin; a double
// scan tells how far it is to the group's ends; and whoever has a rank's item sends it what it has found.
//
//   a a | b b b | c       begins at 2, ends before 5 ─► "rank 1 of 3, left …, right …"
//
//   α (⌈log2 p⌉ + 2), O(1) memory        Source: Moody et al. 2011, section 3.2; Mellor-Crummey et al. 2009

#include <algorithm>
#include <limits>

#include "chain/scans.hpp"
#include "split/algorithms.hpp"

namespace wisp::detail {
namespace {

/// Of the ranks on one side: the last and the first that begin a group.
struct Beginnings {
  int last = -1;
  int first = std::numeric_limits<int>::max();
};

Beginnings join(const Beginnings& a, const Beginnings& b) {
  return {std::max(a.last, b.last), std::min(a.first, b.first)};
}

constexpr int place_number = 0;  ///< of messages to the new chain

}  // namespace

Task<ChainPlace> place_sorted(Link link, const ItemLayout& layout, const std::byte* sorted_item,
                              const SplitCase& of) {
  const ChainPlace& at = link.place();
  const bool has_left = at.left.exists();
  const bool has_right = at.right.exists();
  const ScratchVector left(layout.bytes());
  const ScratchVector right(layout.bytes());
  {
    const ConstBuffer mine{sorted_item, layout.bytes(), MPI_BYTE};
    Posts shown;
    if (has_left) shown.add(link.post_receive({left.data(), layout.bytes(), MPI_BYTE}, at.left));
    if (has_right) shown.add(link.post_receive({right.data(), layout.bytes(), MPI_BYTE}, at.right));
    if (has_left) shown.add(link.post_send(mine, at.left));
    if (has_right) shown.add(link.post_send(mine, at.right));
    co_await shown;
  }
  const bool begins = !has_left || !layout.same_group(left.data(), sorted_item);
  const bool ends = !has_right || !layout.same_group(right.data(), sorted_item);

  int group_begin = 0;
  int group_end = link.size();
  if (of.color.is_given) {
    Beginnings mine;
    if (begins) mine = {link.rank(), link.rank()};
    const Operator op = Operator::on<Beginnings>(join);
    SideSums sums;
    co_await side_sums(link, item(mine), {&op, &op}, sums);
    group_begin = begins ? link.rank() : reinterpret_cast<const Beginnings*>(sums.before.data())->last;
    if (sums.after.exists()) {
      group_end = std::min(group_end, reinterpret_cast<const Beginnings*>(sums.after.data())->first);
    }
  }

  ChainPlace found{group_end - group_begin, link.rank() - group_begin, layout.address(sorted_item),
                   begins ? Address() : layout.address(left.data()),
                   ends ? Address() : layout.address(right.data())};
  ChainPlace own;
  Posts posts;
  if (!of.is_undefined) posts.add(post_from_any(*of.made.get(), item(own), place_number, of.call));
  if (!layout.is_undefined(sorted_item)) {
    posts.add(post_to_new(link.world(), item(std::as_const(found)), found.here, place_number, of.call));
  }
  co_await posts;
  co_return own;
}

}  // namespace wisp::detail
