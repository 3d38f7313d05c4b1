#pragma once

#include <mpi.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/error.hpp"

/// The names of the RBC library (Axtmann, Wiebigke, Sanders 2018) over wisp, in both spellings, RBC:: and
/// rbc::, so that programs written for it compile unchanged. A thin mapping: everything is done by raw
/// communicators.
///
/// As in RBC: creation is local; a message's tag is MPI's own, so it can be received with MPI too; where two
/// communicators share more than one process, operations on both at one time need different tags; a status
/// holds the source as a rank of the MPI communicator (get_Rank_from_Status maps it). Unlike in RBC, every
/// test and wait of a Request makes all operations progress, and errors are thrown as wisp::Error.
///
/// Forms with an MPI_Request call MPI directly, which moves no operation of this library. Such a receive does
/// not see messages that a wildcard receive or probe of this library has set aside.

namespace RBC {

/// Tags of the collectives where the caller gives none: each stands for one from the upper end of the tags.
enum : int {
  RBC_BCAST_TAG = -1,
  RBC_IBCAST_TAG = -2,
  RBC_GATHER_TAG = -3,
  RBC_IGATHER_TAG = -4,
  RBC_GATHERV_TAG = -5,
  RBC_IGATHERV_TAG = -6,
  RBC_GATHERM_TAG = -7,
  RBC_IGATHERM_TAG = -8,
  RBC_ALLGATHER_TAG = -9,
  RBC_IALLGATHER_TAG = -10,
  RBC_ALLGATHERV_TAG = -11,
  RBC_IALLGATHERV_TAG = -12,
  RBC_ALLGATHERM_TAG = -13,
  RBC_IALLGATHERM_TAG = -14,
  RBC_REDUCE_TAG = -15,
  RBC_IREDUCE_TAG = -16,
  RBC_ALLREDUCE_TAG = -17,
  RBC_IALLREDUCE_TAG = -18,
  RBC_SCAN_TAG = -19,
  RBC_ISCAN_TAG = -20,
  RBC_EXSCAN_TAG = -21,
  RBC_IEXSCAN_TAG = -22,
  RBC_SCANANDBCAST_TAG = -23,
  RBC_ISCANANDBCAST_TAG = -24,
  RBC_BARRIER_TAG = -25,
  RBC_IBARRIER_TAG = -26,
  RBC_ALLTOALL_TAG = -27,
  RBC_ALLTOALLV_TAG = -28,
  RBC_OPTIMIZED_TAG = -29
};

class Comm {
 public:
  Comm() = default;
  /// What the caller of Create_Comm_from_MPI wants besides.
  struct Modes {
    bool use_mpi_collectives = false;
    bool split_mpi_comm = false;
    bool use_comm_create = true;
  };
  Comm(wisp::Comm comm, MPI_Comm mpi_comm, Modes modes, bool owns_mpi_comm = false)
      : comm_(std::move(comm)), mpi_comm_(mpi_comm), modes_(modes), owns_mpi_comm_(owns_mpi_comm) {}

  int MpiRankToRangeRank(int rank) const { return comm_.group().from_world(rank); }
  int RangeRankToMpiRank(int rank) const { return comm_.group().to_world(rank); }
  bool includesMpiRank(int rank) const { return !isEmpty() && comm_.group().from_world(rank) >= 0; }
  bool isEmpty() const { return comm_.empty(); }
  bool useMPICollectives() const { return modes_.use_mpi_collectives; }
  bool useCommCreate() const { return modes_.use_comm_create; }
  bool splitMPIComm() const { return modes_.split_mpi_comm; }
  MPI_Comm get() const { return mpi_comm_; }
  int getSize() const { return comm_.size(); }
  int getRank() const { return comm_.rank(); }
  int getMpiFirst() const { return comm_.group().to_world(0); }
  int getMpiLast() const { return comm_.group().to_world(comm_.size() - 1); }
  int getStride() const { return comm_.group().range().stride; }

