#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisp/blocks.hpp"
#include "wisp/buffer.hpp"
#include "wisp/channel.hpp"
#include "wisp/exchange.hpp"
#include "wisp/group.hpp"
#include "wisp/operator.hpp"
#include "wisp/request.hpp"
#include "wisp/status.hpp"

namespace wisp {

/// Gives memory for so many elements of a message of any size. What it throws ends the receive, and the
/// message stays to be received.
using RoomFor = std::function<void*(std::size_t count)>;

namespace detail {
struct Context;
struct CommAccess;

template <class T>
RoomFor room_in(std::vector<T>& into) {
  return [&into](std::size_t count) {
    into.resize(count);
    return static_cast<void*>(into.data());
  };
}
}  // namespace detail

/// What a caller may say to a single collective.
struct CollectiveOptions {
  /// Tells it from collectives on other raw communicators that overlap, and from others on this one, whatever
  /// the order in which they start.
  std::optional<int> own_tag = {};
  /// One of `algorithms_of(operation)`; empty: the cheapest by the cost model. The same on all ranks.
  std::string_view algorithm = {};
  /// The same bits whatever the nodes, the root and the size of the vector, on any machine: operands are
  /// joined in one order, which depends on the number of ranks alone. Reduce, allreduce and both
  /// reduce_scatter join alike, up a binomial tree from rank 0: 2 ⌈log2 p⌉ (α + nβ); scans by doubling
  /// distances. Naming an algorithm beside it is an error; where nothing is joined it says nothing.
  bool reproducible = false;
};

/// Merges two sorted ranges of elements into `result`: [first, first_end) comes from lower ranks.
using Merge = std::function<void(void* first, void* first_end, void* second, void* second_end, void* result)>;

struct DuplicateOptions {
  /// How many MPI communicators carry the messages, 1 to 1,024. The first has codes for 3,071 communicators
  /// that two ranks may share at one time (383 on MPICH, whose tags are fewer) and for 1,023 (127) chains and
  /// communicators of `create_group`, `icreate`, `split` and `to_comm` of a process, each further one for
  /// 2,048 (256) of either.
  int mpi_communicators = 1;
};

/// A communicator: a group of the ranks of an MPI communicator, mostly a range. A value: copies are the same
/// communicator, copying is cheap, destruction frees, and nothing but `duplicate` (once), `split`,
/// `create_group`, `icreate` and `to_mpi` takes a message.
///
/// Every collective has four faces: the member blocks (`comm.bcast`), the one with an i gives a Request
/// (`comm.ibcast`), the one with _init a persistent one, and the free function of the same name an Operation,
/// to await (`co_await bcast(comm, …)`) or for any of the others.
///
/// Communicators are isolated: operations on different ones never interfere, whatever ranks they share. For
/// that, processes make the communicators that they share in the same order, as MPI demands too, and every
/// member makes them. Operations on one communicator, started in the same order everywhere, never interfere.
///
/// A raw communicator (`raw()`) has no such condition, and its messages carry the user's tags as they are;
/// but where two of them share more than one process, operations on both at one time need different tags.
class Comm {
 public:
  /// The empty communicator: no ranks, no operations.
  Comm() = default;

  /// All ranks of `comm`, with messages isolated from the caller's own. Collective over `comm` the first time
  /// (one MPI communicator is made, or as many as the options say, cached with `comm` and freed with it or at
  /// MPI_Finalize, and a few messages learn the nodes), local afterwards.
  static Comm duplicate(MPI_Comm comm, const DuplicateOptions& options = {});

  /// All ranks of `comm`, sharing its context. Local. Errors of MPI are handled as `comm` says. The caller's
  /// own receives on `comm` must not use MPI_ANY_TAG while operations of wisp run, and tags of its own
  /// messages are below half of MPI_TAG_UB (raw communicators: differ from those it gives to wisp). wisp
  /// takes none of the caller's messages; where a raw receive leaves the tag open it may.
  static Comm attach(MPI_Comm comm);

