#include "wisp/collectives.hpp"

#include <fmt/format.h>

#include "collectives/checks.hpp"
#include "collectives/selection.hpp"
#include "comm/comm_access.hpp"
#include "pattern/knomial_tree.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/tree_neighbors.hpp"
#include "wisp/error.hpp"

// The collectives. A plan is what does not change from run to run: arguments checked, in-place resolved, an
// algorithm chosen; called with a channel, it gives the task of one run. The faces of all are made of it.

namespace wisp {
namespace {

using detail::BlockList;
using detail::bytes_of;
using detail::Case;
using detail::check_usable;
using detail::CommAccess;
using detail::Operation;
using detail::Reduction;

/// `run(channel)` gives the task.
template <class Run>
struct Plan {
  const char* call;
  Run run;
};
template <class Run>
Plan(const char*, Run) -> Plan<Run>;

Task<> nothing() {
  co_return;
}

bool commutes(MPI_Op op) {
  int commutative = 0;
  detail::check_mpi(MPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  return commutative != 0;
}

template <class Algorithm>
Algorithm choose(const Comm& comm, Operation operation, std::size_t bytes, const CollectiveOptions& options,
                 const char* call, bool op_commutes = true) {
  return static_cast<Algorithm>(detail::choose(
      CommAccess::world(comm), operation, Case{comm.size(), bytes, op_commutes}, options.algorithm, call));
}

/// Pieces of a vector that goes through both trees.
int pieces_of(const Channel& channel, const ConstBuffer& vector) {
  const int depth = 2 * detail::ceil_log2(channel.size());
  return detail::pipeline_pieces(channel.world().machine(), bytes_of(vector), depth, vector.count);
}

auto plan_barrier(const Comm& comm, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::barrier";
  check_usable(comm, call);
  const auto algorithm = choose<detail::Barrier>(comm, Operation::barrier, 0, options, call);
  return Plan{call, [=](Channel channel) {
                if (algorithm == detail::Barrier::dissemination) {
                  return detail::barrier_dissemination(std::move(channel));
                }
                const auto radix_bits = detail::tree_radix_bits(channel);
                return detail::barrier_tree(std::move(channel), radix_bits);
              }};
}

auto plan_bcast(const Comm& comm, const Buffer& buffer, int root, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::bcast";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  detail::check_buffer(call, "buffer", buffer);
  const auto algorithm = choose<detail::Bcast>(comm, Operation::bcast, bytes_of(buffer), options, call);
  return Plan{call, [=](Channel channel) {
                if (buffer.count == 0) return nothing();
                switch (algorithm) {
                  case detail::Bcast::binomial:
                    return detail::bcast_tree(std::move(channel), buffer, root, 1);
                  case detail::Bcast::radix_4:
                    return detail::bcast_tree(std::move(channel), buffer, root, 2);
                  case detail::Bcast::two_tree: {
                    const int pieces = pieces_of(channel, buffer);
                    return detail::bcast_two_tree(std::move(channel), buffer, root, pieces);
                  }
                  case detail::Bcast::scatter_allgather:
                    break;
                }
                return detail::bcast_scatter_allgather(std::move(channel), buffer, root);
              }};
}

auto plan_reduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  detail::check_op(call, op);
  ConstBuffer input = send;
  if (comm.rank() == root) {
    input = detail::checked_input(call, send, receive);
  } else {
    detail::check_buffer(call, "send", send);
  }
  const bool any_order = commutes(op);
  const auto algorithm =
      choose<detail::Reduce>(comm, Operation::reduce, bytes_of(input), options, call, any_order);
  return Plan{call, [=](Channel channel) {
                if (input.count == 0) return nothing();
                const Reduction reduction{input, receive, op, any_order};
                switch (algorithm) {
                  case detail::Reduce::scatter_gather:
                    return detail::reduce_scatter_gather(std::move(channel), reduction, root);
                  case detail::Reduce::two_tree: {
                    const int pieces = pieces_of(channel, input);
                    return detail::reduce_two_tree(std::move(channel), reduction, root, pieces);
                  }
                  case detail::Reduce::binomial:
                  case detail::Reduce::radix_32:
                    break;
                }
                const int radix_bits = algorithm == detail::Reduce::binomial ? 1 : 5;
                return root == 0 || any_order
                           ? detail::reduce_tree(std::move(channel), input, receive, op, root, radix_bits)
                           : detail::reduce_ordered(std::move(channel), input, receive, op, root, radix_bits);
              }};
}

auto plan_allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                    const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allreduce";
  check_usable(comm, call);
  detail::check_op(call, op);
  const ConstBuffer input = detail::checked_input(call, send, receive);
  const bool any_order = commutes(op);
  const auto algorithm =
      choose<detail::Allreduce>(comm, Operation::allreduce, bytes_of(input), options, call, any_order);
  return Plan{call, [=](Channel channel) {
                if (input.count == 0) return nothing();
                const Reduction reduction{input, receive, op, any_order};
                switch (algorithm) {
                  case detail::Allreduce::recursive_doubling:
                    return detail::allreduce_recursive_doubling(std::move(channel), reduction);
                  case detail::Allreduce::tree: {
                    const auto radix_bits = detail::tree_radix_bits(channel);
                    return detail::allreduce_tree(std::move(channel), input, receive, op, radix_bits);
                  }
                  case detail::Allreduce::ring:
                    return detail::allreduce_ring(std::move(channel), reduction);
                  case detail::Allreduce::two_tree: {
                    const int pieces = pieces_of(channel, input);
                    return detail::allreduce_two_tree(std::move(channel), reduction, pieces);
                  }
                  case detail::Allreduce::scatter_allgather:
                    break;
                }
                return detail::allreduce_scatter_allgather(std::move(channel), reduction);
              }};
}

auto plan_scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
               const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scan";
  check_usable(comm, call);
  detail::check_op(call, op);
  const ConstBuffer input = detail::checked_input(call, send, receive);
  const bool any_order = commutes(op);
  const auto algorithm = choose<detail::Scan>(comm, Operation::scan, bytes_of(input), options, call);
  return Plan{call, [=](Channel channel) {
                if (input.count == 0) return nothing();
                switch (algorithm) {
                  case detail::Scan::dissemination:
                    return detail::scan_dissemination(std::move(channel), {input, receive, op, any_order});
                  case detail::Scan::chain:
                    return detail::scan_chain(std::move(channel), {input, receive, op, any_order});
                  case detail::Scan::two_tree:
                    break;
                }
                const int pieces = pieces_of(channel, input);
                return detail::scan_two_tree(std::move(channel), input, {receive, {}, {}}, op, pieces);
              }};
}

