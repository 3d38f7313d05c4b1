#include "collectives/channel_walks.hpp"
#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Algorithm barrier_algorithms[] = {
    {"dissemination", [](T t) { return Cost{t.log2, 0, t.log2, t.p * t.log2, 0, t.rounds(t.log2, 0)}; },
     [](Channel&& channel, const Arguments&) {
       return doubling_barrier(RingWalk(std::move(channel)));  // Hensgen, Finkel, Manber 1988
     }},
    {"tree",
     [](T t) {
       return over_tree({t.siblings_32 * t.depth_32 + 3 * t.depth_4, 0, t.depth_32 + t.depth_4, 2 * (t.p - 1),
                         0, t.up(1) + t.down(1)});
     },
     [](Channel&& channel, const Arguments&) { return barrier_tree(std::move(channel)); }},
    {two_level_name,
     [](T t) {
       return Cost{.seconds = t.inside(gather_row, 0) + t.between(barrier_row, 0) + t.inside(bcast_row, 0)};
     },
     on_two_levels<barrier_two_level>}};

}  // namespace

constinit const Collective barrier_row{"barrier", barrier_algorithms};

}  // namespace detail

[[gnu::hot]] Operation barrier(const Comm& comm, const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::barrier_row, options, detail::call_on(comm, "wisp::barrier"));
}

}  // namespace wisp
