#include "c/shims.hpp"

// Messages of wisp.h. Each function has two forms, that differ in the type of their counts.

using namespace wisp;
using namespace wisp::c;

#define WISP_MESSAGES(suffix, Count)                                                                         \
  int WISP_Send##suffix(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,              \
                        WISP_Comm comm) {                                                                    \
    return guarded("WISP_Send" #suffix,                                                                      \
                   [&] { comm_of(comm).send(to_send(buf, count, datatype, "count"), dest, tag); });          \
  }                                                                                                          \
  int WISP_Ssend##suffix(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,             \
                         WISP_Comm comm) {                                                                   \
    return guarded("WISP_Ssend" #suffix,                                                                     \
                   [&] { comm_of(comm).ssend(to_send(buf, count, datatype, "count"), dest, tag); });         \
  }                                                                                                          \
  int WISP_Recv##suffix(void* buf, Count count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,  \
                        MPI_Status* status) {                                                                \
    return guarded("WISP_Recv" #suffix, [&] {                                                                \
      put_status(status, comm_of(comm).receive(to_receive(buf, count, datatype, "count"), source, tag));     \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Sendrecv##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,           \
                            int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source,  \
                            int recvtag, WISP_Comm comm, MPI_Status* status) {                               \
    return guarded("WISP_Sendrecv" #suffix, [&] {                                                            \
      put_status(status, comm_of(comm).sendrecv(                                                             \
                             to_send(sendbuf, sendcount, sendtype, "sendcount"), dest, sendtag,              \
                             to_receive(recvbuf, recvcount, recvtype, "recvcount"), source, recvtag));       \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Isend##suffix(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,             \
                         WISP_Comm comm, WISP_Request* request) {                                            \
    return guarded("WISP_Isend" #suffix, [&] {                                                               \
      out(request, "request");                                                                               \
      put_request(request, comm_of(comm).isend(to_send(buf, count, datatype, "count"), dest, tag));          \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Issend##suffix(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,            \
                          WISP_Comm comm, WISP_Request* request) {                                           \
    return guarded("WISP_Issend" #suffix, [&] {                                                              \
      out(request, "request");                                                                               \
      put_request(request, comm_of(comm).issend(to_send(buf, count, datatype, "count"), dest, tag));         \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Irecv##suffix(void* buf, Count count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm, \
                         WISP_Request* request) {                                                            \
    return guarded("WISP_Irecv" #suffix, [&] {                                                               \
      out(request, "request");                                                                               \
      put_request(request, comm_of(comm).ireceive(to_receive(buf, count, datatype, "count"), source, tag));  \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Isendrecv##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,          \
                             int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, \
                             int recvtag, WISP_Comm comm, WISP_Request* request) {                           \
    return guarded("WISP_Isendrecv" #suffix, [&] {                                                           \
      out(request, "request");                                                                               \
      put_request(request, comm_of(comm).isendrecv(                                                          \
                               to_send(sendbuf, sendcount, sendtype, "sendcount"), dest, sendtag,            \
                               to_receive(recvbuf, recvcount, recvtype, "recvcount"), source, recvtag));     \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Send_init##suffix(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,         \
                             WISP_Comm comm, WISP_Request* request) {                                        \
    return guarded("WISP_Send_init" #suffix, [&] {                                                           \
      out(request, "request");                                                                               \
      put_request(request, comm_of(comm).send_init(to_send(buf, count, datatype, "count"), dest, tag));      \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Ssend_init##suffix(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,        \
                              WISP_Comm comm, WISP_Request* request) {                                       \
    return guarded("WISP_Ssend_init" #suffix, [&] {                                                          \
      out(request, "request");                                                                               \
      put_request(request, comm_of(comm).ssend_init(to_send(buf, count, datatype, "count"), dest, tag));     \
    });                                                                                                      \
  }                                                                                                          \
  int WISP_Recv_init##suffix(void* buf, Count count, MPI_Datatype datatype, int source, int tag,             \
                             WISP_Comm comm, WISP_Request* request) {                                        \
    return guarded("WISP_Recv_init" #suffix, [&] {                                                           \
      out(request, "request");                                                                               \
      put_request(request,                                                                                   \
                  comm_of(comm).receive_init(to_receive(buf, count, datatype, "count"), source, tag));       \
    });                                                                                                      \
  }

extern "C" {

WISP_MESSAGES(, int)
WISP_MESSAGES(_c, MPI_Count)

int WISP_Probe(int source, int tag, WISP_Comm comm, MPI_Status* status) {
  return guarded("WISP_Probe", [&] { put_status(status, comm_of(comm).probe(source, tag)); });
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
