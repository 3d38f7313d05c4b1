// Cuts a chain into a few, by a small number on each rank: a double exclusive scan of a table tells for each
// bin how many ranks there are on either side, and who the nearest and the farthest of them are.
//
//   bins   2 0 2 1 0 2        rank 2's row of bin 2: one to the left, rank 0; one to the right, rank 5
//
//   ⌈log2 p⌉ (α + bins · β), O(bins) memory        Source: Moody et al. 2011, section 3.3 and figure 2

#include "split/bins.hpp"

#include "chain/scans.hpp"

namespace wisp::detail {
namespace {

Bin join(const Bin& left, const Bin& right) {
  if (left.count == 0) return right;
  if (right.count == 0) return left;
  return {left.first, right.last, left.count + right.count, left.common_ones & right.common_ones,
          left.any_ones | right.any_ones};
}

const Bin& bin_of(const ScratchVector& sums, int bin) {
  return reinterpret_cast<const Bin*>(sums.data())[bin];
}

}  // namespace

Task<Binned> split_into_bins(Link link, int bin, std::uint64_t value) {
  Binned binned;
  Bins& mine = binned.totals;
  const Address here = link.place().here;
  if (bin >= 0) mine[static_cast<std::size_t>(bin)] = {here, here, 1, value, value};
  const Operator op = Operator::on<Bin>(join);
  SideSums sums;
  co_await side_sums(link, items(std::span<const Bin>(mine)), {&op, &op}, sums);
  const auto sum = [bin](const ScratchVector& of) { return of.exists() ? bin_of(of, bin) : Bin(); };
  if (bin >= 0) {
    const Bin before = sum(sums.before);
    const Bin after = sum(sums.after);
    binned.place = {static_cast<int>(before.count + 1 + after.count), static_cast<int>(before.count), here,
                    before.last, after.first};
  }
  for (int b = 0; b < bin_count; ++b) {
    Bin& total = mine[static_cast<std::size_t>(b)];
    if (sums.before.exists()) total = join(bin_of(sums.before, b), total);
    if (sums.after.exists()) total = join(total, bin_of(sums.after, b));
  }
  co_return binned;
}

}  // namespace wisp::detail