auto plan_exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::exscan";
  check_usable(comm, call);
  detail::check_op(call, op);
  const ConstBuffer input = detail::checked_input(call, send, receive);
  const auto algorithm = choose<detail::Scan>(comm, Operation::scan, bytes_of(input), options, call);
  return Plan{call, [=](Channel channel) {
                if (input.count == 0) return nothing();
                switch (algorithm) {
                  case detail::Scan::dissemination:
                    return detail::exscan_dissemination(std::move(channel), input, receive, op);
                  case detail::Scan::chain:
                    return detail::exscan_chain(std::move(channel), input, receive, op);
                  case detail::Scan::two_tree:
                    break;
                }
                const int pieces = pieces_of(channel, input);
                return detail::scan_two_tree(std::move(channel), input, {{}, receive, {}}, op, pieces);
              }};
}

auto plan_scan_and_bcast(const Comm& comm, const ConstBuffer& send, const Buffer& scan, const Buffer& total,
                         MPI_Op op, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scan_and_bcast";
  check_usable(comm, call);
  detail::check_op(call, op);
  const ConstBuffer input = detail::checked_input(call, send, scan);
  detail::checked_input(call, scan, total);
  const bool any_order = commutes(op);
  const auto algorithm =
      choose<detail::ScanAndBcast>(comm, Operation::scan_and_bcast, bytes_of(input), options, call);
  return Plan{call, [=](Channel channel) {
                if (input.count == 0) return nothing();
                if (algorithm == detail::ScanAndBcast::two_tree) {
                  const int pieces = pieces_of(channel, input);
                  return detail::scan_two_tree(std::move(channel), input, {scan, {}, total}, op, pieces);
                }
                Task<> sums = algorithm == detail::ScanAndBcast::chain
                                  ? detail::scan_chain(channel, {input, scan, op, any_order})
                                  : detail::scan_dissemination(channel, {input, scan, op, any_order});
                return detail::scan_then_bcast(std::move(channel), std::move(sums), scan, total);
              }};
}

