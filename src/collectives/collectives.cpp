#include "wisp/collectives.hpp"

#include <fmt/format.h>

#include "collectives/selection.hpp"
#include "comm/comm_access.hpp"
#include "pattern/knomial_tree.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/detail/tree_neighbors.hpp"
#include "wisp/error.hpp"

// The collectives: arguments checked, in-place resolved, an algorithm chosen; then their three faces.

namespace wisp {
namespace {

using detail::check_usable;
using detail::check_within;
using detail::TypeLayout;

Task<> nothing() {
  co_return;
}

void check_root(const Comm& comm, const char* call, int root) {
  check_within(MPI_ERR_ROOT, call, "root", root, 0, comm.size() - 1);
}

void check_buffer(const char* call, const char* name, const ConstBuffer& buffer) {
  if (buffer.type == MPI_DATATYPE_NULL) [[unlikely]] {
    throw Error(MPI_ERR_TYPE, fmt::format("{}: the datatype of {} is MPI_DATATYPE_NULL", call, name));
  }
  if (buffer.address == MPI_IN_PLACE) [[unlikely]] {
    throw Error(MPI_ERR_BUFFER, fmt::format("{}: {} cannot be MPI_IN_PLACE here", call, name));
  }
}

void check_op(const char* call, MPI_Op op) {
  if (op == MPI_OP_NULL) [[unlikely]]
    throw Error(MPI_ERR_OP, fmt::format("{}: op = MPI_OP_NULL", call));
}

/// The input of a reduction whose result goes to `receive`.
ConstBuffer resolve_input(const char* call, const ConstBuffer& send, const Buffer& receive) {
  check_buffer(call, "receive", receive);
  if (is_in_place(send)) return receive;
  check_buffer(call, "send", send);
  if (send.count != receive.count) [[unlikely]] {
    throw Error(MPI_ERR_COUNT,
                fmt::format("{}: send has {} elements, but receive has {}", call, send.count, receive.count));
  }
  if (send.type != receive.type) [[unlikely]] {
    throw Error(MPI_ERR_TYPE, fmt::format("{}: send and receive have different datatypes", call));
  }
  return send;
}

/// `receive` is one block for each rank, as large as what this rank sends.
void check_blocks(const Comm& comm, const char* call, const ConstBuffer& send, const Buffer& receive) {
  check_buffer(call, "receive", receive);
  const auto ranks = static_cast<std::size_t>(comm.size());
  if (receive.count % ranks != 0) [[unlikely]] {
    throw Error(MPI_ERR_COUNT, fmt::format("{}: receive has {} elements, not a multiple of {} ranks", call,
                                           receive.count, ranks));
  }
  if (is_in_place(send)) return;
  check_buffer(call, "send", send);
  if (send.type == receive.type && send.count * ranks == receive.count) [[likely]]
    return;
  const std::size_t sent = send.count * TypeLayout::of(send.type).size;
  const std::size_t room = receive.count / ranks * TypeLayout::of(receive.type).size;
  if (sent != room) {
    throw Error(MPI_ERR_TRUNCATE,
                fmt::format("{}: send has {} bytes, but a block of receive has {}", call, sent, room));
  }
}

bool commutes(MPI_Op op) {
  int commutative = 0;
  detail::check_mpi(MPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  return commutative != 0;
}

/// A reduction whose result every rank gets: `choose` gives the algorithm.
Task<> reduce_for_all(const Comm& comm, const char* call, const ConstBuffer& send, const Buffer& receive,
                      MPI_Op op, OwnTag own_tag, Task<> (*choose)(Channel, ConstBuffer, Buffer, MPI_Op)) {
  check_usable(comm, call);
  check_op(call, op);
  const ConstBuffer input = resolve_input(call, send, receive);
  const Channel channel = comm.channel(call, own_tag);
  return input.count == 0 ? nothing() : choose(channel, input, receive, op);
}

}  // namespace

Task<> barrier(const Comm& comm, OwnTag own_tag) {
  return detail::choose_barrier(comm.channel("wisp::barrier", own_tag));
}

Task<> bcast(const Comm& comm, const Buffer& buffer, int root, OwnTag own_tag) {
  constexpr const char* call = "wisp::bcast";
  check_usable(comm, call);
  check_root(comm, call, root);
  check_buffer(call, "buffer", buffer);
  const Channel channel = comm.channel(call, own_tag);
  if (buffer.count == 0) return nothing();
  return detail::bcast_on(channel, buffer, root);
}

Task<> reduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root,
              OwnTag own_tag) {
  constexpr const char* call = "wisp::reduce";
  check_usable(comm, call);
  check_root(comm, call, root);
  check_op(call, op);
  ConstBuffer input = send;
  if (comm.rank() == root) {
    input = resolve_input(call, send, receive);
  } else {
    check_buffer(call, "send", send);
  }
  const Channel channel = comm.channel(call, own_tag);
  if (input.count == 0) return nothing();
  const int radix_bits = detail::up_radix_bits(channel);
  return root == 0 || commutes(op) ? detail::reduce_tree(channel, input, receive, op, root, radix_bits)
                                   : detail::reduce_ordered(channel, input, receive, op, root, radix_bits);
}

Task<> allreduce(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op,
                 OwnTag own_tag) {
  return reduce_for_all(comm, "wisp::allreduce", send, receive, op, own_tag, detail::choose_allreduce);
}

Task<> scan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag) {
  return reduce_for_all(comm, "wisp::scan", send, receive, op, own_tag, detail::choose_scan);
}

