#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/checks.hpp"
#include "collectives/collective.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;
using ExchangeOfAll = Task<>(Channel channel, BlockList send, BlockList receive);

/// In place, what is received takes the place of what is sent: a copy of it is sent instead.
Task<> exchange_in_place(Channel channel, BlockList receive, ExchangeOfAll* exchange) {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> begins;
  std::size_t end = 0;
  for (int rank = 0; rank < channel.size(); ++rank) {
    begins.push_back(static_cast<std::int64_t>(end));
    counts.push_back(static_cast<std::int64_t>(receive.bytes(rank)));
    end += receive.bytes(rank);
  }
  const ScratchVector packed(end);
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto begin = as_size(begins[as_size(rank)]);
    if (receive.bytes(rank) > 0) pack(receive(rank), receive.layout(rank), packed.data() + begin);
  }
  const BlockList copies =
      BlockList::irregular(ConstBlocks(packed.data(), counts, begins, MPI_PACKED), channel.size());
  co_await exchange(channel, copies, receive);
}

template <ExchangeOfAll* exchange>
Task<> run_exchange(Channel channel, const Arguments& given) {
  const int ranks = channel.size();
  const BlockList to = given.blocks_to_receive(ranks);
  if (is_in_place(given.send)) return exchange_in_place(std::move(channel), to, exchange);
  return exchange(std::move(channel), given.blocks_to_send(ranks), to);
}

/// Blocks that a rank sends in all rounds: as many as there are ones in the numbers below p.
double bruck_blocks(double p) {
  double blocks = 0;
  for (double bit = 1; bit < p; bit *= 2) {
    const double periods = std::floor(p / (2 * bit));
    blocks += periods * bit + std::max(0.0, p - periods * 2 * bit - bit);
  }
  return blocks;
}

Cost alltoall_pairwise_cost(T t) {
  return {t.p, t.p * t.n, t.p - 1, t.p * (t.p - 1), t.p * t.p * t.n, t.path(t.p - 1, (t.p - 1) * t.n)};
}
constexpr Algorithm by_pairs{"pairwise", alltoall_pairwise_cost, run_exchange<alltoall_pairwise>};
constexpr Algorithm at_once{
    "direct",
    [](T t) { return Cost{t.p - 1, t.p * t.n, 1, t.p * (t.p - 1), t.p * t.p * t.n, t.exchange(t.n)}; },
    run_exchange<alltoall_direct>};
constexpr Algorithm alltoall_algorithms[] = {
    {"bruck",
     [](T t) {
       return Cost{t.log2,       (t.log2 + 2) * t.n * t.p / 2,       t.log2,
                   t.p * t.log2, (t.log2 + 2) * t.p * t.p * t.n / 2, t.path(t.log2, bruck_blocks(t.p) * t.n)};
     },
     run_exchange<alltoall_bruck>},
    by_pairs,
    at_once};
constexpr Algorithm alltoallv_algorithms[] = {at_once, by_pairs};

}  // namespace

constinit const Collective alltoall_row{"alltoall", alltoall_algorithms};
constinit const Collective alltoallv_row{"alltoallv", alltoallv_algorithms};

namespace {

/// Of alltoallv and alltoallw. Only the number of ranks is known to all.
Operation irregular_alltoall(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
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

Operation alltoall(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
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
  return detail::make_operation(comm, detail::alltoall_row, options, std::move(call));
}

Operation alltoallv(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options) {
  return detail::irregular_alltoall(comm, send, receive, options, "wisp::alltoallv");
}

Operation alltoallw(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options) {
  return detail::irregular_alltoall(comm, send, receive, options, "wisp::alltoallw");
}

}  // namespace wisp
