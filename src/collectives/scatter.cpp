#include "collectives/collective.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

/// How much larger the threshold is for blocks that are all equal: all messages straight from the root go at
/// once, and where a port is shared fairly they all come late, and are then worked off one by one.
constexpr std::uint64_t equal_threshold_factor = 4;

template <int radix_bits>
Task<> down_tree(Channel channel, const Arguments& given) {
  return scatter_tree(std::move(channel), given.send_buffer(), given.receive_buffer(), given.root,
                      radix_bits);
}

constexpr Algorithm scatter_algorithms[] = {
    {"binomial",
     [](T t) {
       return Cost{t.log2, t.p * t.n, t.log2, t.p - 1, (1 + t.log2 / 2) * t.p * t.n};
     },
     down_tree<1>},
    {"radix_4",
     [](T t) {
       return Cost{3 * t.depth_4, t.p * t.n, t.depth_4, t.p - 1, (1 + t.depth_4 / 2) * t.p * t.n};
     },
     down_tree<2>},
    {"ordered",
     [](T t) {
       const double steps = t.straight_depth + (t.straight_cubes > 1 ? 1 : 0);
       return Cost{steps + t.straight_startups, t.p * t.n, steps, t.p - 1,
                   (1 + t.straight_depth / 2) * t.p * t.n};
     },
     [](Channel channel, const Arguments& given) {
       const BlockList blocks = blocks_of_root(channel, given.send, given.root);
       const std::uint64_t threshold = equal_threshold_factor * straight_threshold(channel.world().machine());
       return scatter_ordered(std::move(channel), blocks, given.receive_buffer(), given.root, threshold);
     }},
    {"direct", direct_cost, scatter_directly}};

}  // namespace

constinit const Collective scatter_row{"scatter", scatter_algorithms};

Task<> scatter_directly(Channel channel, const Arguments& given) {
  if (channel.rank() != given.root)
    return receive_block(std::move(channel), given.receive_buffer(), given.root);
  const BlockList blocks = list_of(given.send, channel.size());
  return scatter_direct(std::move(channel), blocks, given.receive_buffer(), given.root);
}

}  // namespace detail

Operation scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scatter";
  detail::check_member(comm, call);
  detail::check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  if (is_root) {
    detail::check_regular(comm.size(), call, "receive", receive, "send", send);
  } else {
    detail::check_buffer(call, "receive", receive);
  }
  detail::Arguments given;
  given.send = ConstBlocks(send, {});
  given.receive = Blocks(receive, {});
  given.root = root;
  given.bytes = detail::signed_of(is_root ? detail::bytes_of(send) / static_cast<std::size_t>(comm.size())
                                          : detail::bytes_of(receive));
  return detail::make_operation(comm, call, detail::scatter_row, std::move(given), options);
}

}  // namespace wisp