  /// The communicator that does the work.
  const wisp::Comm& on() const { return comm_; }
  Modes modes() const { return modes_; }
  /// True if `get` was made for this communicator, to be freed with it.
  bool owns_mpi_comm() const { return owns_mpi_comm_; }

 private:
  wisp::Comm comm_;
  MPI_Comm mpi_comm_ = MPI_COMM_NULL;
  Modes modes_;
  bool owns_mpi_comm_ = false;
};

inline std::ostream& operator<<(std::ostream& stream, Comm const& comm) {
  if (comm.isEmpty()) return stream << "(empty)";
  return stream << comm.getMpiFirst() << ".." << comm.getMpiLast() << " step " << comm.getStride();
}

namespace _internal {

/// A status of `comm`, with the source as a rank of the MPI communicator.
inline void put_status(Comm const& comm, wisp::Status status, MPI_Status* to) {
  if (status.source >= 0) status.source = comm.RangeRankToMpiRank(status.source);
  status.copy_to(to);
}

/// A partner of `comm` as a rank of the MPI communicator.
inline int mpi_rank(Comm const& comm, int rank, const char* name) {
  if (rank == MPI_PROC_NULL) return rank;
  if (comm.isEmpty()) throw wisp::Error(MPI_ERR_COMM, "RBC: the communicator is empty");
  wisp::detail::check_within(MPI_ERR_RANK, "RBC", name, rank, 0, comm.on().size() - 1);
  return comm.RangeRankToMpiRank(rank);
}

}  // namespace _internal

/// An operation; copies are the same one.
class Request {
 public:
  Request() = default;
  Request(wisp::Request request, Comm comm)
      : state_(new State{std::move(request), std::move(comm), MPI_REQUEST_NULL}) {}
  Request(MPI_Request request, Comm comm) : state_(new State{{}, std::move(comm), request}) {}

  int test(int* flag, MPI_Status* status) {
    if (state_ != nullptr && state_->of_mpi != MPI_REQUEST_NULL) {
      wisp::detail::look(state_->comm.on());
      return MPI_Test(&state_->of_mpi, flag, status);
    }
    const bool is_done = has_ended();
    *flag = is_done ? 1 : 0;
    if (is_done) put(take(), status);
    return MPI_SUCCESS;
  }
  int wait(MPI_Status* status) {
    if (state_ != nullptr && state_->of_mpi != MPI_REQUEST_NULL)
      return wisp::detail::wait_for_mpi(state_->comm.on(), &state_->of_mpi, status);
    if (state_ != nullptr && !state_->ended) state_->ended = state_->request.wait();
    put(take(), status);
    return MPI_SUCCESS;
  }
  /// Whether it has ended; it stays active until its status is asked for.
  bool has_ended() {
    if (state_ == nullptr) return true;
    if (state_->of_mpi != MPI_REQUEST_NULL) {
      int flag = 0;
      wisp::detail::look(state_->comm.on());
      wisp::detail::check_mpi(MPI_Request_get_status(state_->of_mpi, &flag, MPI_STATUS_IGNORE),
                              "MPI_Request_get_status");
      return flag != 0;
    }
    if (!state_->ended) state_->ended = state_->request.test();
    return state_->ended.has_value();
  }

 private:
  /// The status of what has ended; from then on it is inactive.
  wisp::Status take() {
    return state_ == nullptr ? wisp::Status() : std::exchange(state_->ended, std::nullopt).value();
  }
  void put(const wisp::Status& done, MPI_Status* status) const {
    state_ == nullptr ? done.copy_to(status) : _internal::put_status(state_->comm, done, status);
  }

