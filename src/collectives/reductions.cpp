// Reductions: their plans and faces.

#include "collectives/plan.hpp"
#include "transport/throw_error.hpp"

namespace wisp {
namespace {

using namespace detail;

auto plan_reduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce";
  check_usable(comm, call);
  check_root(comm, call, root);
  check_op(call, op);
  ConstBuffer input = send;
  if (comm.rank() == root) {
    input = checked_input(call, send, receive);
  } else {
    check_buffer(call, "send", send);
  }
  const bool any_order = commutes(op);
  const auto algorithm = choose<Reduce>(comm, Operation::reduce, bytes_of(input), options, call, any_order);
  return Plan{
      call, Alike{.root = root, .bytes = signed_of(bytes_of(input)), .op = op}, [=](Channel channel) {
        if (input.count == 0) return nothing();
        const Reduction reduction{input, receive, op, any_order};
        switch (algorithm) {
          case Reduce::circulant: {
            const int pieces = circulant_pieces_of(channel, bytes_of(input), input.count);
            return reduce_circulant(std::move(channel), reduction, root, pieces);
          }
          case Reduce::ordered:
            return reduce_ordered(std::move(channel), input, receive, op, root);
          case Reduce::binomial:
          case Reduce::radix_4:
          case Reduce::radix_32:
            break;
        }
        const int radix_bits = algorithm == Reduce::binomial ? 1 : algorithm == Reduce::radix_4 ? 2 : 5;
        if (root == 0 || any_order) {
          return reduce_tree(std::move(channel), input, receive, op, root, radix_bits);
        }
        return radix_bits == 1
                   ? reduce_ordered(std::move(channel), input, receive, op, root)
                   : reduce_to_zero_first(std::move(channel), input, receive, op, root, radix_bits);
      }};
}

auto plan_allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                    const CollectiveOptions& options) {
  constexpr const char* call = "wisp::allreduce";
  check_usable(comm, call);
  check_op(call, op);
  const ConstBuffer input = checked_input(call, send, receive);
  const bool any_order = commutes(op);
  const auto algorithm =
      choose<Allreduce>(comm, Operation::allreduce, bytes_of(input), options, call, any_order);
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input)), .op = op}, [=](Channel channel) {
                if (input.count == 0) return nothing();
                const Reduction reduction{input, receive, op, any_order};
                switch (algorithm) {
                  case Allreduce::recursive_doubling:
                    return allreduce_recursive_doubling(std::move(channel), reduction);
                  case Allreduce::tree: {
                    const auto radix_bits = tree_radix_bits(channel);
                    return allreduce_tree(std::move(channel), input, receive, op, radix_bits);
                  }
                  case Allreduce::two_tree: {
                    const int pieces = pieces_of(channel, input);
                    return allreduce_two_tree(std::move(channel), reduction, pieces);
                  }
                  case Allreduce::circulant:
                    break;
                }
                return allreduce_circulant(std::move(channel), reduction);
              }};
}

auto plan_scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
               const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scan";
  check_usable(comm, call);
  check_op(call, op);
  const ConstBuffer input = checked_input(call, send, receive);
  const bool any_order = commutes(op);
  const auto algorithm = choose<Scan>(comm, Operation::scan, bytes_of(input), options, call);
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input)), .op = op}, [=](Channel channel) {
                if (input.count == 0) return nothing();
                switch (algorithm) {
                  case Scan::dissemination:
                    return scan_dissemination(std::move(channel), {input, receive, op, any_order});
                  case Scan::chain:
                    return scan_chain(std::move(channel), {input, receive, op, any_order});
                  case Scan::two_tree:
                    break;
                }
                const int pieces = pieces_of(channel, input);
                return scan_two_tree(std::move(channel), input, {receive, {}, {}}, op, pieces);
              }};
}