/// The blocks of a reduce-scatter and where this rank's goes.
struct ReduceScatterCall {
  BlockList blocks;
  Buffer own;
  std::size_t bytes;
};

auto plan_reduce_scatter_of(const Comm& comm, const char* call, const ReduceScatterCall& of, MPI_Op op,
                            const CollectiveOptions& options) {
  const bool any_order = commutes(op);
  const auto algorithm =
      choose<detail::ReduceScatter>(comm, Operation::reduce_scatter, of.bytes, options, call, any_order);
  return Plan{call, [=](Channel channel) {
                if (of.bytes == 0) return nothing();
                switch (algorithm) {
                  case detail::ReduceScatter::tree: {
                    const int radix_bits = detail::tree_radix_bits(channel).up;
                    return detail::reduce_scatter_tree(std::move(channel), of.blocks, of.own, op, radix_bits);
                  }
                  case detail::ReduceScatter::halving:
                    return detail::reduce_scatter_halving(std::move(channel), of.blocks, of.own, op,
                                                          any_order);
                  case detail::ReduceScatter::pairwise:
                    break;
                }
                return detail::reduce_scatter_pairwise(std::move(channel), of.blocks, of.own, op);
              }};
}

auto plan_reduce_scatter_block(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                               const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce_scatter_block";
  check_usable(comm, call);
  detail::check_op(call, op);
  Buffer own = receive;
  ConstBuffer all = send;
  if (is_in_place(send)) {
    all = receive;
    own.count = receive.count / static_cast<std::size_t>(comm.size());
  }
  detail::check_regular(comm, call, "receive", own, "send", all);
  if (own.type != all.type) {
    throw Error(MPI_ERR_TYPE, fmt::format("{}: send and receive have different datatypes", call));
  }
  const ReduceScatterCall of{BlockList::regular(all, comm.size()), own, bytes_of(all)};
  return plan_reduce_scatter_of(comm, call, of, op, options);
}

auto plan_reduce_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, Integers counts,
                         MPI_Op op, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce_scatter";
  check_usable(comm, call);
  detail::check_op(call, op);
  detail::check_buffer(call, "receive", receive);
  const ConstBuffer all = is_in_place(send) ? ConstBuffer(receive) : send;
  const ConstBlocks blocks(all, counts);
  detail::check_irregular(comm, call, "send", blocks);
  Buffer own = receive;
  if (is_in_place(send)) own.count = static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]);
  detail::check_own_block(comm, call, "receive", own, blocks);
  const ReduceScatterCall of{BlockList::irregular(blocks, comm.size()), own, bytes_of(all)};
  return plan_reduce_scatter_of(comm, call, of, op, options);
}

