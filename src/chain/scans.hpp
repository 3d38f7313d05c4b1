#pragma once

#include "chain/link.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// Sums over the ranks on either side of this one, without its own: they exist where there are such ranks.
struct SideSums {
  ScratchVector before;
  ScratchVector after;
};

/// What joins each: an operator that knows segments must know the direction. Without `after`, that sum is not
/// wanted.
struct SideOperators {
  const Operator* before = nullptr;
  const Operator* after = nullptr;
};

/// The double exclusive scan that all scans and reductions on chains are made of. `mine` and `sums` are the
/// caller's, until it is done.
Task<> side_sums(Link link, ConstBuffer mine, SideOperators operators, SideSums& sums);

/// An allreduce of one item of a trivially copyable type.
template <class T, class Join>
Task<T> total_of(Link link, T mine, Join join) {
  const Operator op = Operator::on<T>(join);
  SideSums sums;
  co_await side_sums(link, item(mine), {&op, &op}, sums);
  if (sums.before.exists()) mine = join(*reinterpret_cast<const T*>(sums.before.data()), mine);
  if (sums.after.exists()) mine = join(mine, *reinterpret_cast<const T*>(sums.after.data()));
  co_return mine;
}

}  // namespace wisp::detail
