// Scans: over ranks up to one's own, without it, and with the sum of all.

#include "collectives/channel_walks.hpp"
#include "collectives/checks.hpp"
#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

[[gnu::hot]] Task<> scan_by_doubling(Channel&& channel, const Arguments& given, const ScanResults& results) {
  return doubling_scan(LineWalk(std::move(channel)), SideSum(Side::before, given.reduction(), results),
                       NoSum());
}

Cost scan_dissemination_cost(T t) {
  return in_rounds({t.log2, t.log2 * t.n, t.log2, t.p * t.log2, t.p * t.log2 * t.n, t.dissemination(1.5)});
}
/// Two sums are joined.
Cost exscan_dissemination_cost(T t) {
  Cost cost = scan_dissemination_cost(t);
  // Nobody joins two sums in the first round, nor in the last.
  cost.alone =
      t.dissemination(2) - (t.p > 2 ? (t.extra > 0 ? 1.5 : 1) * t.n * t.machine.seconds_per_byte : 0);
  return cost;
}
/// A rank that has told the next one is done: successive scans follow each other along the chain.
Cost scan_chain_cost(T t) {
  return over_tree({t.p - 1, (t.p - 1) * t.n, (t.p - 1) / 8, t.p - 1, (t.p - 1) * t.n,
                    t.path(t.p - 1, 1.5 * (t.p - 1) * t.n) + t.rendezvous(t.p - 1) +
                        (t.p - 1) * t.n * t.machine.joins_longer});
}
/// Pieces pass two trees' heights, on each level two come before one goes on; then a rank has four messages
/// for each two pieces.
Cost scan_two_tree_cost(T t) {
  const double depth = 4 * t.log2;
  const double sent = depth + t.pieces;
  const double alone = t.two_tree(((5 * t.full_log2 - 4) / t.pieces + 2 * t.others) * t.n, Down::prefixes);
  return over_tree_in_order({sent, sent * 2 * t.n / t.pieces, depth + t.turns_in_pairs(depth + t.pieces),
                             2 * t.p * t.pieces, 3 * t.p * t.n, alone});
}

/// With what a node's own ranks take.
Cost two_level_cost(T t, double inside_seconds) {
  double seconds = inside_seconds + t.between(exscan_row, t.n) + t.inside(bcast_row, t.n) +
                   0.5 * t.n * t.machine.seconds_per_byte;
  if (t.machine.shares_cores) {
    // The parts wait for each other: no scan follows another along a chain.
    seconds += ceil_log2(t.of.nodes.most) * t.machine.at(Level::inside).latency +
               ceil_log2(t.of.nodes.nodes) * t.machine.latency;
  }
  return {.seconds = seconds};
}

Cost scan_two_level_cost(T t) {
  return two_level_cost(t, t.inside(scan_row, t.n));
}
/// Inside, both sums are by doubling distances.
Cost exscan_two_level_cost(T t) {
  const Machine inside = t.machine.at(Level::inside);
  const Case of_node = t.of.inside(t.of.bytes);
  const Terms terms(of_node, inside);
  Cost both = scan_dissemination_cost(terms);
  both.alone = terms.dissemination(2);
  return two_level_cost(t, time_of(both, inside, of_node.ranks));
}

template <bool is_inclusive>
ScanResults results_in(const Buffer& receive) {
  return is_inclusive ? ScanResults{receive, {}, {}} : ScanResults{{}, receive, {}};
}

/// Of two ranks, the chain sends the same message with less to do: it comes first.
template <bool is_inclusive>
constexpr Algorithm prefix_algorithms[] = {
    {"chain", scan_chain_cost,
     [](Channel&& channel, const Arguments& given) {
       return (is_inclusive ? scan_chain : exscan_chain)(std::move(channel), given.reduction());
     }},
    {"dissemination", is_inclusive ? scan_dissemination_cost : exscan_dissemination_cost,
     [](Channel&& channel, const Arguments& given) {
       return scan_by_doubling(std::move(channel), given, results_in<is_inclusive>(given.receive));
     }},
    {"two_tree", scan_two_tree_cost,
     [](Channel&& channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send, results_in<is_inclusive>(given.receive),
                            given.op);
     },
     takes_parts},
    {two_level_name, is_inclusive ? scan_two_level_cost : exscan_two_level_cost,
     on_two_levels<is_inclusive ? scan_two_level : exscan_two_level>, is_in_order}};

constexpr Algorithm scan_and_bcast_algorithms[] = {
    {"dissemination",
     [](T t) {
       return Cost{2 * t.log2,         2 * t.log2 * t.n,         2 * t.log2,
                   t.p * (t.log2 + 1), t.p * (t.log2 + 1) * t.n, t.dissemination(1.5) + t.down(1)};
     },
     [](Channel&& channel, const Arguments& given) {
       Task<> sums = scan_by_doubling(Channel(channel), given, {given.receive, {}, {}});
       return scan_then_bcast(std::move(channel), std::move(sums), given.receive, given.second);
     }},
    {"chain",
     [](T t) {
       return Cost{t.p - 1 + t.log2,
                   (t.p - 1 + t.log2) * t.n,
                   (t.p - 1) / 2 + t.depth_4,
                   2 * t.p,
                   2 * t.p * t.n,
                   t.path(t.p - 1 + t.log2, (1.5 * (t.p - 1) + t.log2) * t.n)};
     },
     [](Channel&& channel, const Arguments& given) {
       Task<> sums = scan_chain(channel, given.reduction());
       return scan_then_bcast(std::move(channel), std::move(sums), given.receive, given.second);
     }},
    {"two_tree",
     [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return over_tree_in_order(
           {sent, sent * 3 * t.n / t.pieces, depth + t.turns_in_pairs(depth + t.pieces), 3 * t.p * t.pieces,
            4 * t.p * t.n, t.two_tree(((6 * t.full_log2 - 5) / t.pieces + 3 * t.others) * t.n, Down::total)});
     },
     [](Channel&& channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send, {given.receive, {}, given.second}, given.op);
     },
     takes_parts}};

}  // namespace

constinit const Collective scan_row{
    .name = "scan", .algorithms = prefix_algorithms<true>, .reproducible = "dissemination"};
constinit const Collective exscan_row{
    .name = "exscan", .algorithms = prefix_algorithms<false>, .reproducible = "dissemination"};
constinit const Collective scan_and_bcast_row{
    .name = "scan_and_bcast", .algorithms = scan_and_bcast_algorithms, .reproducible = "dissemination"};

}  // namespace detail

[[gnu::hot]] Operation scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                            const Operator& op, const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::scan_row, options,
                                detail::call_on(comm, "wisp::scan").reduction(send, receive, op));
}

[[gnu::hot]] Operation exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                              const Operator& op, const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::exscan_row, options,
                                detail::call_on(comm, "wisp::exscan").exclusive(send, receive, op));
}

[[gnu::hot]] Operation scan_and_bcast(const Comm& comm, const ConstBuffer& send, const Buffer& scan,
                                      const Buffer& total, const Operator& op,
                                      const CollectiveOptions& options) {
  detail::Call call = detail::call_on(comm, "wisp::scan_and_bcast");
  const ConstBuffer input = detail::checked_input(call.name, send, scan, "scan");
  detail::checked_input(call.name, input, total, "total");
  detail::check_apart(call.name, "scan", scan, "total", total);
  call.operands(input, scan, op);
  call.given.second = total;
  return detail::make_operation(comm, detail::scan_and_bcast_row, options, std::move(call));
}

}  // namespace wisp
