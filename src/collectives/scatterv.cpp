#include "collectives/collective.hpp"
#include "collectives/ordered_tree.hpp"
#include "wisp/detail/settled.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Algorithm scatterv_algorithms[] = {
    {"direct", direct_cost, scatter_directly},
    {"led",
     [](T t) {
       return Cost{3 * t.depth_4, 0, t.depth_4, t.p - 1, 0};
     },
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = blocks_from_root(channel, given);
       const std::uint64_t threshold = straight_threshold(channel.machine());
       return settled(channel,
                      scatterv_led(channel, std::move(blocks), given.receive, given.root, threshold));
     }},
    {"tree", nullptr,
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = blocks_from_root(channel, given);
       const std::uint64_t threshold = announced_threshold(channel.machine());
       return settled(channel, scatterv_tree(channel, std::move(blocks), given.receive, given.root, threshold,
                                             std::static_pointer_cast<OrderedMemory>(given.memory)));
     },
     nullptr, make_memory<OrderedMemory>}};

constexpr Alias scatterv_aliases[] = {{"binomial", "led"}};

}  // namespace

constinit const Collective scatterv_row{"scatterv", scatterv_algorithms, scatterv_aliases, pick_direct,
                                        direct_alone};

}  // namespace detail

[[gnu::hot]] Operation scatterv(const Comm& comm, const ConstBlocks& send, const Buffer& receive, int root,
                                const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::scatterv_row, options,
                                detail::call_on(comm, "wisp::scatterv").root(root).scattering(send, receive));
}

}  // namespace wisp
