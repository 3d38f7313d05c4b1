#include <numeric>
#include <vector>

#include "collectives/checks.hpp"
#include "collectives/collective.hpp"
#include "collectives/host_operands.hpp"
#include "collectives/two_level.hpp"
#include "pattern/radix_grid.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;
using ExchangeOfAll = Task<>(Channel channel, BlockList send, BlockList receive);

/// In place, what is received takes the place of what is sent: a copy of it is sent instead.
template <class Exchange>
Task<> exchange_in_place(Channel channel, BlockList receive, Exchange exchange) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < channel.size(); ++rank) counts.push_back(signed_of(receive.bytes(rank)));
  const ScratchVector packed(as_size(std::reduce(counts.begin(), counts.end())));
  std::byte* next = packed.data();
  for (int rank = 0; rank < channel.size(); next += counts[as_size(rank++)]) {
    if (receive.bytes(rank) > 0) pack(receive(rank), receive.layout(rank), next);
  }
  const BlockList copies =
      BlockList::irregular(ConstBlocks(packed.data(), counts, {}, MPI_PACKED), channel.size());
  co_await exchange(channel, copies, receive);
}

template <class Exchange>
[[gnu::hot]] Task<> run_exchange(Channel channel, const Arguments& given, Exchange exchange) {
  const int ranks = channel.size();
  const BlockList to = given.blocks_to_receive(ranks);
  if (is_in_place(given.send)) return exchange_in_place(std::move(channel), to, exchange);
  return exchange(std::move(channel), given.blocks_to_send(ranks), to);
}

/// Of blocks of one size, or of such as are not known.
template <bool is_regular>
double known_bytes(double regular) {
  return is_regular ? regular : typical_block;
}
template <bool is_regular>
Task<> run_over(ExchangeGrid grid, Channel channel, const Arguments& given) {
  const auto exchange = [grid = std::move(grid)](Channel on, BlockList send, BlockList receive) {
    return alltoall_grid(std::move(on), std::move(send), std::move(receive), grid, is_regular);
  };
  return run_exchange(std::move(channel), given, exchange);
}

template <int radix>
RadixGrid grid_of(int ranks, const Machine& machine, double bytes) {
  return radix > 0 ? RadixGrid(ranks, radix) : cheapest_grid(ranks, machine, bytes);
}
template <int radix, bool is_regular>
Cost grid_cost(T t) {
  const double bytes = known_bytes<is_regular>(t.n);
  const RadixGrid grid = grid_of<radix>(t.of.ranks, t.machine, bytes);
  Cost cost = cost_of_grid(grid, t.machine, bytes);
  // Headers are written and read: with what a block tells of itself it takes twice as long.
  for (int level = 0; level < grid.levels() && !is_regular; ++level) {
    cost.alone += 2 * grid.moved(level) * t.machine.parcel_seconds;
  }
  return cost;
}
template <int radix, bool is_regular>
Task<> run_grid(Channel&& channel, const Arguments& given) {
  if (is_regular && given.is_on_device()) [[unlikely]]
    return run_on_host(std::move(channel), given, run_grid<radix, is_regular>);
  const double bytes = known_bytes<is_regular>(static_cast<double>(given.bytes));
  ExchangeGrid grid(channel.rank(), grid_of<radix>(channel.size(), channel.machine(), bytes));
  return run_over<is_regular>(std::move(grid), std::move(channel), given);
}

template <bool is_regular>
Cost two_level_cost(T t) {
  const double bytes = known_bytes<is_regular>(t.n);
  return {.seconds = seconds_of(cheapest_node_grids(t.of.nodes, t.machine, bytes), t.machine, bytes)};
}
template <bool is_regular>
Task<> run_two_level(Channel&& channel, const Arguments& given) {
  if (is_regular && given.is_on_device()) [[unlikely]]
    return run_on_host(std::move(channel), given, run_two_level<is_regular>);
  const double bytes = known_bytes<is_regular>(static_cast<double>(given.bytes));
  const NodeGrids grids = cheapest_node_grids(given.nodes->shape(), channel.machine(), bytes);
  ExchangeGrid grid(given.nodes, channel.rank(), grids);
  return run_over<is_regular>(std::move(grid), std::move(channel), given);
}