  struct State {
    wisp::Request request;
    Comm comm;
    MPI_Request of_mpi;
    std::optional<wisp::Status> ended = {};  ///< not asked for yet
  };
  std::shared_ptr<State> state_;
};

namespace _internal {

inline std::size_t size(int count) {
  wisp::detail::check_within(MPI_ERR_COUNT, "RBC", "count", count, 0, std::numeric_limits<int>::max());
  return wisp::detail::as_size(count);
}
inline wisp::ConstBuffer read(const void* address, int count, MPI_Datatype type) {
  if (address == MPI_IN_PLACE) return wisp::in_place();
  return {address, size(count), type};
}
inline wisp::Buffer vector(void* address, int count, MPI_Datatype type) {
  return {address, size(count), type};
}
/// Blocks of all ranks; where there is a root, of nobody else.
inline wisp::Buffer all(Comm const& comm, void* address, int count, MPI_Datatype type, int root = -1) {
  if (root >= 0 && comm.getRank() != root) return {};
  return {address, size(count) * wisp::detail::as_size(comm.getSize()), type};
}
inline wisp::ConstBuffer read_all(Comm const& comm, const void* address, int count, MPI_Datatype type) {
  if (address == MPI_IN_PLACE) return wisp::in_place();
  return {address, size(count) * wisp::detail::as_size(comm.getSize()), type};
}
inline wisp::Buffer at_root(Comm const& comm, void* address, int count, MPI_Datatype type, int root) {
  if (comm.getRank() != root) return {};
  return {address, size(count), type};
}
inline wisp::Blocks blocks(Comm const& comm, void* address, const int* counts, const int* displs,
                           MPI_Datatype type, int root = -1) {
  if (root >= 0 && comm.getRank() != root) return {};
  const auto ranks = wisp::detail::as_size(comm.getSize());
  if (ranks > 0 && counts == nullptr) throw wisp::Error(MPI_ERR_ARG, "RBC: counts = NULL");
  if (ranks > 0 && displs == nullptr) throw wisp::Error(MPI_ERR_ARG, "RBC: displs = NULL");
  return {address, wisp::Integers(counts, ranks), wisp::Integers(displs, ranks), type};
}
inline wisp::ConstBlocks read_blocks(Comm const& comm, void* address, const int* counts, const int* displs,
                                     MPI_Datatype type) {
  if (address == MPI_IN_PLACE) return wisp::blocks_in_place();
  return blocks(comm, address, counts, displs, type);
}

inline wisp::CollectiveOptions with_tag(Comm const& comm, int tag, std::string_view algorithm = {}) {
  const bool is_standard = tag < 0 && !comm.isEmpty();
  return {.own_tag = is_standard ? comm.on().tag_upper_bound() + 1 + tag : tag, .algorithm = algorithm};
}

/// True if collectives go to MPI: it has a communicator of just these ranks.
inline bool forwards(Comm const& comm) {
  if (!comm.useMPICollectives() || comm.isEmpty()) return false;
  int mpi_size = 0;
  wisp::detail::check_mpi(MPI_Comm_size(comm.get(), &mpi_size), "MPI_Comm_size");
  return mpi_size == comm.getSize();
}

inline int started(Request* request, Comm const& comm, wisp::Request operation) {
  *request = Request(std::move(operation), comm);
  return MPI_SUCCESS;
}

}  // namespace _internal

// Communicators.

inline int Create_Comm_from_MPI(MPI_Comm mpi_comm, Comm* rcomm, bool use_mpi_collectives = false,
                                bool split_mpi_comm = false, bool use_comm_create = true) {
  *rcomm = Comm(wisp::Comm::attach(mpi_comm).raw(), mpi_comm,
                {use_mpi_collectives, split_mpi_comm, use_comm_create});
  return MPI_SUCCESS;
}
inline Comm Create_Comm_from_MPI(MPI_Comm mpi_comm, bool use_mpi_collectives = false,
                                 bool split_mpi_comm = false, bool use_comm_create = true) {
  Comm comm;
  Create_Comm_from_MPI(mpi_comm, &comm, use_mpi_collectives, split_mpi_comm, use_comm_create);
  return comm;
}
inline int Create_RBC_Comm(MPI_Comm mpi_comm, Comm* rcomm) {
  return Create_Comm_from_MPI(mpi_comm, rcomm);
}
inline int Create_RBC_Comm(MPI_Comm mpi_comm, Comm& rcomm) {
  return Create_Comm_from_MPI(mpi_comm, &rcomm);
}

inline int Comm_create_group(Comm const& comm, Comm* new_comm, int first, int last, int stride = 1) {
  const wisp::Comm range = comm.on().range(first, last, stride);
  if (!comm.splitMPIComm()) {
    *new_comm = Comm(range, comm.get(), comm.modes());
  } else if (!range.is_member()) {
    *new_comm = Comm();
  } else {
    const MPI_Comm split = range.to_mpi();
    *new_comm = Comm(wisp::Comm::attach(split).raw(), split, comm.modes(), true);
  }
  return MPI_SUCCESS;
}
inline int Comm_create(Comm const& comm, Comm* new_comm, int first, int last, int stride = 1) {
  return Comm_create_group(comm, new_comm, first, last, stride);
}
inline Comm Comm_create(Comm const& comm, int first, int last, int stride = 1) {
  Comm made;
  Comm_create_group(comm, &made, first, last, stride);
  return made;
}
inline int Split_RBC_Comm(Comm const& comm, int first, int last, Comm* new_comm) {
  return Comm_create_group(comm, new_comm, first, last);
}
inline int Split_RBC_Comm(Comm const& comm, Comm& new_comm, int first, int last) {
  return Comm_create_group(comm, &new_comm, first, last);
}
inline int Split_Comm(Comm const& comm, int left_start, int left_end, int right_start, int right_end,
                      Comm* left, Comm* right) {
  Comm_create_group(comm, left, left_start, left_end);
  return Comm_create_group(comm, right, right_start, right_end);
}
inline int Comm_rank(Comm const& comm, int* rank) {
  *rank = comm.getRank();
  return MPI_SUCCESS;
}
inline int Comm_size(Comm const& comm, int* size) {
  *size = comm.getSize();
  return MPI_SUCCESS;
}
inline int Comm_free(Comm& comm) {
  MPI_Comm split = comm.owns_mpi_comm() ? comm.get() : MPI_COMM_NULL;
  comm = Comm();
  return split == MPI_COMM_NULL ? MPI_SUCCESS : MPI_Comm_free(&split);
}
inline int get_Rank_from_Status(Comm const& comm, MPI_Status status) {
  return comm.MpiRankToRangeRank(status.MPI_SOURCE);
}

// Point-to-point.

inline int Send(const void* sendbuf, int count, MPI_Datatype datatype, int dest, int tag, Comm const& comm) {
  comm.on().send({sendbuf, _internal::size(count), datatype}, dest, tag);
  return MPI_SUCCESS;
}
inline int Ssend(const void* sendbuf, int count, MPI_Datatype datatype, int dest, int tag, Comm const& comm) {
  comm.on().ssend({sendbuf, _internal::size(count), datatype}, dest, tag);
  return MPI_SUCCESS;
}
inline int Isend(const void* sendbuf, int count, MPI_Datatype datatype, int dest, int tag, Comm const& comm,
                 MPI_Request* request) {
  const int rank = _internal::mpi_rank(comm, dest, "destination");
  return MPI_Isend(sendbuf, count, datatype, rank, tag, comm.get(), request);
}
inline int Isend(const void* sendbuf, int count, MPI_Datatype datatype, int dest, int tag, Comm const& comm,
                 Request* request) {
  return _internal::started(request, comm,
                            comm.on().isend({sendbuf, _internal::size(count), datatype}, dest, tag));
}
inline int Issend(const void* sendbuf, int count, MPI_Datatype datatype, int dest, int tag, Comm const& comm,
                  MPI_Request* request) {
  const int rank = _internal::mpi_rank(comm, dest, "destination");
  return MPI_Issend(sendbuf, count, datatype, rank, tag, comm.get(), request);
}
inline int Issend(const void* sendbuf, int count, MPI_Datatype datatype, int dest, int tag, Comm const& comm,
                  Request* request) {
  return _internal::started(request, comm,
                            comm.on().issend({sendbuf, _internal::size(count), datatype}, dest, tag));
}
inline int Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, Comm const& comm,
                MPI_Status* status = MPI_STATUS_IGNORE) {
  const wisp::Status done = comm.on().receive({buf, _internal::size(count), datatype}, source, tag);
  _internal::put_status(comm, done, status);
  return MPI_SUCCESS;
}
inline int Irecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, Comm const& comm,
                 MPI_Request* request) {
  const int rank = source == MPI_ANY_SOURCE ? source : _internal::mpi_rank(comm, source, "source");
  return MPI_Irecv(buffer, count, datatype, rank, tag, comm.get(), request);
}
inline int Irecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, Comm const& comm,
                 Request* request) {
  return _internal::started(request, comm,
                            comm.on().ireceive({buffer, _internal::size(count), datatype}, source, tag));
}
inline int Sendrecv(void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, int source, int recvtag, Comm const& comm,
                    MPI_Status* status) {
  const wisp::Status done =
      comm.on().sendrecv({sendbuf, _internal::size(sendcount), sendtype}, dest, sendtag,
                         {recvbuf, _internal::size(recvcount), recvtype}, source, recvtag);
  _internal::put_status(comm, done, status);
  return MPI_SUCCESS;
}
inline int Isendrecv(void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                     void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                     Comm const& comm, Request* request) {
  return _internal::started(
      request, comm,
      comm.on().isendrecv({sendbuf, _internal::size(sendcount), sendtype}, dest, sendtag,
                          {recvbuf, _internal::size(recvcount), recvtype}, source, recvtag));
}
inline int Iprobe(int source, int tag, Comm const& comm, int* flag, MPI_Status* status) {
  const auto found = comm.on().iprobe(source, tag);
  *flag = found ? 1 : 0;
  if (found) _internal::put_status(comm, *found, status);
  return MPI_SUCCESS;
}
inline int Probe(int source, int tag, Comm const& comm, MPI_Status* status) {
  _internal::put_status(comm, comm.on().probe(source, tag), status);
  return MPI_SUCCESS;
}

