#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

// To join a byte takes about half as long as to move it: what is joined counts half more.

template <int radix_bits>
[[gnu::hot]] Task<> reduce_over_tree(Channel&& channel, const Arguments& given) {
  if (given.root == 0 || given.kind == OperatorKind::commutative)
    return reduce_tree(std::move(channel), given.reduction(), given.root, radix_bits);
  return radix_bits == 1
             ? reduce_ordered(std::move(channel), given.reduction(), given.root)
             : reduce_to_zero_first(std::move(channel), given.reduction(), given.root, radix_bits);
}

constexpr Algorithm reduce_algorithms[] = {
    {"binomial",
     [](T t) {
       return over_tree({t.log2, 1.5 * t.log2 * t.n, t.log2, t.p - 1, 1.5 * (t.p - 1) * t.n, t.up(1)});
     },
     reduce_over_tree<1>},
    {"radix_4",
     [](T t) {
       const double received = 3 * t.depth_4;
       return over_tree({received, 1.5 * received * t.n, t.depth_4, t.p - 1, 1.5 * (t.p - 1) * t.n, t.up(2)});
     },
     reduce_over_tree<2>},
    {"radix_32",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return over_tree(
           {received, 1.5 * received * t.n, t.depth_32, t.p - 1, 1.5 * (t.p - 1) * t.n, t.up(5)});
     },
     reduce_over_tree<5>},
    {"ordered", nullptr,
     [](Channel&& channel, const Arguments& given) {
       return reduce_ordered(std::move(channel), given.reduction(), given.root);
     }},
    {fixed_order_name, nullptr,
     [](Channel&& channel, const Arguments& given) {
       constexpr int binary = 1;
       return given.root == 0
                  ? reduce_tree(std::move(channel), given.reduction(), 0, binary)
                  : reduce_to_zero_first(std::move(channel), given.reduction(), given.root, binary);
     }},
    {"circulant", [](T t) { return t.stream(1.5); },
     [](Channel&& channel, const Arguments& given) {
       const int pieces = circulant_pieces_of(channel, as_size(given.bytes), given.send.count);
       return reduce_circulant(std::move(channel), given.reduction(), given.root, pieces);
     },
     commutes},
    {two_level_name,
     [](T t) { return Cost{.seconds = t.inside(reduce_row, t.n) + t.between(reduce_row, t.n)}; },
     on_two_levels<reduce_two_level>, keeps_order}};

constexpr Alias reduce_aliases[] = {{"two_tree", "circulant"}, {"scatter_gather", "circulant"}};

}  // namespace

constinit const Collective reduce_row{.name = "reduce",
                                      .algorithms = reduce_algorithms,
                                      .aliases = reduce_aliases,
                                      .reproducible = fixed_order_name};

}  // namespace detail

[[gnu::hot]] Operation reduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                              const Operator& op, int root, const CollectiveOptions& options) {
  return detail::make_operation(
      comm, detail::reduce_row, options,
      detail::call_on(comm, "wisp::reduce").root(root).reduction(send, receive, op));
}

}  // namespace wisp