Task<> exscan(const Comm& comm, const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag) {
  return reduce_for_all(comm, "wisp::exscan", send, receive, op, own_tag, detail::choose_exscan);
}

Task<> gather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, int root, OwnTag own_tag) {
  constexpr const char* call = "wisp::gather";
  check_usable(comm, call);
  check_root(comm, call, root);
  if (comm.rank() == root) {
    check_blocks(comm, call, send, receive);
  } else {
    check_buffer(call, "send", send);
  }
  const Channel channel = comm.channel(call, own_tag);
  if ((comm.rank() == root ? receive.count : send.count) == 0) return nothing();
  return detail::gather_tree(channel, send, receive, root, detail::up_radix_bits(channel));
}

Task<> allgather(const Comm& comm, const ConstBuffer& send, const Buffer& receive, OwnTag own_tag) {
  constexpr const char* call = "wisp::allgather";
  check_usable(comm, call);
  check_blocks(comm, call, send, receive);
  const Channel channel = comm.channel(call, own_tag);
  if (receive.count == 0) return nothing();
  return detail::choose_allgather(channel, send, receive);
}

namespace detail {

Task<> bcast_on(Channel channel, Buffer buffer, int root) {
  return bcast_tree(channel, buffer, root, down_radix_bits(channel));
}

Task<> allgather_on(Channel channel, ConstBuffer send, Buffer receive) {
  return choose_allgather(channel, send, receive);
}

Task<> allreduce_on(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  return choose_allreduce(channel, send, receive, op);
}

TreeNeighbors tree_neighbors(const Channel& channel) {
  const KnomialTree tree(channel.rank(), channel.size(), 0, down_radix_bits(channel));
  TreeNeighbors neighbors{tree.is_root() ? -1 : tree.parent(), {}, channel.rank() + tree.subtree_size()};
  for (int k = 0; k < tree.child_count(); ++k) neighbors.children.push_back(tree.child(k));
  return neighbors;
}

}  // namespace detail

void Comm::barrier() const {
  run(wisp::barrier(*this));
}
void Comm::bcast(const Buffer& buffer, int root) const {
  run(wisp::bcast(*this, buffer, root));
}
void Comm::reduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root) const {
  run(wisp::reduce(*this, send, receive, op, root));
}
void Comm::allreduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op) const {
  run(wisp::allreduce(*this, send, receive, op));
}
void Comm::scan(const ConstBuffer& send, const Buffer& receive, MPI_Op op) const {
  run(wisp::scan(*this, send, receive, op));
}
void Comm::exscan(const ConstBuffer& send, const Buffer& receive, MPI_Op op) const {
  run(wisp::exscan(*this, send, receive, op));
}
void Comm::gather(const ConstBuffer& send, const Buffer& receive, int root) const {
  run(wisp::gather(*this, send, receive, root));
}
void Comm::allgather(const ConstBuffer& send, const Buffer& receive) const {
  run(wisp::allgather(*this, send, receive));
}

Request Comm::ibarrier(OwnTag own_tag) const {
  return start(wisp::barrier(*this, own_tag));
}
Request Comm::ibcast(const Buffer& buffer, int root, OwnTag own_tag) const {
  return start(wisp::bcast(*this, buffer, root, own_tag));
}
Request Comm::ireduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root,
                      OwnTag own_tag) const {
  return start(wisp::reduce(*this, send, receive, op, root, own_tag));
}
Request Comm::iallreduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag) const {
  return start(wisp::allreduce(*this, send, receive, op, own_tag));
}
Request Comm::iscan(const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag) const {
  return start(wisp::scan(*this, send, receive, op, own_tag));
}
Request Comm::iexscan(const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag) const {
  return start(wisp::exscan(*this, send, receive, op, own_tag));
}
Request Comm::igather(const ConstBuffer& send, const Buffer& receive, int root, OwnTag own_tag) const {
  return start(wisp::gather(*this, send, receive, root, own_tag));
}
Request Comm::iallgather(const ConstBuffer& send, const Buffer& receive, OwnTag own_tag) const {
  return start(wisp::allgather(*this, send, receive, own_tag));
}

}  // namespace wisp