// Completion.

inline int Test(Request* request, int* flag, MPI_Status* status) {
  return request->test(flag, status);
}
inline int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return MPI_Test(request, flag, status);
}
inline int Wait(Request* request, MPI_Status* status) {
  return request->wait(status);
}
inline int Wait(MPI_Request* request, MPI_Status* status) {
  return MPI_Wait(request, status);
}
inline int Waitall(int count, Request requests[], MPI_Status* statuses) {
  for (int i = 0; i < count; ++i) {
    requests[i].wait(statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  }
  return MPI_SUCCESS;
}
inline int Waitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  return MPI_Waitall(count, requests, statuses);
}
inline int Testall(int count, Request requests[], int* flag, MPI_Status* statuses) {
  *flag = 1;
  for (int i = 0; i < count; ++i) *flag = requests[i].has_ended() && *flag != 0 ? 1 : 0;
  return *flag != 0 ? Waitall(count, requests, statuses) : MPI_SUCCESS;
}
inline int Testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses) {
  return MPI_Testall(count, requests, flag, statuses);
}

// Collectives. Each blocks, or (I…) gives a request; where a communicator forwards them, they are MPI's.
// clang-format off

#define WISP_RBC_LIST(...) __VA_ARGS__
#define WISP_RBC_BLOCKING(Name, name, tag, forward, parameters, arguments, algorithm)                              \
  inline int Name(WISP_RBC_LIST parameters Comm const& comm) {                                                     \
    forward;                                                                                                       \
    wisp::name(comm.on(), WISP_RBC_LIST arguments _internal::with_tag(comm, tag, algorithm)).run();                \
    return MPI_SUCCESS;                                                                                            \
  }
