#include "collectives/collective.hpp"
#include "collectives/two_level.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

Cost allgather_dissemination_cost(T t) {
  return in_growing_rounds({t.log2, 1.5 * t.p * t.n, t.log2, t.p * t.log2, 2 * t.p * t.p * t.n,
                            t.growing_rounds(t.log2, 1.05 * (t.p - 1) * t.n, Traffic::growing)});
}
Task<> by_dissemination(Channel&& channel, const Arguments& given) {
  BlockList blocks = given.blocks_to_receive(channel.size());
  return allgather_dissemination(std::move(channel), given.send, std::move(blocks));
}

/// Of more than two ranks, every other message passes the last one and goes in two parts.
Cost allgather_circulant_cost(T t) {
  const double bytes = (t.p - 1) * t.n;
  const double second_parts = t.p > 2 ? 0.5 * t.log2 : 0;
  const double messages = t.log2 + second_parts;
  return over_circulant_graph(
      {messages, bytes, t.log2, t.p * messages, t.p * bytes,
       t.growing_rounds(t.log2, bytes, Traffic::circulant) + second_parts * t.machine.overhead});
}
Task<> by_circulant_graph(Channel&& channel, const Arguments& given) {
  BlockList blocks = given.blocks_to_receive(channel.size());
  return allgather_circulant(std::move(channel), given.send, std::move(blocks));
}

constexpr Algorithm allgather_algorithms[] = {
    {"dissemination", allgather_dissemination_cost, by_dissemination},
    {"circulant", allgather_circulant_cost, by_circulant_graph},
    {"tree",
     [](T t) {
       return over_tree({t.siblings_32 * t.depth_32 + 3 * t.depth_4, (1 + 3 * t.depth_4) * t.p * t.n,
                         t.depth_32 + t.depth_4, 2 * (t.p - 1), t.p * t.p * t.n,
                         t.blocks_up(1) + t.p * t.down(1)});
     },
     [](Channel&& channel, const Arguments& given) {
       return allgather_tree(std::move(channel), given.send, given.receive);
     }},
    {two_level_name,
     [](T t) {
       return Cost{.seconds = t.inside(gather_row, t.n) + t.between(allgather_row, t.of.nodes.most * t.n) +
                              t.inside(bcast_row, t.p * t.n)};
     },
     on_two_levels<allgather_two_level>}};
constexpr Alias allgather_aliases[] = {{"hypercube", "circulant"}, {"ring", "circulant"}};

constexpr Algorithm allgatherm_algorithms[] = {
    {"tree", nullptr, [](Channel&& channel, const Arguments& given) {
       return allgather_merge(std::move(channel), given.send, given.receive, given.more->merge);
     }}};

}  // namespace

constinit const Collective allgather_row{"allgather", allgather_algorithms, allgather_aliases};
constinit const Collective allgatherv_row{"allgatherv", std::span(allgather_algorithms).first(2),
                                          allgather_aliases};
constinit const Collective allgatherm_row{"allgatherm", allgatherm_algorithms};

}  // namespace detail

[[gnu::hot]] Operation allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                                 const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::allgather_row, options,
                                detail::call_on(comm, "wisp::allgather").gathering(send, receive));
}

[[gnu::hot]] Operation allgatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive,
                                  const CollectiveOptions& options) {
  detail::Call call = detail::call_on(comm, "wisp::allgatherv").gathering(send, receive);
  std::size_t bytes = 0;
  for (int rank = 0; rank < comm.size(); ++rank) bytes += detail::bytes_of_block(receive, rank);
  call.given.bytes = detail::signed_of(bytes);
  if (receive.types.empty()) call.given.type = receive.type;
  return detail::make_operation(comm, detail::allgatherv_row, options, std::move(call),
                                bytes / detail::as_size(comm.size()));
}

[[gnu::hot]] Operation allgatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                                  const Merge& merge, const CollectiveOptions& options) {
  return detail::make_operation(comm, detail::allgatherm_row, options,
                                detail::call_on(comm, "wisp::allgatherm").merging(send, receive, merge));
}

}  // namespace wisp
