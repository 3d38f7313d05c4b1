#include "collectives/collective.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Cost allgather_dissemination_cost(T t) {
  return {t.log2, 1.5 * t.p * t.n, t.log2, t.p * t.log2, 2 * t.p * t.p * t.n};
}
Task<> by_dissemination(Channel channel, const Arguments& given) {
  const BlockList blocks = list_of(given.receive, channel.size());
  return allgather_dissemination(std::move(channel), given.send_buffer(), blocks);
}

/// Every other message passes the last rank and goes in two parts.
constexpr Cost allgather_circulant_cost(T t) {
  return {1.5 * t.log2, (t.p - 1) * t.n, t.log2, 1.5 * t.p * t.log2, t.p * (t.p - 1) * t.n};
}
Task<> over_circulant_graph(Channel channel, const Arguments& given) {
  const BlockList blocks = list_of(given.receive, channel.size());
  return allgather_circulant(std::move(channel), given.send_buffer(), blocks);
}

constexpr Algorithm allgather_algorithms[] = {
    {"dissemination", allgather_dissemination_cost, by_dissemination},
    {"circulant", allgather_circulant_cost, over_circulant_graph},
    {"tree",
     [](T t) {
       return Cost{t.siblings_32 * t.depth_32 + 3 * t.depth_4, (1 + 3 * t.depth_4) * t.p * t.n,
                   t.depth_32 + t.depth_4, 2 * (t.p - 1), t.p * t.p * t.n};
     },
     [](Channel channel, const Arguments& given) {
       return allgather_tree(std::move(channel), given.send_buffer(), given.receive_buffer());
     }}};
constexpr Alias allgather_aliases[] = {{"hypercube", "circulant"}, {"ring", "circulant"}};

constexpr Algorithm allgatherm_algorithms[] = {
    {"tree", nullptr, [](Channel channel, const Arguments& given) {
       return allgather_merge(std::move(channel), given.send_buffer(), given.receive_buffer(), *given.merge);
     }}};

}  // namespace

constinit const Collective allgather_row{"allgather", allgather_algorithms, allgather_aliases};
constinit const Collective allgatherv_row{"allgatherv", std::span(allgather_algorithms).first(2),
                                          allgather_aliases};
constinit const Collective allgatherm_row{"allgatherm", allgatherm_algorithms};

}  // namespace detail

Operation allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                    const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgather";
  detail::check_member(comm, call);
  detail::check_regular(comm.size(), call, "send", send, "receive", receive);
  detail::Arguments given;
  given.send = ConstBlocks(send, {});
  given.receive = Blocks(receive, {});
  given.bytes = detail::signed_of(detail::bytes_of(receive) / static_cast<std::size_t>(comm.size()));
  return detail::make_operation(comm, call, detail::allgather_row, std::move(given), options);
}

Operation allgatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive,
                     const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgatherv";
  detail::check_member(comm, call);
  detail::check_irregular(comm, call, "receive", receive);
  detail::check_own_block(comm, call, "send", send, receive);
  const detail::BlockList blocks = detail::BlockList::irregular(receive, comm.size());
  std::size_t bytes = 0;
  for (int rank = 0; rank < comm.size(); ++rank) bytes += blocks.bytes(rank);
  detail::Arguments given;
  given.send = ConstBlocks(send, {});
  given.receive = receive;
  given.bytes = detail::signed_of(bytes);
  return detail::make_operation(comm, call, detail::allgatherv_row, std::move(given),
                                bytes / static_cast<std::size_t>(comm.size()), options);
}

Operation allgatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                     const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgatherm";
  detail::check_member(comm, call);
  detail::check_merge(call, send, merge);
  detail::check_buffer(call, "receive", receive);
  detail::Arguments given;
  given.send = ConstBlocks(send, {});
  given.receive = Blocks(receive, {});
  given.merge = std::make_shared<const Merge>(merge);
  return detail::make_operation(comm, call, detail::allgatherm_row, std::move(given), options);
}

}  // namespace wisp