#define WISP_RBC_NONBLOCKING(Name, name, own_tag, forward, parameters, arguments)                                  \
  inline int Name(WISP_RBC_LIST parameters Comm const& comm, Request* request, int tag = own_tag) {                \
    forward;                                                                                                       \
    *request = Request(wisp::name(comm.on(), WISP_RBC_LIST arguments _internal::with_tag(comm, tag)).start(), comm); \
    return MPI_SUCCESS;                                                                                            \
  }
/// Both, of what MPI has too: `names` are those of the parameters.
#define WISP_RBC_BOTH(Name, name, TAG, parameters, names, arguments)                                               \
  WISP_RBC_BLOCKING(Name, name, RBC_##TAG##_TAG,                                                                   \
                    if (_internal::forwards(comm)) return MPI_##Name(WISP_RBC_LIST names comm.get()),              \
                    parameters, arguments, {})                                                                     \
  WISP_RBC_NONBLOCKING(I##name, name, RBC_I##TAG##_TAG, if (_internal::forwards(comm)) {                           \
    MPI_Request of_mpi = MPI_REQUEST_NULL;                                                                         \
    const int code = MPI_I##name(WISP_RBC_LIST names comm.get(), &of_mpi);                                         \
    *request = Request(of_mpi, comm);                                                                              \
    return code;                                                                                                   \
  }, parameters, arguments)

