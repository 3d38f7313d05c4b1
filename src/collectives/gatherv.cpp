#include "collectives/collective.hpp"
#include "collectives/led_subtree.hpp"
#include "collectives/ordered_tree.hpp"
#include "wisp/detail/settled.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

// How many bytes irregular blocks have is known to nobody but the root: what is compared are the messages.

constexpr Algorithm gatherv_algorithms[] = {
    {"direct", direct_cost, gather_directly},
    {"led",
     [](T t) {
       return Cost{6 * t.depth_4, 0, 2 * t.depth_4, 2 * (t.p - 1), 0};
     },
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = blocks_to_root(channel, given);
       const std::uint64_t threshold = straight_threshold(channel.machine());
       return settled(channel, gatherv_led(channel, given.send, std::move(blocks), given.root, threshold,
                                           std::static_pointer_cast<LedMemory>(given.memory)));
     },
     nullptr, make_memory<LedMemory>},
    {"tree", nullptr,
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = blocks_to_root(channel, given);
       const std::uint64_t threshold = announced_threshold(channel.machine());
       return settled(channel, gatherv_tree(channel, given.send, std::move(blocks), given.root, threshold,
                                            std::static_pointer_cast<OrderedMemory>(given.memory)));
     },
     nullptr, make_memory<OrderedMemory>}};

constexpr Alias gatherv_aliases[] = {{"combined", "led"}, {"binomial", "led"}};

}  // namespace

constinit const Collective gatherv_row{"gatherv", gatherv_algorithms, gatherv_aliases, pick_direct,
                                       direct_alone};

}  // namespace detail

[[gnu::hot]] Operation gatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive, int root,
                               const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::gatherv_row, options,
                                detail::call_on(comm, "wisp::gatherv").root(root).gathering(send, receive));
}

}  // namespace wisp