template <bool is_regular>
Cost pairwise_cost(T t) {
  const double n = known_bytes<is_regular>(t.n);
  return {t.p, t.p * n, t.p - 1, t.p * (t.p - 1), t.p * t.p * n, t.path(t.p - 1, (t.p - 1) * n)};
}
template <bool is_regular>
Cost direct_exchange_cost(T t) {
  const double n = known_bytes<is_regular>(t.n);
  return {t.p - 1, t.p * n, 1, t.p * (t.p - 1), t.p * t.p * n, exchange_seconds(t.machine, t.p - 1, n)};
}
template <ExchangeOfAll* exchange>
[[gnu::hot]] Task<> run_plain(Channel&& channel, const Arguments& given) {
  return run_exchange(std::move(channel), given, exchange);
}

// Of those that cost the same the first is taken: a grid of two ranks is a message each way as well.
constexpr Algorithm alltoall_algorithms[] = {
    {"direct", direct_exchange_cost<true>, run_plain<alltoall_direct>},
    {"pairwise", pairwise_cost<true>, run_plain<alltoall_pairwise>},
    {"bruck", grid_cost<2, true>, run_grid<2, true>},
    {"grid", grid_cost<0, true>, run_grid<0, true>},
    {two_level_name, two_level_cost<true>, run_two_level<true>, is_even}};
constexpr Algorithm alltoallv_algorithms[] = {
    {"direct", direct_exchange_cost<false>, run_plain<alltoall_direct>},
    {"pairwise", pairwise_cost<false>, run_plain<alltoall_pairwise>},
    {"grid", grid_cost<0, false>, run_grid<0, false>},
    {two_level_name, two_level_cost<false>, run_two_level<false>, is_even}};

}  // namespace

constexpr std::string_view plain_exchanges[] = {"bruck", "pairwise", "direct"};
constinit const Collective alltoall_row{
    .name = "alltoall", .algorithms = alltoall_algorithms, .plain = plain_exchanges};
constinit const Collective alltoallv_row{
    .name = "alltoallv", .algorithms = alltoallv_algorithms, .plain = plain_exchanges};

namespace {

/// Of alltoallv and alltoallw. Only the number of ranks is known to all.
[[gnu::hot]] Operation irregular_alltoall(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                                          const CollectiveOptions& options, const char* name) {
  Call call = call_on(comm, name);
  check_irregular(comm.size(), "ranks", name, "receive", receive);
  if (!is_in_place(send)) {
    check_irregular(comm.size(), "ranks", name, "send", send);
    const std::size_t sent = bytes_of_block(send, comm.rank());
    const std::size_t received = bytes_of_block(receive, comm.rank());
    if (sent != received) {
      throw_error(MPI_ERR_TRUNCATE, "{}: rank {} sends itself {} bytes, but receives {}", name, comm.rank(),
                  sent, received);
    }
  }
  return make_operation(comm, alltoallv_row, options, call.exchanging(send, receive));
}

}  // namespace
}  // namespace detail

[[gnu::hot]] Operation alltoall(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                                const CollectiveOptions& options) {
  detail::Call call = detail::call_on(comm, "wisp::alltoall");
  ConstBuffer own = send;
  if (!is_in_place(send)) {
    detail::check_regular(comm.size(), call.name, "send", in_place(), "send", send);
    own.count = send.count / detail::as_size(comm.size());
  }
  detail::check_regular(comm.size(), call.name, "a block of send", own, "receive", receive);
  call.given.send = send;
  call.given.receive = receive;
  call.given.bytes = detail::signed_of(detail::bytes_of(receive) / detail::as_size(comm.size()));
  call.given.type = receive.type;
  return detail::make_operation(comm, detail::alltoall_row, options, std::move(call));
}

[[gnu::hot]] Operation alltoallv(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                                 const CollectiveOptions& options) {
  return detail::irregular_alltoall(comm, send, receive, options, "wisp::alltoallv");
}

[[gnu::hot]] Operation alltoallw(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                                 const CollectiveOptions& options) {
  return detail::irregular_alltoall(comm, send, receive, options, "wisp::alltoallw");
}

}  // namespace wisp
