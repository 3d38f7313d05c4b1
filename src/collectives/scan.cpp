// Scans: over ranks up to one's own, without it, and with the sum of all.

#include "collectives/collective.hpp"

namespace wisp {

namespace detail {
namespace {

using T = const Terms&;

constexpr Cost scan_dissemination_cost(T t) {
  return {t.log2, t.log2 * t.n, t.log2, t.p * t.log2, t.p * t.log2 * t.n};
}
/// A rank that has told the next one is done: successive scans follow each other along the chain.
constexpr Cost scan_chain_cost(T t) {
  return {t.p - 1, (t.p - 1) * t.n, (t.p - 1) / 8, t.p - 1, (t.p - 1) * t.n};
}
constexpr Cost scan_two_tree_cost(T t) {
  const double depth = 4 * t.log2;
  const double sent = depth + t.pieces;
  return {sent, sent * 2 * t.n / t.pieces, depth, 2 * t.p * t.pieces, 3 * t.p * t.n};
}

constexpr Algorithm scan_algorithms[] = {
    {"dissemination", scan_dissemination_cost,
     [](Channel channel, const Arguments& given) {
       return scan_dissemination(std::move(channel), given.reduction());
     }},
    {"chain", scan_chain_cost,
     [](Channel channel, const Arguments& given) {
       return scan_chain(std::move(channel), given.reduction());
     }},
    {"two_tree", scan_two_tree_cost, [](Channel channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send_buffer(), {given.receive_buffer(), {}, {}},
                            given.op);
     }}};

constexpr Algorithm exscan_algorithms[] = {
    {"dissemination", scan_dissemination_cost,
     [](Channel channel, const Arguments& given) {
       return exscan_dissemination(std::move(channel), given.send_buffer(), given.receive_buffer(), given.op);
     }},
    {"chain", scan_chain_cost,
     [](Channel channel, const Arguments& given) {
       return exscan_chain(std::move(channel), given.send_buffer(), given.receive_buffer(), given.op);
     }},
    {"two_tree", scan_two_tree_cost, [](Channel channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send_buffer(), {{}, given.receive_buffer(), {}},
                            given.op);
     }}};

constexpr Algorithm scan_and_bcast_algorithms[] = {
    {"dissemination",
     [](T t) {
       return Cost{2 * t.log2, 2 * t.log2 * t.n, 2 * t.log2, t.p * (t.log2 + 1), t.p * (t.log2 + 1) * t.n};
     },
     [](Channel channel, const Arguments& given) {
       Task<> sums = scan_dissemination(channel, given.reduction());
       return scan_then_bcast(std::move(channel), std::move(sums), given.receive_buffer(), given.total);
     }},
    {"chain",
     [](T t) {
       return Cost{t.p - 1 + t.log2, (t.p - 1 + t.log2) * t.n, (t.p - 1) / 2 + t.depth_4, 2 * t.p,
                   2 * t.p * t.n};
     },
     [](Channel channel, const Arguments& given) {
       Task<> sums = scan_chain(channel, given.reduction());
       return scan_then_bcast(std::move(channel), std::move(sums), given.receive_buffer(), given.total);
     }},
    {"two_tree",
     [](T t) {
       const double depth = 4 * t.log2;
       const double sent = depth + t.pieces;
       return Cost{sent, sent * 3 * t.n / t.pieces, depth, 3 * t.p * t.pieces, 4 * t.p * t.n};
     },
     [](Channel channel, const Arguments& given) {
       return scan_two_tree(std::move(channel), given.send_buffer(),
                            {given.receive_buffer(), {}, given.total}, given.op);
     }}};

}  // namespace

constinit const Collective scan_row{"scan", scan_algorithms};
constinit const Collective exscan_row{"exscan", exscan_algorithms};
constinit const Collective scan_and_bcast_row{"scan_and_bcast", scan_and_bcast_algorithms};

namespace {

Arguments checked_scan(const Comm& comm, const char* call, const ConstBuffer& send, const Buffer& receive,
                       MPI_Op op) {
  check_member(comm, call);
  check_op(call, op);
  return reduction_arguments(checked_input(call, send, receive), receive, op);
}

}  // namespace
}  // namespace detail

Operation scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
               const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scan";
  return detail::make_operation(comm, call, detail::scan_row,
                                detail::checked_scan(comm, call, send, receive, op), options);
}

Operation exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                 const CollectiveOptions& options) {
  constexpr const char* call = "wisp::exscan";
  return detail::make_operation(comm, call, detail::exscan_row,
                                detail::checked_scan(comm, call, send, receive, op), options);
}

Operation scan_and_bcast(const Comm& comm, const ConstBuffer& send, const Buffer& scan, const Buffer& total,
                         MPI_Op op, const CollectiveOptions& options) {
  constexpr const char* call = "wisp::scan_and_bcast";
  detail::Arguments given = detail::checked_scan(comm, call, send, scan, op);
  detail::checked_input(call, given.send_buffer(), total);
  given.total = total;
  return detail::make_operation(comm, call, detail::scan_and_bcast_row, std::move(given), options);
}

}  // namespace wisp