  /// The caller's rank, or MPI_UNDEFINED if it is not a member.
  int rank() const noexcept { return rank_ < 0 ? MPI_UNDEFINED : rank_; }
  int size() const noexcept { return group_.size(); }
  bool empty() const noexcept { return !context_ || group_.empty(); }
  bool is_member() const noexcept { return rank_ >= 0; }

  /// The ranks first, first + stride, … up to last as a communicator; empty if last < first. Local, no
  /// message; O(log p), of a raw communicator O(1) (Axtmann et al. 2018, section V-A). Who is not a member
  /// may make it too.
  Comm range(int first, int last, int stride = 1) const;
  /// The given ranks of this communicator, in that order. Local; O(log p) for each.
  Comm subset(std::span<const int> ranks) const;

  /// MPI_Comm_split: the ranks with the same color, ordered by key and then by their old rank; empty where
  /// the color is MPI_UNDEFINED. Called by all ranks, as a collective. wisp::split (wisp/split.hpp) takes
  /// whatever else can be compared, and what it costs is said there; the communicator has O(size) memory.
  Comm split(int color, int key = 0) const;

  /// Those that share the caller's node (host), and the first rank of each node (empty for others): in the
  /// order of their ranks, local, without a message. Nodes are learned by `duplicate`; of an attached
  /// communicator they are known if the launcher tells (see docs/nodes.md), else it is an error.
  Comm node() const;
  Comm node_leaders() const;

  /// A subset for creations that overlap in any order: those in flight at one time that share more than one
  /// process have different tags. Called by the members (by others it gives an empty communicator). One
  /// allgather of an int along the group, O(α log size) (section VI); of a raw communicator local. Until the
  /// request is done, `made` has ranks, but sends nothing.
  Request icreate_group(std::span<const int> ranks, int tag, Comm& made) const;
  Request icreate_group(MPI_Group group, int tag, Comm& made) const;
  Comm create_group(std::span<const int> ranks, int tag = 0) const;
  Comm create_group(MPI_Group group, int tag = 0) const;
  /// The same, called by all ranks of this communicator, in the order of its collectives (first version of
  /// the paper, section VI). Who is no member gets an empty communicator.
  Request icreate(std::span<const int> ranks, Comm& made) const;
  Request icreate(MPI_Group group, Comm& made) const;

  /// The same ranks with the tags of MPI's own messages, as in the RBC library. Local, O(1).
  Comm raw() const;
  bool is_raw() const noexcept;

  /// The ranks as those of the MPI communicator below.
  const Group& group() const noexcept { return group_; }
  /// The rank in `other` of the process with `rank` here, or MPI_UNDEFINED if it is no member of `other`.
  int translate(int rank, const Comm& other) const;

  /// The same processes as a group of MPI's, which the caller frees. Local.
  MPI_Group mpi_group() const;
  /// A real MPI communicator with the same ranks, for other libraries; the caller frees it. Collective.
  MPI_Comm to_mpi(int tag = 0) const;

  /// Its name: one that it was given, or how it was made from the communicator below, as in `world`,
  /// `world[0..6:2]` or `world{3, 1, 4}`. Reports of waits call it so (docs/stalls.md). Local.
  std::string describe() const;
  /// Gives it a name, here and for copies of it. That of all ranks is also the first part of names of those
  /// made from it. Local.
  void set_name(std::string_view name) const;

  /// Its ranks that have failed, as far as this process knows, in ascending order: because MPI says so, where
  /// it lets others live on (docs/failures.md), or others of wisp do. Local.
  std::vector<int> failed() const;

  /// The largest tag of a message, and the largest own tag of a collective.
  int tag_upper_bound() const;

