#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

template <int radix_bits>
[[gnu::hot]] Task<> up_tree(Channel&& channel, const Arguments& given) {
  return gather_tree(std::move(channel), given.send, given.receive, given.root, radix_bits);
}

constexpr Algorithm gather_algorithms[] = {
    {"binomial",
     [](T t) {
       return over_tree({t.log2, t.p * t.n, t.log2, t.p - 1, (1 + t.log2 / 2) * t.p * t.n, t.blocks_up(1)});
     },
     up_tree<1>},
    {"radix_4",
     [](T t) {
       return over_tree(
           {3 * t.depth_4, t.p * t.n, t.depth_4, t.p - 1, (1 + t.depth_4 / 2) * t.p * t.n, t.blocks_up(2)});
     },
     up_tree<2>},
    {"radix_32",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return over_tree({received, t.p * t.n, t.depth_32, t.p - 1, t.depth_32 * t.p * t.n, t.blocks_up(5)});
     },
     up_tree<5>},
    {"direct",
     [](T t) {
       Cost cost = direct_cost(t);
       cost.alone = t.fan_in(t.n);
       return cost;
     },
     gather_directly},
    {two_level_name,
     [](T t) {
       return Cost{.seconds = t.inside(gather_row, t.n) + t.between(gather_row, t.of.nodes.most * t.n)};
     },
     on_two_levels<gather_two_level>}};

constexpr Alias gather_aliases[] = {{"ordered", "radix_4"}};

constexpr Algorithm gatherm_algorithms[] = {
    {"binomial", nullptr, [](Channel&& channel, const Arguments& given) {
       return gather_merge(std::move(channel), given.send, given.receive, given.root, given.more->merge);
     }}};

}  // namespace

constinit const Collective gather_row{"gather", gather_algorithms, gather_aliases};
constinit const Collective gatherm_row{"gatherm", gatherm_algorithms};

[[gnu::hot]] Task<> gather_directly(Channel&& channel, const Arguments& given) {
  if (channel.rank() != given.root) return send_block(std::move(channel), given.send, given.root);
  BlockList blocks = given.blocks_to_receive(channel.size());
  return gather_direct(std::move(channel), given.send, std::move(blocks), given.root);
}

}  // namespace detail

[[gnu::hot]] Operation gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                              const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::gather_row, options,
                                detail::call_on(comm, "wisp::gather").root(root).gathering(send, receive));
}

[[gnu::hot]] Operation gatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                               const Merge& merge, const CollectiveOptions& options) {
  return detail::make_operation(
      comm, detail::gatherm_row, options,
      detail::call_on(comm, "wisp::gatherm").root(root).merging(send, receive, merge));
}

}  // namespace wisp
