#include <algorithm>

#include "collectives/checks.hpp"
#include "collectives/collective.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Algorithm reduce_scatter_algorithms[] = {
    {"tree",
     [](T t) {
       const double received = t.machine.shares_cores ? t.siblings_32 * t.depth_32 : t.log2;
       return over_tree({received + t.p - 1, (1.5 * received + 1) * t.n, t.depth_32 + 1, 2 * t.p,
                         (1.5 * t.p + 1) * t.n, t.up(1) + t.fan(t.n / t.p)});
     },
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = given.blocks_to_send(channel.size());
       return reduce_scatter_tree(channel, std::move(blocks), given.receive, given.op,
                                  up_radix_bits(channel));
     }},
    {fixed_order_name, nullptr,
     [](Channel&& channel, const Arguments& given) {
       constexpr int binary = 1;
       BlockList blocks = given.blocks_to_send(channel.size());
       return reduce_scatter_tree(std::move(channel), std::move(blocks), given.receive, given.op, binary);
     }},
    {"circulant",
     [](T t) {
       return over_circulant_graph({t.log2, 1.5 * t.others * t.n, t.log2, t.p * t.log2, 1.5 * (t.p - 1) * t.n,
                                    t.growing_rounds(t.log2, 1.5 * t.others * t.n, Traffic::circulant)});
     },
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = given.blocks_to_send(channel.size());
       return reduce_scatter_circulant(std::move(channel), std::move(blocks), given.receive, given.op);
     },
     commutes},
    {"pairwise",
     [](T t) {
       return Cost{t.p - 1,
                   1.5 * t.others * t.n,
                   1,
                   t.p * (t.p - 1),
                   2 * (t.p - 1) * t.n,
                   t.fan(t.n / t.p) + std::max(t.p - 2, 0.0) * t.busy(0.5 * t.n / t.p) +
                       0.5 * t.n / t.p * t.machine.seconds_per_byte};
     },
     [](Channel&& channel, const Arguments& given) {
       BlockList blocks = given.blocks_to_send(channel.size());
       return reduce_scatter_pairwise(std::move(channel), std::move(blocks), given.receive, given.op);
     }}};

constexpr Alias reduce_scatter_aliases[] = {{"halving", "circulant"}};

}  // namespace

constinit const Collective reduce_scatter_row{.name = "reduce_scatter",
                                              .algorithms = reduce_scatter_algorithms,
                                              .aliases = reduce_scatter_aliases,
                                              .reproducible = fixed_order_name};

}  // namespace detail

[[gnu::hot]] Operation reduce_scatter_block(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                                            const Operator& op, const CollectiveOptions& options) {
  detail::Call call = detail::call_on(comm, "wisp::reduce_scatter_block");
  detail::check_buffer(call.name, "receive", receive);
  Buffer own = receive;
  ConstBuffer all = send;
  if (is_in_place(send)) {
    all = receive;
    own.count = receive.count / detail::as_size(comm.size());
  }
  detail::check_regular(comm.size(), call.name, "receive", own, "send", all);
  if (own.type != all.type) {
    detail::throw_error(MPI_ERR_TYPE, "{}: send and receive have different datatypes", call.name);
  }
  call.items(op, own).operands(all, own, op);
  return detail::make_operation(comm, detail::reduce_scatter_row, options, std::move(call));
}

[[gnu::hot]] Operation reduce_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                                      Integers counts, const Operator& op, const CollectiveOptions& options) {
  detail::Call call = detail::call_on(comm, "wisp::reduce_scatter");
  detail::check_buffer(call.name, "receive", receive);
  ConstBuffer all = is_in_place(send) ? ConstBuffer(receive) : send;
  const ConstBlocks blocks(all, counts);
  detail::check_irregular(comm.size(), "ranks", call.name, "send", blocks);
  Buffer own = receive;
  if (is_in_place(send)) own.count = detail::as_size(counts[detail::as_size(comm.rank())]);
  detail::check_own_block(comm.rank(), call.name, "receive", own, blocks);
  if (own.type != all.type && own.count > 0) {
    detail::throw_error(MPI_ERR_TYPE, "{}: send and receive have different datatypes", call.name);
  }
  own.type = all.type;
  // What all ranks know: a rank may have room behind the blocks.
  all.count = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t count = detail::as_size(counts[i]);
    call.items(op, {all.address, count, all.type});
    all.count += count;
  }
  call.operands(all, own, op);
  call.more().send = blocks;
  return detail::make_operation(comm, detail::reduce_scatter_row, options, std::move(call));
}

}  // namespace wisp