  // Point-to-point. A destination or source may be MPI_PROC_NULL; a source any_source, a tag any_tag.
  void send(const ConstBuffer& buffer, int destination, int tag = 0) const;
  void ssend(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Status receive(const Buffer& buffer, int source = any_source, int tag = any_tag) const;
  Status sendrecv(const ConstBuffer& send, int destination, int send_tag, const Buffer& receive, int source,
                  int receive_tag) const;
  /// The same from and into one buffer.
  Status sendrecv_replace(const Buffer& buffer, int destination, int send_tag, int source,
                          int receive_tag) const;
  /// A message of any size, without a probe before that another thread or receive could be faster than:
  /// `into` is as long as it afterwards. One that is no whole number of elements is an error.
  template <HasDatatype T>
  Status receive_whole(std::vector<T>& into, int source = any_source, int tag = any_tag) const {
    return receive_whole(datatype_of<T>(), detail::room_in(into), source, tag);
  }
  /// The same into what `room` gives for so many elements of a datatype, which must live until then.
  Status receive_whole(MPI_Datatype type, RoomFor room, int source = any_source, int tag = any_tag) const;
  /// The status of the next message that matches, which stays to be received.
  Status probe(int source = any_source, int tag = any_tag) const;
  /// The same, or nothing if none has arrived.
  std::optional<Status> iprobe(int source = any_source, int tag = any_tag) const;

  Request isend(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Request issend(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Request ireceive(const Buffer& buffer, int source = any_source, int tag = any_tag) const;
  template <HasDatatype T>
  Request ireceive_whole(std::vector<T>& into, int source = any_source, int tag = any_tag) const {
    return ireceive_whole(datatype_of<T>(), detail::room_in(into), source, tag);
  }
  Request ireceive_whole(MPI_Datatype type, RoomFor room, int source = any_source, int tag = any_tag) const;
  Request isendrecv(const ConstBuffer& send, int destination, int send_tag, const Buffer& receive, int source,
                    int receive_tag) const;
  Request isendrecv_replace(const Buffer& buffer, int destination, int send_tag, int source,
                            int receive_tag) const;

  Request send_init(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Request ssend_init(const ConstBuffer& buffer, int destination, int tag = 0) const;
  Request receive_init(const Buffer& buffer, int source = any_source, int tag = any_tag) const;

  // Collectives: wisp/collectives.hpp says what each does and costs. Each blocks, or gives a request that is
  // started, or (…_init) one that `Request::start` starts as often as one likes.
  // Made by scripts/faces from the operations that wisp/collectives.hpp declares.
  // clang-format off
  void barrier(const CollectiveOptions& options = {}) const;
  Request ibarrier(const CollectiveOptions& options = {}) const;
  Request barrier_init(const CollectiveOptions& options = {}) const;
  void bcast(const Buffer& buffer, int root, const CollectiveOptions& options = {}) const;
  Request ibcast(const Buffer& buffer, int root, const CollectiveOptions& options = {}) const;
  Request bcast_init(const Buffer& buffer, int root, const CollectiveOptions& options = {}) const;
  void reduce(const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
              const CollectiveOptions& options = {}) const;
  Request ireduce(const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
                  const CollectiveOptions& options = {}) const;
  Request reduce_init(const ConstBuffer& send, const Buffer& receive, const Operator& op, int root,
                      const CollectiveOptions& options = {}) const;
  void allreduce(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                 const CollectiveOptions& options = {}) const;
  Request iallreduce(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                     const CollectiveOptions& options = {}) const;
  Request allreduce_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                         const CollectiveOptions& options = {}) const;
  void scan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
            const CollectiveOptions& options = {}) const;
  Request iscan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                const CollectiveOptions& options = {}) const;
  Request scan_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                    const CollectiveOptions& options = {}) const;
  void exscan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
              const CollectiveOptions& options = {}) const;
  Request iexscan(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                  const CollectiveOptions& options = {}) const;
  Request exscan_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                      const CollectiveOptions& options = {}) const;
  void scan_and_bcast(const ConstBuffer& send, const Buffer& scan, const Buffer& total, const Operator& op,
                      const CollectiveOptions& options = {}) const;
  Request iscan_and_bcast(const ConstBuffer& send, const Buffer& scan, const Buffer& total,
                          const Operator& op, const CollectiveOptions& options = {}) const;
  Request scan_and_bcast_init(const ConstBuffer& send, const Buffer& scan, const Buffer& total,
                              const Operator& op, const CollectiveOptions& options = {}) const;
  void reduce_scatter_block(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                            const CollectiveOptions& options = {}) const;
  Request ireduce_scatter_block(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                                const CollectiveOptions& options = {}) const;
  Request reduce_scatter_block_init(const ConstBuffer& send, const Buffer& receive, const Operator& op,
                                    const CollectiveOptions& options = {}) const;
  void reduce_scatter(const ConstBuffer& send, const Buffer& receive, Integers counts, const Operator& op,
                      const CollectiveOptions& options = {}) const;
  Request ireduce_scatter(const ConstBuffer& send, const Buffer& receive, Integers counts, const Operator& op,
                          const CollectiveOptions& options = {}) const;
  Request reduce_scatter_init(const ConstBuffer& send, const Buffer& receive, Integers counts,
                              const Operator& op, const CollectiveOptions& options = {}) const;
  void gather(const ConstBuffer& send, const Buffer& receive, int root,
              const CollectiveOptions& options = {}) const;
  Request igather(const ConstBuffer& send, const Buffer& receive, int root,
                  const CollectiveOptions& options = {}) const;
  Request gather_init(const ConstBuffer& send, const Buffer& receive, int root,
                      const CollectiveOptions& options = {}) const;
  void gatherv(const ConstBuffer& send, const Blocks& receive, int root,
               const CollectiveOptions& options = {}) const;
  Request igatherv(const ConstBuffer& send, const Blocks& receive, int root,
                   const CollectiveOptions& options = {}) const;
  Request gatherv_init(const ConstBuffer& send, const Blocks& receive, int root,
                       const CollectiveOptions& options = {}) const;
  void gatherm(const ConstBuffer& send, const Buffer& receive, int root, const Merge& merge,
               const CollectiveOptions& options = {}) const;
  Request igatherm(const ConstBuffer& send, const Buffer& receive, int root, const Merge& merge,
                   const CollectiveOptions& options = {}) const;
  Request gatherm_init(const ConstBuffer& send, const Buffer& receive, int root, const Merge& merge,
                       const CollectiveOptions& options = {}) const;
  void allgather(const ConstBuffer& send, const Buffer& receive, const CollectiveOptions& options = {}) const;
  Request iallgather(const ConstBuffer& send, const Buffer& receive,
                     const CollectiveOptions& options = {}) const;
  Request allgather_init(const ConstBuffer& send, const Buffer& receive,
                         const CollectiveOptions& options = {}) const;
  void allgatherv(const ConstBuffer& send, const Blocks& receive,
                  const CollectiveOptions& options = {}) const;
  Request iallgatherv(const ConstBuffer& send, const Blocks& receive,
                      const CollectiveOptions& options = {}) const;
  Request allgatherv_init(const ConstBuffer& send, const Blocks& receive,
                          const CollectiveOptions& options = {}) const;
  void allgatherm(const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                  const CollectiveOptions& options = {}) const;
  Request iallgatherm(const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                      const CollectiveOptions& options = {}) const;
  Request allgatherm_init(const ConstBuffer& send, const Buffer& receive, const Merge& merge,
                          const CollectiveOptions& options = {}) const;
  void scatter(const ConstBuffer& send, const Buffer& receive, int root,
               const CollectiveOptions& options = {}) const;
  Request iscatter(const ConstBuffer& send, const Buffer& receive, int root,
                   const CollectiveOptions& options = {}) const;
  Request scatter_init(const ConstBuffer& send, const Buffer& receive, int root,
                       const CollectiveOptions& options = {}) const;
  void scatterv(const ConstBlocks& send, const Buffer& receive, int root,
                const CollectiveOptions& options = {}) const;
  Request iscatterv(const ConstBlocks& send, const Buffer& receive, int root,
                    const CollectiveOptions& options = {}) const;
  Request scatterv_init(const ConstBlocks& send, const Buffer& receive, int root,
                        const CollectiveOptions& options = {}) const;
  void alltoall(const ConstBuffer& send, const Buffer& receive, const CollectiveOptions& options = {}) const;
  Request ialltoall(const ConstBuffer& send, const Buffer& receive,
                    const CollectiveOptions& options = {}) const;
  Request alltoall_init(const ConstBuffer& send, const Buffer& receive,
                        const CollectiveOptions& options = {}) const;
  void alltoallv(const ConstBlocks& send, const Blocks& receive, const CollectiveOptions& options = {}) const;
  Request ialltoallv(const ConstBlocks& send, const Blocks& receive,
                     const CollectiveOptions& options = {}) const;
  Request alltoallv_init(const ConstBlocks& send, const Blocks& receive,
                         const CollectiveOptions& options = {}) const;
  void alltoallw(const ConstBlocks& send, const Blocks& receive, const CollectiveOptions& options = {}) const;
  Request ialltoallw(const ConstBlocks& send, const Blocks& receive,
                     const CollectiveOptions& options = {}) const;
  Request alltoallw_init(const ConstBlocks& send, const Blocks& receive,
                         const CollectiveOptions& options = {}) const;
  void exchange(std::span<const Outgoing> messages, Arrivals& arrivals,
                const CollectiveOptions& options = {}) const;
  Request iexchange(std::span<const Outgoing> messages, Arrivals& arrivals,
                    const CollectiveOptions& options = {}) const;
  Request exchange_init(std::span<const Outgoing> messages, Arrivals& arrivals,
                        const CollectiveOptions& options = {}) const;
  // End of what is made.
  // clang-format on

  /// For algorithms of one's own: a channel for one operation, numbered like a collective (all members must
  /// ask in the same order) or with the user's own tag.
  Channel channel(const char* operation, std::optional<int> own_tag = {}) const;

  /// Runs a task of this communicator to its end, as the blocking members do.
  void run(Task<> task) const;
  /// Starts a task of this communicator, as the members with an i do.
  Request start(Task<> task) const { return {std::move(task), context_}; }

 private:
  friend struct detail::CommAccess;

  detail::ContextPtr context_;
  Group group_;
  int rank_ = -1;
};