#define WISP_RBC_VECTORS (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,)
#define WISP_RBC_REDUCED (_internal::read(sendbuf, count, datatype), _internal::vector(recvbuf, count, datatype), op,)
#define WISP_RBC_BLOCKS                                                                                            \
  const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype
#define WISP_RBC_IRREGULAR_BLOCKS                                                                                  \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,                 \
      const int *displs, MPI_Datatype recvtype
#define WISP_RBC_MERGED const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount
#define WISP_RBC_SENT _internal::read(sendbuf, sendcount, sendtype)

WISP_RBC_BOTH(Barrier, barrier, BARRIER, (), (), ())
WISP_RBC_BOTH(Bcast, bcast, BCAST, (void* buffer, int count, MPI_Datatype datatype, int root,),
              (buffer, count, datatype, root,), (_internal::vector(buffer, count, datatype), root,))
WISP_RBC_BOTH(Gather, gather, GATHER, (WISP_RBC_BLOCKS, int root,),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,),
              (WISP_RBC_SENT, _internal::all(comm, recvbuf, recvcount, recvtype, root), root,))
WISP_RBC_BOTH(Gatherv, gatherv, GATHERV, (WISP_RBC_IRREGULAR_BLOCKS, int root,),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,),
              (WISP_RBC_SENT, _internal::blocks(comm, recvbuf, recvcounts, displs, recvtype, root), root,))
WISP_RBC_BOTH(Allgather, allgather, ALLGATHER, (WISP_RBC_BLOCKS,),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,),
              (WISP_RBC_SENT, _internal::all(comm, recvbuf, recvcount, recvtype),))
WISP_RBC_BOTH(Allgatherv, allgatherv, ALLGATHERV, (WISP_RBC_IRREGULAR_BLOCKS,),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,),
              (WISP_RBC_SENT, _internal::blocks(comm, recvbuf, recvcounts, displs, recvtype),))
WISP_RBC_BOTH(Reduce, reduce, REDUCE,
              (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,),
              (sendbuf, recvbuf, count, datatype, op, root,),
              (_internal::read(sendbuf, count, datatype), _internal::vector(recvbuf, count, datatype), op, root,))
WISP_RBC_BOTH(Allreduce, allreduce, ALLREDUCE, WISP_RBC_VECTORS, (sendbuf, recvbuf, count, datatype, op,),
              WISP_RBC_REDUCED)
WISP_RBC_BOTH(Scan, scan, SCAN, WISP_RBC_VECTORS, (sendbuf, recvbuf, count, datatype, op,), WISP_RBC_REDUCED)
WISP_RBC_BOTH(Exscan, exscan, EXSCAN, WISP_RBC_VECTORS, (sendbuf, recvbuf, count, datatype, op,), WISP_RBC_REDUCED)

// What MPI does not have.
#define WISP_RBC_MERGE (WISP_RBC_MERGED, int root, wisp::Merge op,)
#define WISP_RBC_MERGE_ARGUMENTS                                                                                   \
  (WISP_RBC_SENT, _internal::at_root(comm, recvbuf, recvcount, sendtype, root), root, op,)