auto plan_gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::gather";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  if (is_root) {
    detail::check_regular(comm, call, "send", send, "receive", receive);
  } else {
    detail::check_buffer(call, "send", send);
  }
  const std::size_t bytes =
      is_root ? bytes_of(receive) / static_cast<std::size_t>(comm.size()) : bytes_of(send);
  const auto algorithm = choose<detail::Gather>(comm, Operation::gather, bytes, options, call);
  return Plan{call, [=](Channel channel) {
                if (bytes == 0) return nothing();
                switch (algorithm) {
                  case detail::Gather::binomial:
                    return detail::gather_tree(std::move(channel), send, receive, root, 1);
                  case detail::Gather::radix_32:
                    return detail::gather_tree(std::move(channel), send, receive, root, 5);
                  case detail::Gather::direct:
                    break;
                }
                const BlockList blocks = is_root ? BlockList::regular(receive, channel.size()) : BlockList();
                return detail::gather_direct(std::move(channel), send, blocks, root);
              }};
}

auto plan_gatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive, int root,
                  const CollectiveOptions&) {
  constexpr const char* call = "wisp::gatherv";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  BlockList blocks;
  if (comm.rank() == root) {
    detail::check_irregular(comm, call, "receive", receive);
    detail::check_own_block(comm, call, "send", send, receive);
    blocks = BlockList::irregular(receive, comm.size());
  } else {
    detail::check_buffer(call, "send", send);
  }
  return Plan{call,
              [=](Channel channel) { return detail::gather_direct(std::move(channel), send, blocks, root); }};
}

auto plan_gatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const Merge& merge, const CollectiveOptions&) {
  constexpr const char* call = "wisp::gatherm";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  detail::check_merge(call, send, merge);
  if (comm.rank() == root) detail::check_buffer(call, "receive", receive);
  return Plan{call, [=](Channel channel) {
                return detail::gather_merge(std::move(channel), send, receive, root, merge);
              }};
}

auto plan_allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                    const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgather";
  check_usable(comm, call);
  detail::check_regular(comm, call, "send", send, "receive", receive);
  const std::size_t bytes = bytes_of(receive) / static_cast<std::size_t>(comm.size());
  const auto algorithm = choose<detail::Allgather>(comm, Operation::allgather, bytes, options, call);
  return Plan{call, [=](Channel channel) {
                if (bytes == 0) return nothing();
                switch (algorithm) {
                  case detail::Allgather::tree: {
                    const auto radix_bits = detail::tree_radix_bits(channel);
                    return detail::allgather_tree(std::move(channel), send, receive, radix_bits);
                  }
                  case detail::Allgather::hypercube:
                    return detail::allgather_hypercube(std::move(channel), send, receive);
                  case detail::Allgather::ring: {
                    const BlockList blocks = BlockList::regular(receive, channel.size());
                    return detail::allgather_ring(std::move(channel), send, blocks);
                  }
                  case detail::Allgather::dissemination:
                    break;
                }
                const BlockList blocks = BlockList::regular(receive, channel.size());
                return detail::allgather_dissemination(std::move(channel), send, blocks);
              }};
}

auto plan_allgatherv(const Comm& comm, const ConstBuffer& send, const Blocks& receive,
                     const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allgatherv";
  check_usable(comm, call);
  detail::check_irregular(comm, call, "receive", receive);
  detail::check_own_block(comm, call, "send", send, receive);
  const BlockList blocks = BlockList::irregular(receive, comm.size());
  std::size_t bytes = 0;
  for (int rank = 0; rank < comm.size(); ++rank) bytes += blocks.bytes(rank);
  const auto algorithm = choose<detail::Allgatherv>(
      comm, Operation::allgatherv, bytes / static_cast<std::size_t>(comm.size()), options, call);
  return Plan{call, [=](Channel channel) {
                return algorithm == detail::Allgatherv::ring
                           ? detail::allgather_ring(std::move(channel), send, blocks)
                           : detail::allgather_dissemination(std::move(channel), send, blocks);
              }};
}

