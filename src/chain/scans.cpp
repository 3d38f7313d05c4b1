#include "chain/scans.hpp"

#include "chain/algorithms.hpp"
#include "chain/doubling.hpp"
#include "collectives/doubling_scan.hpp"

namespace wisp::detail {

Task<> side_sums(Link link, ConstBuffer mine, SideOperators operators, SideSums& sums) {
  SideSum before(Side::before, mine, *operators.before, sums.before);
  Doubling walk(std::move(link));
  if (operators.after == nullptr) return doubling_scan(std::move(walk), std::move(before), NoSum());
  return doubling_scan(std::move(walk), std::move(before),
                       SideSum(Side::after, mine, *operators.after, sums.after));
}

Task<> chain_scan(Link link, const Reduction& given, const Buffer& after, bool is_inclusive) {
  const auto sum = [&](Side side, const Buffer& to) {
    return SideSum(side, given, is_inclusive ? ScanResults{to, {}, {}} : ScanResults{{}, to, {}});
  };
  Doubling walk(std::move(link));
  if (after.address == nullptr)
    return doubling_scan(std::move(walk), sum(Side::before, given.receive), NoSum());
  return doubling_scan(std::move(walk), sum(Side::before, given.receive), sum(Side::after, after));
}

Task<> chain_barrier(Link link) {
  return doubling_barrier(Doubling(std::move(link)));
}

}  // namespace wisp::detail
