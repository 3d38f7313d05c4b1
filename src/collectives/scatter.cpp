#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

/// How much larger the threshold is for blocks that are all equal: all messages straight from the root go at
/// once, and where a port is shared fairly they all come late, and are then worked off one by one.
constexpr std::uint64_t equal_threshold_factor = 4;

/// Where ranks have cores of their own, `ordered` is never the fastest.
constexpr double never = 1e9;

template <int radix_bits>
Task<> down_tree(Channel&& channel, const Arguments& given) {
  return scatter_tree(std::move(channel), given.send, given.receive, given.root, radix_bits);
}

constexpr Algorithm scatter_algorithms[] = {
    {"binomial",
     [](T t) {
       return over_tree({t.log2, t.p * t.n, t.log2, t.p - 1, (1 + t.log2 / 2) * t.p * t.n, t.blocks_down(1)});
     },
     down_tree<1>},
    {"radix_4",
     [](T t) {
       return over_tree(
           {3 * t.depth_4, t.p * t.n, t.depth_4, t.p - 1, (1 + t.depth_4 / 2) * t.p * t.n, t.blocks_down(2)});
     },
     down_tree<2>},
    {"ordered",
     [](T t) {
       const double steps = t.straight_depth + (t.straight_cubes > 1 ? 1 : 0);
       return Cost{steps + t.straight_startups,
                   t.p * t.n,
                   steps,
                   t.p - 1,
                   (1 + t.straight_depth / 2) * t.p * t.n,
                   never};
     },
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = blocks_from_root(channel, given);
       const std::uint64_t threshold = equal_threshold_factor * straight_threshold(channel.machine());
       return scatter_ordered(std::move(channel), std::move(blocks), given.receive, given.root, threshold);
     }},
    {"direct", direct_cost, scatter_directly},
    {two_level_name,
     [](T t) {
       return Cost{.seconds = t.between(scatter_row, t.of.nodes.most * t.n) + t.inside(scatter_row, t.n)};
     },
     on_two_levels<scatter_two_level>}};

}  // namespace

constinit const Collective scatter_row{"scatter", scatter_algorithms};

[[gnu::hot]] Task<> scatter_directly(Channel&& channel, const Arguments& given) {
  if (channel.rank() != given.root) return receive_block(std::move(channel), given.receive, given.root);
  BlockList blocks = given.blocks_to_send(channel.size());
  return scatter_direct(std::move(channel), std::move(blocks), given.receive, given.root);
}

}  // namespace detail

[[gnu::hot]] Operation scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                               const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::scatter_row, options,
                                detail::call_on(comm, "wisp::scatter").root(root).scattering(send, receive));
}

}  // namespace wisp
