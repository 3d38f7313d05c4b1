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

namespace {

SideSum sum_of(Side side, const Reduction& given, const Buffer& to, bool is_inclusive) {
  return SideSum(side, given, is_inclusive ? ScanResults{to, {}, {}} : ScanResults{{}, to, {}});
}

}  // namespace

Task<> chain_scan(Link link, const Reduction& given, bool is_inclusive) {
  return doubling_scan(Doubling(std::move(link)), sum_of(Side::before, given, given.receive, is_inclusive),
                       NoSum());
}

Task<> chain_double_scan(Link link, const Reduction& given, const Buffer& after, bool is_inclusive) {
  return doubling_scan(Doubling(std::move(link)), sum_of(Side::before, given, given.receive, is_inclusive),
                       sum_of(Side::after, given, after, is_inclusive));
}

Task<> chain_barrier(Link link) {
  return doubling_barrier(Doubling(std::move(link)));
}

}  // namespace wisp::detail