auto plan_allgatherm(const Comm& comm, const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                     const CollectiveOptions&) {
  constexpr const char* call = "wisp::allgatherm";
  check_usable(comm, call);
  detail::check_merge(call, send, merge);
  detail::check_buffer(call, "receive", receive);
  return Plan{call, [=](Channel channel) {
                return detail::allgather_merge(std::move(channel), send, receive, merge);
              }};
}

auto plan_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root,
                  const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scatter";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  const bool is_root = comm.rank() == root;
  if (is_root) {
    detail::check_regular(comm, call, "receive", receive, "send", send);
  } else {
    detail::check_buffer(call, "receive", receive);
  }
  const std::size_t bytes =
      is_root ? bytes_of(send) / static_cast<std::size_t>(comm.size()) : bytes_of(receive);
  const auto algorithm = choose<detail::Scatter>(comm, Operation::scatter, bytes, options, call);
  return Plan{call, [=](Channel channel) {
                if (bytes == 0) return nothing();
                switch (algorithm) {
                  case detail::Scatter::binomial:
                    return detail::scatter_tree(std::move(channel), send, receive, root, 1);
                  case detail::Scatter::radix_4:
                    return detail::scatter_tree(std::move(channel), send, receive, root, 2);
                  case detail::Scatter::direct:
                    break;
                }
                const BlockList blocks = is_root ? BlockList::regular(send, channel.size()) : BlockList();
                return detail::scatter_direct(std::move(channel), blocks, receive, root);
              }};
}

auto plan_scatterv(const Comm& comm, const ConstBlocks& send, const Buffer& receive, int root,
                   const CollectiveOptions&) {
  constexpr const char* call = "wisp::scatterv";
  check_usable(comm, call);
  detail::check_root(comm, call, root);
  BlockList blocks;
  if (comm.rank() == root) {
    detail::check_irregular(comm, call, "send", send);
    detail::check_own_block(comm, call, "receive", receive, send);
    blocks = BlockList::irregular(send, comm.size());
  } else {
    detail::check_buffer(call, "receive", receive);
  }
  return Plan{call, [=](Channel channel) {
                return detail::scatter_direct(std::move(channel), blocks, receive, root);
              }};
}

/// In place, what is received takes the place of what is sent: a copy of it is sent instead.
template <class Exchange>
Task<> exchange_in_place(Channel channel, BlockList receive, Exchange exchange) {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> begins;
  std::size_t end = 0;
  for (int rank = 0; rank < channel.size(); ++rank) {
    begins.push_back(static_cast<std::int64_t>(end));
    counts.push_back(static_cast<std::int64_t>(receive.bytes(rank)));
    end += receive.bytes(rank);
  }
  const detail::ScratchVector packed(end);
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto begin = static_cast<std::size_t>(begins[static_cast<std::size_t>(rank)]);
    if (receive.bytes(rank) > 0) detail::pack(receive(rank), receive.layout(rank), packed.data() + begin);
  }
  const BlockList copies =
      BlockList::irregular(ConstBlocks(packed.data(), counts, begins, MPI_PACKED), channel.size());
  co_await exchange(channel, copies, receive);
}

auto plan_alltoall(const Comm& comm, const ConstBuffer& send, const Buffer& receive,
                   const CollectiveOptions& options) {
  constexpr const char* call = "wisp::alltoall";
  check_usable(comm, call);
  const auto ranks = static_cast<std::size_t>(comm.size());
  ConstBuffer own = send;
  if (!is_in_place(send)) {
    detail::check_regular(comm, call, "send", in_place(), "send", send);
    own.count = send.count / ranks;
  }
  detail::check_regular(comm, call, "a block of send", own, "receive", receive);
  const std::size_t bytes = bytes_of(receive) / ranks;
  const auto algorithm = choose<detail::Alltoall>(comm, Operation::alltoall, bytes, options, call);
  const auto exchange = [=](Channel channel, BlockList from, BlockList to) {
    switch (algorithm) {
      case detail::Alltoall::bruck:
        return detail::alltoall_bruck(std::move(channel), from, to);
      case detail::Alltoall::pairwise:
        return detail::alltoall_pairwise(std::move(channel), from, to);
      case detail::Alltoall::direct:
        break;
    }
    return detail::alltoall_direct(std::move(channel), from, to);
  };
  return Plan{call, [=](Channel channel) {
                if (bytes == 0) return nothing();
                const BlockList to = BlockList::regular(receive, channel.size());
                return is_in_place(send) ? exchange_in_place(std::move(channel), to, exchange)
                                         : exchange(channel, BlockList::regular(send, channel.size()), to);
              }};
}