WISP_RBC_BLOCKING(Gatherm, gatherm, RBC_GATHERM_TAG, , WISP_RBC_MERGE, WISP_RBC_MERGE_ARGUMENTS, {})
WISP_RBC_NONBLOCKING(Igatherm, gatherm, RBC_IGATHERM_TAG, , WISP_RBC_MERGE, WISP_RBC_MERGE_ARGUMENTS)
#define WISP_RBC_MERGE_ALL (WISP_RBC_MERGED, wisp::Merge op,)
#define WISP_RBC_MERGE_ALL_ARGUMENTS (WISP_RBC_SENT, _internal::vector(recvbuf, recvcount, sendtype), op,)
WISP_RBC_BLOCKING(Allgatherm, allgatherm, RBC_ALLGATHERM_TAG, , WISP_RBC_MERGE_ALL, WISP_RBC_MERGE_ALL_ARGUMENTS, {})
WISP_RBC_NONBLOCKING(Iallgatherm, allgatherm, RBC_IALLGATHERM_TAG, , WISP_RBC_MERGE_ALL, WISP_RBC_MERGE_ALL_ARGUMENTS)
#define WISP_RBC_SCAN_AND_BCAST                                                                                    \
  (const void* sendbuf, void* recvbuf_scan, void* recvbuf_bcast, int count, MPI_Datatype datatype, MPI_Op op,)
#define WISP_RBC_SCAN_AND_BCAST_ARGUMENTS                                                                          \
  (_internal::read(sendbuf, count, datatype), _internal::vector(recvbuf_scan, count, datatype),                    \
   _internal::vector(recvbuf_bcast, count, datatype), op,)
WISP_RBC_BLOCKING(ScanAndBcast, scan_and_bcast, RBC_SCANANDBCAST_TAG, , WISP_RBC_SCAN_AND_BCAST,
                  WISP_RBC_SCAN_AND_BCAST_ARGUMENTS, {})
WISP_RBC_NONBLOCKING(IscanAndBcast, scan_and_bcast, RBC_ISCANANDBCAST_TAG, , WISP_RBC_SCAN_AND_BCAST,
                     WISP_RBC_SCAN_AND_BCAST_ARGUMENTS)

// What RBC has as blocking forms only.
WISP_RBC_BLOCKING(Alltoall, alltoall, RBC_ALLTOALL_TAG,
                  if (_internal::forwards(comm))
                    return MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm.get()),
                  (WISP_RBC_BLOCKS,),
                  (_internal::read_all(comm, sendbuf, sendcount, sendtype),
                   _internal::all(comm, recvbuf, recvcount, recvtype),), {})
WISP_RBC_BLOCKING(Alltoallv, alltoallv, RBC_ALLTOALLV_TAG,
                  if (_internal::forwards(comm))
                    return MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                         recvtype, comm.get()),
                  (void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                   const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,),
                  (_internal::read_blocks(comm, sendbuf, sendcounts, sdispls, sendtype),
                   _internal::blocks(comm, recvbuf, recvcounts, rdispls, recvtype),), {})

