#include "c/shims.hpp"

// Messages of wisp.h. Each function has two forms, that differ in the type of their counts.

using namespace wisp;
using namespace wisp::c;

// Parameters, and what the members of Comm take of them.
#define WISP_OUTGOING(Count) const void *buf, Count count, MPI_Datatype datatype, int dest, int tag
#define WISP_SENT to_send(buf, count, datatype, "count"), dest, tag
#define WISP_INCOMING(Count) void *buf, Count count, MPI_Datatype datatype, int source, int tag
#define WISP_RECEIVED to_receive(buf, count, datatype, "count"), source, tag
#define WISP_BOTH(Count)                                                                             \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, \
      Count recvcount, MPI_Datatype recvtype, int source, int recvtag
#define WISP_EXCHANGED                                               \
  to_send(sendbuf, sendcount, sendtype, "sendcount"), dest, sendtag, \
      to_receive(recvbuf, recvcount, recvtype, "recvcount"), source, recvtag

#define WISP_REPLACED_BY(Count) \
  void *buf, Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag
#define WISP_REPLACED to_receive(buf, count, datatype, "count"), dest, sendtag, source, recvtag

// Those that block have a copy: another thread may free the handle meanwhile.
#define WISP_LIST(...) __VA_ARGS__
#define WISP_SENDS(name, parameters, call)                    \
  int name(WISP_LIST parameters, WISP_Comm comm) {            \
    return guarded(#name, [&] { Comm(comm_of(comm)).call; }); \
  }
#define WISP_RECEIVES(name, parameters, call)                                     \
  int name(WISP_LIST parameters, WISP_Comm comm, MPI_Status* status) {            \
    return guarded(#name, [&] { put_status(status, Comm(comm_of(comm)).call); }); \
  }
#define WISP_STARTS(name, parameters, call)                                                   \
  int name(WISP_LIST parameters, WISP_Comm comm, WISP_Request* request) {                     \
    return guarded(#name, [&] { put_request(request, [&] { return comm_of(comm).call; }); }); \
  }

#define WISP_MESSAGES(suffix, Count)                                                                       \
  WISP_SENDS(WISP_Send##suffix, (WISP_OUTGOING(Count)), send(WISP_SENT))                                   \
  WISP_SENDS(WISP_Ssend##suffix, (WISP_OUTGOING(Count)), ssend(WISP_SENT))                                 \
  WISP_RECEIVES(WISP_Recv##suffix, (WISP_INCOMING(Count)), receive(WISP_RECEIVED))                         \
  WISP_RECEIVES(WISP_Sendrecv##suffix, (WISP_BOTH(Count)), sendrecv(WISP_EXCHANGED))                       \
  WISP_RECEIVES(WISP_Sendrecv_replace##suffix, (WISP_REPLACED_BY(Count)), sendrecv_replace(WISP_REPLACED)) \
  WISP_STARTS(WISP_Isendrecv_replace##suffix, (WISP_REPLACED_BY(Count)), isendrecv_replace(WISP_REPLACED)) \
  WISP_STARTS(WISP_Isend##suffix, (WISP_OUTGOING(Count)), isend(WISP_SENT))                                \
  WISP_STARTS(WISP_Issend##suffix, (WISP_OUTGOING(Count)), issend(WISP_SENT))                              \
  WISP_STARTS(WISP_Irecv##suffix, (WISP_INCOMING(Count)), ireceive(WISP_RECEIVED))                         \
  WISP_STARTS(WISP_Isendrecv##suffix, (WISP_BOTH(Count)), isendrecv(WISP_EXCHANGED))                       \
  WISP_STARTS(WISP_Send_init##suffix, (WISP_OUTGOING(Count)), send_init(WISP_SENT))                        \
  WISP_STARTS(WISP_Ssend_init##suffix, (WISP_OUTGOING(Count)), ssend_init(WISP_SENT))                      \
  WISP_STARTS(WISP_Recv_init##suffix, (WISP_INCOMING(Count)), receive_init(WISP_RECEIVED))

extern "C" {

WISP_MESSAGES(, int)
WISP_MESSAGES(_c, MPI_Count)

int WISP_Probe(int source, int tag, WISP_Comm comm, MPI_Status* status) {
  return guarded("WISP_Probe", [&] { put_status(status, Comm(comm_of(comm)).probe(source, tag)); });
}

int WISP_Iprobe(int source, int tag, WISP_Comm comm, int* flag, MPI_Status* status) {
  return guarded("WISP_Iprobe", [&] {
    out(flag, "flag") = 0;
    if (const std::optional<Status> found = comm_of(comm).iprobe(source, tag)) {
      *flag = 1;
      put_status(status, *found);
    }
  });
}

}  // extern "C"
