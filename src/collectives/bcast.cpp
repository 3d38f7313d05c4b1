#include "collectives/collective.hpp"
#include "collectives/signature_bytes.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

template <int radix_bits>
[[gnu::hot]] Task<> bcast_over_tree(Channel&& channel, const Arguments& given) {
  return bcast_tree(std::move(channel), given.receive, given.root, radix_bits);
}

constexpr Algorithm bcast_algorithms[] = {
    {"binomial",
     [](T t) {
       return over_tree({t.log2, t.log2 * t.n, t.log2, t.p - 1, (t.p - 1) * t.n, t.down(1)});
     },
     bcast_over_tree<1>},
    {"radix_4",
     [](T t) {
       return over_tree({3 * t.depth_4, 3 * t.depth_4 * t.n, t.depth_4, t.p - 1, (t.p - 1) * t.n, t.down(2)});
     },
     bcast_over_tree<2>},
    {"circulant", [](T t) { return t.stream(1); },
     [](Channel&& channel, const Arguments& given) {
       const auto bytes = as_size(given.bytes);
       const int pieces = circulant_pieces_of(channel, bytes, SignatureBytes::most_pieces(bytes));
       return bcast_circulant(std::move(channel), given.receive, given.root, pieces);
     }},
    {two_level_name,
     [](T t) { return Cost{.seconds = t.between(bcast_row, t.n) + t.inside(bcast_row, t.n)}; },
     on_two_levels<bcast_two_level>}};

constexpr Alias bcast_aliases[] = {{"two_tree", "circulant"}, {"scatter_allgather", "circulant"}};

}  // namespace

constinit const Collective bcast_row{"bcast", bcast_algorithms, bcast_aliases};

}  // namespace detail

[[gnu::hot]] Operation bcast(const Comm& comm, const Buffer& buffer, int root,
                             const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::bcast_row, options,
                                detail::call_on(comm, "wisp::bcast").root(root).vector(buffer));
}

}  // namespace wisp