auto plan_irregular_alltoall(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                             const CollectiveOptions& options, const char* call) {
  check_usable(comm, call);
  detail::check_irregular(comm, call, "receive", receive);
  if (!is_in_place(send)) detail::check_irregular(comm, call, "send", send);
  const BlockList to = BlockList::irregular(receive, comm.size());
  const BlockList from = is_in_place(send) ? to : BlockList::irregular(send, comm.size());
  if (from.bytes(comm.rank()) != to.bytes(comm.rank())) {
    throw Error(MPI_ERR_TRUNCATE, fmt::format("{}: rank {} sends itself {} bytes, but receives {}", call,
                                              comm.rank(), from.bytes(comm.rank()), to.bytes(comm.rank())));
  }
  // Only the number of ranks is known to all.
  const auto algorithm = choose<detail::Alltoallv>(comm, Operation::alltoallv, 0, options, call);
  const auto exchange = [=](Channel channel, BlockList out, BlockList in) {
    return algorithm == detail::Alltoallv::direct
               ? detail::alltoall_direct(std::move(channel), std::move(out), std::move(in))
               : detail::alltoall_pairwise(std::move(channel), std::move(out), std::move(in));
  };
  return Plan{call, [=, keeps_place = is_in_place(send)](Channel channel) {
                return keeps_place ? exchange_in_place(std::move(channel), to, exchange)
                                   : exchange(std::move(channel), from, to);
              }};
}

auto plan_alltoallv(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options) {
  return plan_irregular_alltoall(comm, send, receive, options, "wisp::alltoallv");
}

auto plan_alltoallw(const Comm& comm, const ConstBlocks& send, const Blocks& receive,
                    const CollectiveOptions& options) {
  return plan_irregular_alltoall(comm, send, receive, options, "wisp::alltoallw");
}

template <class Run>
Task<> task_of(const Comm& comm, const CollectiveOptions& options, Plan<Run> plan) {
  return plan.run(comm.channel(plan.call, options.own_tag));
}

template <class Run>
Request persistent(const Comm& comm, const CollectiveOptions& options, Plan<Run> plan) {
  return {std::function<Task<>()>(
              [run = std::move(plan.run), channel = CommAccess::persistent_channel(
                                              comm, plan.call, options.own_tag)] { return run(channel); }),
          CommAccess::context(comm)};
}

}  // namespace

// The four faces of a collective: a task, a blocking, a nonblocking and a persistent member.
#define WISP_LIST(...) __VA_ARGS__
#define WISP_FACES(name, parameters, arguments)                                            \
  Task<> name(const Comm& comm, WISP_LIST parameters const CollectiveOptions& options) {   \
    return task_of(comm, options, plan_##name(comm, WISP_LIST arguments options));         \
  }                                                                                        \
  void Comm::name(WISP_LIST parameters const CollectiveOptions& options) const {           \
    run(wisp::name(*this, WISP_LIST arguments options));                                   \
  }                                                                                        \
  Request Comm::i##name(WISP_LIST parameters const CollectiveOptions& options) const {     \
    return start(wisp::name(*this, WISP_LIST arguments options));                          \
  }                                                                                        \
  Request Comm::name##_init(WISP_LIST parameters const CollectiveOptions& options) const { \
    return persistent(*this, options, plan_##name(*this, WISP_LIST arguments options));    \
  }

