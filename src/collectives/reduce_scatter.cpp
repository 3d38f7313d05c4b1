#include "collectives/collective.hpp"
#include "transport/throw_error.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Algorithm reduce_scatter_algorithms[] = {
    {"tree",
     [](T t) {
       const double received = t.siblings_32 * t.depth_32;
       return Cost{received + t.p - 1, (1.5 * received + 1) * t.n, t.depth_32 + 1, 2 * t.p,
                   (1.5 * t.p + 1) * t.n};
     },
     [](Channel channel, const Arguments& given) {
       const BlockList blocks = list_of(given.send, channel.size());
       return reduce_scatter_tree(std::move(channel), blocks, given.receive_buffer(), given.op);
     }},
    {"circulant",
     [](T t) {
       return Cost{t.log2, 1.5 * t.others * t.n, t.log2, t.p * t.log2, 1.5 * (t.p - 1) * t.n};
     },
     [](Channel channel, const Arguments& given) {
       const BlockList blocks = list_of(given.send, channel.size());
       return reduce_scatter_circulant(std::move(channel), blocks, given.receive_buffer(), given.op);
     },
     commutes},
    {"pairwise",
     [](T t) {
       return Cost{t.p - 1, 1.5 * t.others * t.n, 1, t.p * (t.p - 1), 2 * (t.p - 1) * t.n};
     },
     [](Channel channel, const Arguments& given) {
       const BlockList blocks = list_of(given.send, channel.size());
       return reduce_scatter_pairwise(std::move(channel), blocks, given.receive_buffer(), given.op);
     }}};

constexpr Alias reduce_scatter_aliases[] = {{"halving", "circulant"}};

}  // namespace

constinit const Collective reduce_scatter_row{"reduce_scatter", reduce_scatter_algorithms,
                                              reduce_scatter_aliases};

}  // namespace detail

Operation reduce_scatter_block(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                               const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce_scatter_block";
  detail::check_member(comm, call);
  detail::check_op(call, op);
  Buffer own = receive;
  ConstBuffer all = send;
  if (is_in_place(send)) {
    all = receive;
    own.count = receive.count / static_cast<std::size_t>(comm.size());
  }
  detail::check_regular(comm.size(), call, "receive", own, "send", all);
  if (own.type != all.type) {
    detail::throw_error(MPI_ERR_TYPE, "{}: send and receive have different datatypes", call);
  }
  return detail::make_operation(comm, call, detail::reduce_scatter_row,
                                detail::reduction_arguments(all, own, op), options);
}

Operation reduce_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, Integers counts,
                         MPI_Op op, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce_scatter";
  detail::check_member(comm, call);
  detail::check_op(call, op);
  detail::check_buffer(call, "receive", receive);
  const ConstBuffer all = is_in_place(send) ? ConstBuffer(receive) : send;
  const ConstBlocks blocks(all, counts);
  detail::check_irregular(comm, call, "send", blocks);
  Buffer own = receive;
  if (is_in_place(send)) own.count = static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]);
  detail::check_own_block(comm, call, "receive", own, blocks);
  detail::Arguments given = detail::reduction_arguments(all, own, op);
  given.send = blocks;
  return detail::make_operation(comm, call, detail::reduce_scatter_row, std::move(given), options);
}

}  // namespace wisp