/// Algorithms by name.
namespace _internal::optimized {

#define WISP_RBC_NAMED(Name, name, algorithm, parameters, arguments)                                               \
  WISP_RBC_BLOCKING(Name, name, RBC_OPTIMIZED_TAG, , parameters, arguments, algorithm)
#define WISP_RBC_GATHERED (WISP_RBC_SENT, _internal::all(comm, recvbuf, recvcount, recvtype),)
#define WISP_RBC_BCAST (void* buffer, int count, MPI_Datatype datatype, int root,)
#define WISP_RBC_BCAST_ARGUMENTS (_internal::vector(buffer, count, datatype), root,)

WISP_RBC_NAMED(Allgather, allgather, {}, (WISP_RBC_BLOCKS,), WISP_RBC_GATHERED)
WISP_RBC_NAMED(AllgatherDissemination, allgather, "dissemination", (WISP_RBC_BLOCKS,), WISP_RBC_GATHERED)
WISP_RBC_NAMED(AllgatherHypercube, allgather, "hypercube", (WISP_RBC_BLOCKS,), WISP_RBC_GATHERED)
WISP_RBC_NAMED(AllgatherPipeline, allgather, "ring", (WISP_RBC_BLOCKS,), WISP_RBC_GATHERED)
WISP_RBC_NAMED(Allreduce, allreduce, {}, WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(AllreduceTwotree, allreduce, "two_tree", WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(AllreduceScatterAllgather, allreduce, "scatter_allgather", WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(AllreduceHypercube, allreduce, "recursive_doubling", WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(Scan, scan, {}, WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(ScanTwotree, scan, "two_tree", WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(Exscan, exscan, {}, WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(ExscanTwotree, exscan, "two_tree", WISP_RBC_VECTORS, WISP_RBC_REDUCED)
WISP_RBC_NAMED(ReduceTwotree, reduce, "two_tree",
               (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,),
               (_internal::read(sendbuf, count, datatype), _internal::vector(recvbuf, count, datatype), op, root,))
WISP_RBC_NAMED(ScanAndBcastTwotree, scan_and_bcast, "two_tree", WISP_RBC_SCAN_AND_BCAST,
               WISP_RBC_SCAN_AND_BCAST_ARGUMENTS)
WISP_RBC_NAMED(Bcast, bcast, {}, WISP_RBC_BCAST, WISP_RBC_BCAST_ARGUMENTS)
WISP_RBC_NAMED(BcastBinomial, bcast, "binomial", WISP_RBC_BCAST, WISP_RBC_BCAST_ARGUMENTS)
WISP_RBC_NAMED(BcastTwotree, bcast, "two_tree", WISP_RBC_BCAST, WISP_RBC_BCAST_ARGUMENTS)
WISP_RBC_NAMED(BcastScatterAllgather, bcast, "scatter_allgather", WISP_RBC_BCAST, WISP_RBC_BCAST_ARGUMENTS)

// clang-format on

/// `recvcount` is that of all blocks together; their sizes are asked for first.
inline int AllgathervDissemination(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, Comm const& comm) {
  std::vector<int> counts(wisp::detail::as_size(comm.getSize()));
  int size_of_sent = 0;
  int size_of_received = 1;
  wisp::detail::check_mpi(MPI_Type_size(sendtype, &size_of_sent), "MPI_Type_size");
  wisp::detail::check_mpi(MPI_Type_size(recvtype, &size_of_received), "MPI_Type_size");
  const auto bytes = std::int64_t{sendcount} * size_of_sent;
  const int own = static_cast<int>(size_of_received > 0 ? bytes / size_of_received : 0);
  comm.on().allgather(wisp::buffer_of(own), counts, with_tag(comm, RBC_OPTIMIZED_TAG));
  comm.on().allgatherv(read(sendbuf, sendcount, sendtype), {vector(recvbuf, recvcount, recvtype), counts},
                       with_tag(comm, RBC_OPTIMIZED_TAG, "dissemination"));
  return MPI_SUCCESS;
}

}  // namespace _internal::optimized

#undef WISP_RBC_LIST
#undef WISP_RBC_BLOCKING
#undef WISP_RBC_NONBLOCKING
#undef WISP_RBC_BOTH
#undef WISP_RBC_VECTORS
#undef WISP_RBC_REDUCED
#undef WISP_RBC_BLOCKS
#undef WISP_RBC_IRREGULAR_BLOCKS
#undef WISP_RBC_MERGED
#undef WISP_RBC_SENT
#undef WISP_RBC_MERGE
#undef WISP_RBC_MERGE_ARGUMENTS
#undef WISP_RBC_MERGE_ALL
#undef WISP_RBC_MERGE_ALL_ARGUMENTS
#undef WISP_RBC_SCAN_AND_BCAST
#undef WISP_RBC_SCAN_AND_BCAST_ARGUMENTS
#undef WISP_RBC_NAMED
#undef WISP_RBC_GATHERED
#undef WISP_RBC_BCAST
#undef WISP_RBC_BCAST_ARGUMENTS

}  // namespace RBC

namespace rbc = RBC;