// The same messages, to be awaited. The call posts the message, so that messages are in the order of the
// calls; the task waits for its end. One that is dropped has sent all the same; a receive is given up, unless
// its message has come, which then is gone.
Task<> send(const Comm& comm, const ConstBuffer& buffer, int destination, int tag = 0);
Task<> ssend(const Comm& comm, const ConstBuffer& buffer, int destination, int tag = 0);
Task<Status> receive(const Comm& comm, const Buffer& buffer, int source = any_source, int tag = any_tag);
Task<Status> receive_whole(const Comm& comm, MPI_Datatype type, RoomFor room, int source = any_source,
                           int tag = any_tag);
template <HasDatatype T>
Task<Status> receive_whole(const Comm& comm, std::vector<T>& into, int source = any_source,
                           int tag = any_tag) {
  return receive_whole(comm, datatype_of<T>(), detail::room_in(into), source, tag);
}
Task<Status> sendrecv(const Comm& comm, const ConstBuffer& send, int destination, int send_tag,
                      const Buffer& receive, int source, int receive_tag);
Task<Status> sendrecv_replace(const Comm& comm, const Buffer& buffer, int destination, int send_tag,
                              int source, int receive_tag);
Task<Status> probe(const Comm& comm, int source = any_source, int tag = any_tag);

}  // namespace wisp
