#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "wisp/buffer.hpp"
#include "wisp/channel.hpp"
#include "wisp/range.hpp"
#include "wisp/request.hpp"
#include "wisp/status.hpp"

namespace wisp {

namespace detail {
struct Context;
struct CommAccess;
}  // namespace detail

/// A communicator: a range of the ranks of an MPI communicator. A value: copies are the same communicator,
/// copying is cheap, destruction frees, and nothing but `duplicate` (once) and `to_mpi` is collective.
///
/// Every operation has three faces: the member blocks (`comm.bcast`), the member with an i gives a Request
/// (`comm.ibcast`), and the free function of the same name gives a Task to await (`co_await bcast(comm, …)`).
///
/// Communicators that have at most one process in common never interfere. Where two share more, operations
/// that run on both at one time need different tags: messages their `tag`, nonblocking collectives an
/// `own_tag`. Operations on one communicator, started in the same order everywhere, never interfere.
class Comm {
 public:
  /// The empty communicator: no ranks, no operations.
  Comm() = default;

  /// All ranks of `comm`, with messages isolated from the caller's own. Collective over `comm` the first time
  /// (one MPI_Comm_dup, cached with `comm` and freed with it or at MPI_Finalize), local afterwards.
  static Comm duplicate(MPI_Comm comm);

  /// All ranks of `comm`, sharing its context. Local. Errors of MPI are handled as `comm` says. The caller's
  /// own receives on `comm` must not use MPI_ANY_TAG while operations of wisp run, and tags of its own
  /// messages must differ from those it gives to wisp.
  static Comm attach(MPI_Comm comm);

  /// The caller's rank, or MPI_UNDEFINED if it is not a member.
  int rank() const noexcept { return rank_ < 0 ? MPI_UNDEFINED : rank_; }
  int size() const noexcept { return range_.size; }
  bool empty() const noexcept { return range_.empty(); }
  bool is_member() const noexcept { return rank_ >= 0; }

  /// The ranks first, first + stride, … up to last as a communicator; empty if last < first. Local, O(1), no
  /// message (Axtmann et al. 2018, section V-A). Who is not a member may make it too.
  Comm range(int first, int last, int stride = 1) const;

  /// The ranks as a map to those of the MPI communicator below.
  const Range& world_range() const noexcept { return range_; }
  /// The rank in `other` of the process with `rank` here, or MPI_UNDEFINED if it is no member of `other`.
  int translate(int rank, const Comm& other) const;

  /// A real MPI communicator with the same ranks, for other libraries; the caller frees it. Collective.
  MPI_Comm to_mpi(int tag = 0) const;

  /// The largest tag of a message, and the largest own tag of a collective.
  int tag_upper_bound() const;

  // Point-to-point. A destination or source may be MPI_PROC_NULL; a source any_source, a tag any_tag.
  void send(const ConstBuffer& buffer, int destination, int tag = 0) const;
  void ssend(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Status receive(const Buffer& buffer, int source = any_source, int tag = any_tag) const;
  Status sendrecv(const ConstBuffer& send, int destination, int send_tag, const Buffer& receive, int source,
                  int receive_tag) const;
  /// The status of the next message that matches, which stays to be received.
  Status probe(int source = any_source, int tag = any_tag) const;
  /// The same, or nothing if none has arrived.
  std::optional<Status> iprobe(int source = any_source, int tag = any_tag) const;

  Request isend(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Request issend(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Request ireceive(const Buffer& buffer, int source = any_source, int tag = any_tag) const;
  Request isendrecv(const ConstBuffer& send, int destination, int send_tag, const Buffer& receive, int source,
                    int receive_tag) const;

  // Collectives: wisp/collectives.hpp says what each does and costs.
  void barrier() const;
  void bcast(const Buffer& buffer, int root) const;
  void reduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root) const;
  void allreduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op) const;
  void scan(const ConstBuffer& send, const Buffer& receive, MPI_Op op) const;
  void exscan(const ConstBuffer& send, const Buffer& receive, MPI_Op op) const;
  void gather(const ConstBuffer& send, const Buffer& receive, int root) const;
  void allgather(const ConstBuffer& send, const Buffer& receive) const;

  using OwnTag = std::optional<int>;
  Request ibarrier(OwnTag own_tag = {}) const;
  Request ibcast(const Buffer& buffer, int root, OwnTag own_tag = {}) const;
  Request ireduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op, int root,
                  OwnTag own_tag = {}) const;
  Request iallreduce(const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag = {}) const;
  Request iscan(const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag = {}) const;
  Request iexscan(const ConstBuffer& send, const Buffer& receive, MPI_Op op, OwnTag own_tag = {}) const;
  Request igather(const ConstBuffer& send, const Buffer& receive, int root, OwnTag own_tag = {}) const;
  Request iallgather(const ConstBuffer& send, const Buffer& receive, OwnTag own_tag = {}) const;

  /// For algorithms of one's own: a channel for one operation, numbered like a collective (all members must
  /// ask in the same order) or with the user's own tag.
  Channel channel(const char* operation, OwnTag own_tag = {}) const;

  /// Runs a task of this communicator to its end, as the blocking members do.
  void run(Task<> task) const;
  /// Starts a task of this communicator, as the members with an i do.
  Request start(Task<> task) const { return {std::move(task), context_}; }

 private:
  friend struct detail::CommAccess;

  std::shared_ptr<detail::Context> context_;
  Range range_;
  int rank_ = -1;
};

// The same messages, to be awaited.
Task<> send(const Comm& comm, const ConstBuffer& buffer, int destination, int tag = 0);
Task<> ssend(const Comm& comm, const ConstBuffer& buffer, int destination, int tag = 0);
Task<Status> receive(const Comm& comm, const Buffer& buffer, int source = any_source, int tag = any_tag);
Task<Status> sendrecv(const Comm& comm, const ConstBuffer& send, int destination, int send_tag,
                      const Buffer& receive, int source, int receive_tag);
Task<Status> probe(const Comm& comm, int source = any_source, int tag = any_tag);

}  // namespace wisp
