#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

/// A reduce-scatter and an allgather.
Cost allreduce_circulant_cost(T t) {
  // Half of the vector is set aside and put back.
  const double steps = 2 * t.log2;
  const double bytes = (2.5 * t.others + 0.5) * t.n;
  // Blocks of a half, a quarter … of it.
  const double long_rounds = std::clamp(std::log2(std::max(t.n / largest_eager, 1.0)), 0.0, t.log2);
  return over_circulant_graph({steps, bytes, t.steps_in_pairs(steps), t.p * steps, t.p * bytes,
                               2 * t.growing_rounds(t.log2, 1.25 * t.others * t.n, Traffic::circulant) +
                                   t.rendezvous(2 * long_rounds) + t.others * t.n * t.machine.joins_longer});
}

constexpr Algorithm allreduce_algorithms[] = {
    {"recursive_doubling",
     [](T t) {
       const double steps = t.log2 + t.extra;
       // Up to one and a half times a power of two ranks, the partners of the last round have waited.
       const bool is_hidden = 2 * t.p <= 3 * std::exp2(t.full_log2);
       const double folded = is_hidden ? t.path(1, 1.5 * t.n) : t.path(2, 2.5 * t.n);
       const double alone =
           t.exchanges(t.full_log2, 1.5 * t.n) + (t.extra > 0 ? folded : 0) + t.rendezvous(steps);
       return in_rounds({steps, 1.5 * steps * t.n, t.steps_in_pairs(steps), t.p * t.log2,
                         1.5 * t.p * t.log2 * t.n, alone});
     },
     [](Channel&& channel, const Arguments& given) {
       return allreduce_recursive_doubling(std::move(channel), given.reduction());
     }},
    {"tree",
     [](T t) {
       const bool is_shared = t.machine.shares_cores;
       const bool is_narrow = is_shared && is_narrow_up(t.of.bytes);
       const double depth = is_narrow ? t.log2 : t.depth_32;
       const double received = is_narrow || !is_shared ? t.log2 : t.siblings_32 * t.depth_32;
       const double sent = std::min(3 * t.depth_4, t.p - 1);
       // Vectors that come all at once disturb each other; on shared cores no cache keeps them until they go
       // down again.
       const double moved = is_shared ? 4.5 : 2.5;
       return over_tree({received + sent, (2 * received + sent) * t.n, depth + t.depth_4, 2 * (t.p - 1),
                         moved * (t.p - 1) * t.n, t.up(1) + t.down(1) + t.rendezvous(2 * t.log2)});
     },
     [](Channel&& channel, const Arguments& given) {
       return allreduce_tree(channel, given.reduction(), up_radix_bits(channel, as_size(given.bytes)));
     }},
    {fixed_order_name, nullptr,
     [](Channel&& channel, const Arguments& given) {
       constexpr int binary = 1;
       return allreduce_tree(std::move(channel), given.reduction(), binary);
     }},
    {"circulant", allreduce_circulant_cost,
     [](Channel&& channel, const Arguments& given) {
       return allreduce_circulant(std::move(channel), given.reduction());
     },
     commutes},
    {"two_tree",
     [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return over_tree_in_order(
           {sent, sent * 3 * t.n / t.pieces, depth + t.turns_in_pairs(depth + t.pieces),
            2 * (t.p - 1) * t.pieces, 3.5 * t.p * t.n,
            t.two_tree(((5 * t.full_log2 - 4) / t.pieces + (t.p > 3 ? 2.5 : 2) * t.others) * t.n,
                       Down::total)});
     },
     [](Channel&& channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send, {{}, {}, given.receive}, given.op);
     },
     takes_parts},
    {two_level_name,
     [](T t) {
       return Cost{.seconds =
                       t.inside(reduce_row, t.n) + t.between(allreduce_row, t.n) + t.inside(bcast_row, t.n)};
     },
     on_two_levels<allreduce_two_level>, keeps_order},
    {lanes_name,
     [](T t) {
       const Machine inside = t.machine.at(Level::inside);
       const Case of_node = t.of.inside(t.of.bytes);
       const Case of_lane = t.of.lane(t.of.bytes / as_size(t.of.nodes.most));
       return Cost{.seconds =
                       time_of(allreduce_circulant_cost(Terms(of_node, inside)), inside, of_node.ranks) +
                       least_seconds(allreduce_row, of_lane, between_members(t.machine))};
     },
     on_two_levels<allreduce_lanes>, is_even_and_commutes}};

constexpr Alias allreduce_aliases[] = {{"scatter_allgather", "circulant"}, {"ring", "circulant"}};

}  // namespace

constinit const Collective allreduce_row{.name = "allreduce",
                                         .algorithms = allreduce_algorithms,
                                         .aliases = allreduce_aliases,
                                         .reproducible = fixed_order_name};

}  // namespace detail

[[gnu::hot]] Operation allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                                 const Operator& op, const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::allreduce_row, options,
                                detail::call_on(comm, "wisp::allreduce").reduction(send, receive, op));
}

}  // namespace wisp