auto plan_exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::exscan";
  check_usable(comm, call);
  check_op(call, op);
  const ConstBuffer input = checked_input(call, send, receive);
  const auto algorithm = choose<Scan>(comm, Operation::scan, bytes_of(input), options, call);
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input)), .op = op}, [=](Channel channel) {
                if (input.count == 0) return nothing();
                switch (algorithm) {
                  case Scan::dissemination:
                    return exscan_dissemination(std::move(channel), input, receive, op);
                  case Scan::chain:
                    return exscan_chain(std::move(channel), input, receive, op);
                  case Scan::two_tree:
                    break;
                }
                const int pieces = pieces_of(channel, input);
                return scan_two_tree(std::move(channel), input, {{}, receive, {}}, op, pieces);
              }};
}

auto plan_scan_and_bcast(const Comm& comm, const ConstBuffer& send, const Buffer& scan, const Buffer& total,
                         MPI_Op op, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scan_and_bcast";
  check_usable(comm, call);
  check_op(call, op);
  const ConstBuffer input = checked_input(call, send, scan);
  checked_input(call, scan, total);
  const bool any_order = commutes(op);
  const auto algorithm =
      choose<ScanAndBcast>(comm, Operation::scan_and_bcast, bytes_of(input), options, call);
  return Plan{call, Alike{.bytes = signed_of(bytes_of(input)), .op = op}, [=](Channel channel) {
                if (input.count == 0) return nothing();
                if (algorithm == ScanAndBcast::two_tree) {
                  const int pieces = pieces_of(channel, input);
                  return scan_two_tree(std::move(channel), input, {scan, {}, total}, op, pieces);
                }
                Task<> sums = algorithm == ScanAndBcast::chain
                                  ? scan_chain(channel, {input, scan, op, any_order})
                                  : scan_dissemination(channel, {input, scan, op, any_order});
                return scan_then_bcast(std::move(channel), std::move(sums), scan, total);
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
      choose<ReduceScatter>(comm, Operation::reduce_scatter, of.bytes, options, call, any_order);
  return Plan{call, Alike{.bytes = signed_of(of.bytes), .op = op}, [=](Channel channel) {
                if (of.bytes == 0) return nothing();
                switch (algorithm) {
                  case ReduceScatter::tree: {
                    const int radix_bits = tree_radix_bits(channel).up;
                    return reduce_scatter_tree(std::move(channel), of.blocks, of.own, op, radix_bits);
                  }
                  case ReduceScatter::circulant:
                    return reduce_scatter_circulant(std::move(channel), of.blocks, of.own, op);
                  case ReduceScatter::pairwise:
                    break;
                }
                return reduce_scatter_pairwise(std::move(channel), of.blocks, of.own, op);
              }};
}

auto plan_reduce_scatter_block(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                               const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce_scatter_block";
  check_usable(comm, call);
  check_op(call, op);
  Buffer own = receive;
  ConstBuffer all = send;
  if (is_in_place(send)) {
    all = receive;
    own.count = receive.count / static_cast<std::size_t>(comm.size());
  }
  check_regular(comm.size(), call, "receive", own, "send", all);
  if (own.type != all.type) {
    throw_error(MPI_ERR_TYPE, "{}: send and receive have different datatypes", call);
  }
  const ReduceScatterCall of{BlockList::regular(all, comm.size()), own, bytes_of(all)};
  return plan_reduce_scatter_of(comm, call, of, op, options);
}

auto plan_reduce_scatter(const Comm& comm, const ConstBuffer& send, const Buffer& receive, Integers counts,
                         MPI_Op op, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::reduce_scatter";
  check_usable(comm, call);
  check_op(call, op);
  check_buffer(call, "receive", receive);
  const ConstBuffer all = is_in_place(send) ? ConstBuffer(receive) : send;
  const ConstBlocks blocks(all, counts);
  check_irregular(comm, call, "send", blocks);
  Buffer own = receive;
  if (is_in_place(send)) own.count = static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]);
  check_own_block(comm, call, "receive", own, blocks);
  const ReduceScatterCall of{BlockList::irregular(blocks, comm.size()), own, bytes_of(all)};
  return plan_reduce_scatter_of(comm, call, of, op, options);
}

}  // namespace

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

}  // namespace wisp