WISP_FACES(barrier, (), ())
WISP_FACES(bcast, (const Buffer& buffer, int root, ), (buffer, root, ))
WISP_FACES(reduce, (const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root, ),
           (send, receive, op, root, ))
WISP_FACES(allreduce, (const ConstBuffer& send, const Buffer& receive, MPI_Op op, ), (send, receive, op, ))
WISP_FACES(scan, (const ConstBuffer& send, const Buffer& receive, MPI_Op op, ), (send, receive, op, ))
WISP_FACES(exscan, (const ConstBuffer& send, const Buffer& receive, MPI_Op op, ), (send, receive, op, ))
WISP_FACES(scan_and_bcast,
           (const ConstBuffer& send, const Buffer& inclusive, const Buffer& total, MPI_Op op, ),
           (send, inclusive, total, op, ))
WISP_FACES(reduce_scatter_block, (const ConstBuffer& send, const Buffer& receive, MPI_Op op, ),
           (send, receive, op, ))
WISP_FACES(reduce_scatter, (const ConstBuffer& send, const Buffer& receive, Integers counts, MPI_Op op, ),
           (send, receive, counts, op, ))
WISP_FACES(gather, (const ConstBuffer& send, const Buffer& receive, int root, ), (send, receive, root, ))
WISP_FACES(gatherv, (const ConstBuffer& send, const Blocks& receive, int root, ), (send, receive, root, ))
WISP_FACES(gatherm, (const ConstBuffer& send, const Buffer& receive, int root, const Merge& merge, ),
           (send, receive, root, merge, ))
WISP_FACES(allgather, (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES(allgatherv, (const ConstBuffer& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES(allgatherm, (const ConstBuffer& send, const Buffer& receive, const Merge& merge, ),
           (send, receive, merge, ))
WISP_FACES(scatter, (const ConstBuffer& send, const Buffer& receive, int root, ), (send, receive, root, ))
WISP_FACES(scatterv, (const ConstBlocks& send, const Buffer& receive, int root, ), (send, receive, root, ))
WISP_FACES(alltoall, (const ConstBuffer& send, const Buffer& receive, ), (send, receive, ))
WISP_FACES(alltoallv, (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))
WISP_FACES(alltoallw, (const ConstBlocks& send, const Blocks& receive, ), (send, receive, ))

#undef WISP_FACES
#undef WISP_LIST

namespace detail {

Task<> bcast_on(Channel channel, Buffer buffer, int root) {
  const int radix_bits = down_radix_bits(channel);
  return bcast_tree(std::move(channel), buffer, root, radix_bits);
}

Task<> allgather_on(Channel channel, ConstBuffer send, Buffer receive) {
  if (channel.world().machine().shares_cores) {
    const TreeRadixBits radix_bits = tree_radix_bits(channel);
    return allgather_tree(std::move(channel), send, receive, radix_bits);
  }
  const BlockList blocks = BlockList::regular(receive, channel.size());
  return allgather_dissemination(std::move(channel), send, blocks);
}

Task<> allreduce_on(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  if (channel.world().machine().shares_cores) {
    const TreeRadixBits radix_bits = tree_radix_bits(channel);
    return allreduce_tree(std::move(channel), send, receive, op, radix_bits);
  }
  return allreduce_recursive_doubling(std::move(channel), {send, receive, op, false});
}

TreeNeighbors tree_neighbors(const Channel& channel) {
  const KnomialTree tree(channel.rank(), channel.size(), 0, down_radix_bits(channel));
  TreeNeighbors neighbors{tree.is_root() ? -1 : tree.parent(), {}, channel.rank() + tree.subtree_size()};
  for (int k = 0; k < tree.child_count(); ++k) neighbors.children.push_back(tree.child(k));
  return neighbors;
}

}  // namespace detail

}  // namespace wisp
