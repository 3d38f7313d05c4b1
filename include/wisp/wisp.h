/* The C interface of wisp, for C99 and later: MPI's names, arguments and conventions, with WISP_ for MPI_.

   Communicators are made locally, without a message (WISP_Comm_range); the rest is as users of MPI know it:
   buffers, counts, datatypes, operators, roots, statuses, MPI_IN_PLACE, MPI_ANY_SOURCE, MPI_ANY_TAG,
   MPI_PROC_NULL, MPI_STATUS_IGNORE. Nonblocking and persistent operations give a WISP_Request.

   Every function returns MPI_SUCCESS or an error class of MPI's, and never aborts; WISP_Error_message says
   what was wrong. A wrong argument is an error on the rank that gave it, before any message. (A message that
   is longer than its receive's buffer MPICH tells the error handler of MPI_COMM_WORLD first, whose default
   aborts; and what MPI finds wrong on an attached communicator goes to the handler of that.)

   Forms with _c take counts as MPI_Count and displacements as MPI_Aint. Handles are opaque. */
#ifndef WISP_H
#define WISP_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator: copies of the handle are the same one. Freed by WISP_Comm_free, locally; operations on it
   that are still running go on. */
typedef struct WISP_Comm_object* WISP_Comm;
#define WISP_COMM_NULL ((WISP_Comm)0)

/* An operation. WISP_REQUEST_NULL after it has ended, unless it is persistent. */
typedef struct WISP_Request_object* WISP_Request;
#define WISP_REQUEST_NULL ((WISP_Request)0)

/* What an exchange brings: blocks by the rank of their sender, made empty and to be freed. */
typedef struct WISP_Arrivals_object* WISP_Arrivals;
#define WISP_ARRIVALS_NULL ((WISP_Arrivals)0)

/* Merges two sorted ranges of elements into `result`; [first, first_end) comes from lower ranks. */
typedef void (*WISP_Merge)(void* first, void* first_end, void* second, void* second_end, void* result);

/* The sentence of the last error of the calling thread: the call, the argument, its value and its bound. */
const char* WISP_Error_message(void);

/* Communicators. */

/* All ranks of `comm`, with messages isolated from the caller's own. Collective over `comm` the first time,
   then local. */
int WISP_Comm_duplicate(MPI_Comm comm, WISP_Comm* newcomm);
/* The same with so many MPI communicators below, 1 to 1,024: the first has codes for 3,071 communicators that
   two ranks may share at one time (383 on MPICH) and for 1,023 (127) chains and communicators of
   create_group, icreate, split and to_comm of a process, each further one for 2,048 (256) of either. */
int WISP_Comm_duplicate_with(MPI_Comm comm, int mpi_communicators, WISP_Comm* newcomm);
/* The same without a duplicate: local. The caller's own receives on `comm` must not use MPI_ANY_TAG while
   wisp works, and tags of its own messages are below half of MPI_TAG_UB (raw communicators: differ from those
   it gives to wisp). */
int WISP_Comm_attach(MPI_Comm comm, WISP_Comm* newcomm);
/* The ranks first, first + stride, ... up to last; WISP_COMM_NULL if last < first. Local, no message.
   Processes make the communicators that they share in the same order. */
int WISP_Comm_range(WISP_Comm comm, int first, int last, int stride, WISP_Comm* newcomm);
/* The given ranks, in that order. Local. */
int WISP_Comm_subset(WISP_Comm comm, int count, const int ranks[], WISP_Comm* newcomm);
/* The ranks that share the caller's node, and the first rank of each node (WISP_COMM_NULL for others): local.
 */
int WISP_Comm_node(WISP_Comm comm, WISP_Comm* newcomm);
int WISP_Comm_node_leaders(WISP_Comm comm, WISP_Comm* newcomm);
/* A subset for creations that overlap in any order; called by the members, who give a tag to each of those
   that are in flight at one time. O(log size) messages. Nothing is sent on newcomm before its request is
   done. */
int WISP_Comm_create_group(WISP_Comm comm, MPI_Group group, int tag, WISP_Comm* newcomm);
int WISP_Comm_icreate_group(WISP_Comm comm, MPI_Group group, int tag, WISP_Comm* newcomm,
                            WISP_Request* request);
/* The same called by all ranks of `comm`; WISP_COMM_NULL for those that are not in the group. */
int WISP_Comm_icreate(WISP_Comm comm, MPI_Group group, WISP_Comm* newcomm, WISP_Request* request);
/* The same ranks with the tags of MPI's own messages: communicators that share more than one process must not
   communicate at the same time. Local. */
int WISP_Comm_raw(WISP_Comm comm, WISP_Comm* newcomm);
/* The same processes as a group of MPI's, which the caller frees. Local. */
int WISP_Comm_group(WISP_Comm comm, MPI_Group* group);
/* A real MPI communicator with the same ranks, for other libraries; the caller frees it. Collective. */
int WISP_Comm_to_mpi(WISP_Comm comm, MPI_Comm* newcomm);
int WISP_Comm_free(WISP_Comm* comm);

/* MPI_UNDEFINED if the caller is not a member. */
int WISP_Comm_rank(WISP_Comm comm, int* rank);
int WISP_Comm_size(WISP_Comm comm, int* size);
/* The rank in `other`, of the same MPI communicator, of the process with `rank` in `comm`, or MPI_UNDEFINED:
   also in WISP_COMM_NULL. */
int WISP_Comm_translate(WISP_Comm comm, int rank, WISP_Comm other, int* translated);
/* Its name, of at most MPI_MAX_OBJECT_NAME - 1 characters: one that it was given, or how it was made, as in
   world[0..6:2]. Local. */
int WISP_Comm_get_name(WISP_Comm comm, char* name, int* resultlen);
int WISP_Comm_set_name(WISP_Comm comm, const char* name);
/* The ranks of its processes that have failed, as far as this process knows, upwards: how many, and the first
   `maxranks` of them. Local. What survivors do then: docs/failures.md. */
int WISP_Comm_get_failed(WISP_Comm comm, int maxranks, int ranks[], int* count);
/* The largest tag of a message. */
int WISP_Comm_tag_ub(WISP_Comm comm, int* tag_ub);

/* Point-to-point. */

int WISP_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm);
int WISP_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm);
int WISP_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm);
int WISP_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm);
int WISP_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,
              MPI_Status* status);
int WISP_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,
                MPI_Status* status);
int WISP_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  WISP_Comm comm, MPI_Status* status);
int WISP_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    WISP_Comm comm, MPI_Status* status);
/* The same from and into one buffer. */
int WISP_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                          int recvtag, WISP_Comm comm, MPI_Status* status);
int WISP_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                            int source, int recvtag, WISP_Comm comm, MPI_Status* status);
int WISP_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm,
               WISP_Request* request);
int WISP_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm,
                 WISP_Request* request);
int WISP_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm,
                WISP_Request* request);
int WISP_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm,
                  WISP_Request* request);
int WISP_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,
               WISP_Request* request);
int WISP_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,
                 WISP_Request* request);
int WISP_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   WISP_Comm comm, WISP_Request* request);
int WISP_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                     void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                     WISP_Comm comm, WISP_Request* request);
int WISP_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                           int recvtag, WISP_Comm comm, WISP_Request* request);
int WISP_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                             int source, int recvtag, WISP_Comm comm, WISP_Request* request);
int WISP_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm,
                   WISP_Request* request);
int WISP_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     WISP_Comm comm, WISP_Request* request);
int WISP_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, WISP_Comm comm,
                    WISP_Request* request);
int WISP_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      WISP_Comm comm, WISP_Request* request);
int WISP_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,
                   WISP_Request* request);
int WISP_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, WISP_Comm comm,
                     WISP_Request* request);
int WISP_Probe(int source, int tag, WISP_Comm comm, MPI_Status* status);
int WISP_Iprobe(int source, int tag, WISP_Comm comm, int* flag, MPI_Status* status);

/* Completion. Each of these drives all operations of the process. */

int WISP_Test(WISP_Request* request, int* flag, MPI_Status* status);
int WISP_Wait(WISP_Request* request, MPI_Status* status);
int WISP_Testall(int count, WISP_Request requests[], int* flag, MPI_Status* statuses);
int WISP_Waitall(int count, WISP_Request requests[], MPI_Status* statuses);
/* `index` is MPI_UNDEFINED, and `outcount` too, if no request is active. */
int WISP_Testany(int count, WISP_Request requests[], int* index, int* flag, MPI_Status* status);
int WISP_Waitany(int count, WISP_Request requests[], int* index, MPI_Status* status);
int WISP_Testsome(int incount, WISP_Request requests[], int* outcount, int indices[], MPI_Status* statuses);
int WISP_Waitsome(int incount, WISP_Request requests[], int* outcount, int indices[], MPI_Status* statuses);
/* Persistent requests. */
int WISP_Start(WISP_Request* request);
int WISP_Startall(int count, WISP_Request requests[]);
/* An active operation runs on; its buffers must live until it ends. */
int WISP_Request_free(WISP_Request* request);

/* Collectives. Each blocks, or (I...) gives a request that is started, or (..._init) one that WISP_Start
   starts. All members start those of a communicator in the same order; persistent ones in any order. The info
   of a persistent one may have the key "wisp_algorithm", with a name of docs/collectives.md, or the key
   "wisp_reproducible" with "true": the same bits whatever the nodes, the root and the size of the vector.

   (I..._range) works on the ranks first ... last of `comm` only, which alone call it: a communicator of that
   range is made for it, and the root counts in it. */

/* Ends when all have begun. */
int WISP_Barrier(WISP_Comm comm);
int WISP_Ibarrier(WISP_Comm comm, WISP_Request* request);
int WISP_Barrier_init(WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ibarrier_range(WISP_Comm comm, WISP_Request* request, int first, int last);

int WISP_Arrivals_create(WISP_Arrivals* arrivals);
int WISP_Arrivals_count(WISP_Arrivals arrivals, int* count);
/* Block i: its sender, and its elements without gaps, which stay until the next exchange or the end of
   arrivals. */
int WISP_Arrivals_block(WISP_Arrivals arrivals, int i, int* source, const void** data, MPI_Count* bytes);
int WISP_Arrivals_free(WISP_Arrivals* arrivals);

/* Made by scripts/faces from the rows of src/c/collective_faces.inc and src/c/own_faces.inc. */
/* clang-format off */

/* The root's buffer to all. */
int WISP_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, WISP_Comm comm);
int WISP_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, WISP_Comm comm);
int WISP_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ibcast_range(void* buffer, int count, MPI_Datatype datatype, int root, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The reduction of all sendbuf, in rank order, in the root's recvbuf. */
int WISP_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm);
int WISP_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm);
int WISP_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ireduce_range(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The reduction in everybody's recvbuf. */
int WISP_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iallreduce_range(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The reduction over the ranks up to the own one. */
int WISP_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iscan_range(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The reduction over the ranks below; rank 0's recvbuf stays as it is. */
int WISP_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iexscan_range(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The reduction, of which each rank gets a block of recvcount elements. */
int WISP_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ireduce_scatter_block_range(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The reduction, of which rank r gets a block of recvcounts[r] elements. */
int WISP_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ireduce_scatter_range(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Everybody's block in the root's recvbuf. */
int WISP_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Igather_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The same with blocks of any sizes and places, which only the root knows. */
int WISP_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Igatherv_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Everybody's block in everybody's recvbuf. */
int WISP_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iallgather_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The same with blocks of any sizes and places, which all ranks know. */
int WISP_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iallgatherv_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Block r of the root's sendbuf to rank r. */
int WISP_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iscatter_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The same with blocks of any sizes and places, which only the root knows. */
int WISP_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm);
int WISP_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request);
int WISP_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iscatterv_range(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Block r of sendbuf to rank r. */
int WISP_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ialltoall_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The same with blocks of any sizes and places. */
int WISP_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Comm comm);
int WISP_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request);
int WISP_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ialltoallv_range(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Comm comm, WISP_Request* request, int first, int last);

/* The same with a datatype for each block and displacements in bytes. */
int WISP_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm);
int WISP_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm, WISP_Request* request);
int WISP_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm);
int WISP_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm, WISP_Request* request);
int WISP_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Ialltoallw_range(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], WISP_Comm comm, WISP_Request* request, int first, int last);

/* The scan, and the reduction over all ranks in everybody's totalbuf. */
int WISP_Scan_and_bcast(const void* sendbuf, void* scanbuf, void* totalbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iscan_and_bcast(const void* sendbuf, void* scanbuf, void* totalbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Scan_and_bcast_init(const void* sendbuf, void* scanbuf, void* totalbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Scan_and_bcast_c(const void* sendbuf, void* scanbuf, void* totalbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm);
int WISP_Iscan_and_bcast_c(const void* sendbuf, void* scanbuf, void* totalbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request);
int WISP_Scan_and_bcast_init_c(const void* sendbuf, void* scanbuf, void* totalbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iscan_and_bcast_range(const void* sendbuf, void* scanbuf, void* totalbuf, int count, MPI_Datatype datatype, MPI_Op op, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Everybody's sorted sequence, of any length, merged into one at the root, which has room for recvcount
   elements in all. */
int WISP_Gatherm(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, int root, WISP_Merge merge, WISP_Comm comm);
int WISP_Igatherm(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, int root, WISP_Merge merge, WISP_Comm comm, WISP_Request* request);
int WISP_Gatherm_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, int root, WISP_Merge merge, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Gatherm_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, int root, WISP_Merge merge, WISP_Comm comm);
int WISP_Igatherm_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, int root, WISP_Merge merge, WISP_Comm comm, WISP_Request* request);
int WISP_Gatherm_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, int root, WISP_Merge merge, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Igatherm_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, int root, WISP_Merge merge, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Everybody's sorted sequence merged into one, everywhere. */
int WISP_Allgatherm(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, WISP_Merge merge, WISP_Comm comm);
int WISP_Iallgatherm(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, WISP_Merge merge, WISP_Comm comm, WISP_Request* request);
int WISP_Allgatherm_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, WISP_Merge merge, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Allgatherm_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, WISP_Merge merge, WISP_Comm comm);
int WISP_Iallgatherm_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, WISP_Merge merge, WISP_Comm comm, WISP_Request* request);
int WISP_Allgatherm_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, WISP_Merge merge, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iallgatherm_range(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, WISP_Merge merge, WISP_Comm comm, WISP_Request* request, int first, int last);

/* Blocks to ranks that need not know of them: block i of `count` goes to destinations[i]. What comes to this
   rank is in arrivals when the operation is done. */
int WISP_Exchange(int count, const int destinations[], const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm);
int WISP_Iexchange(int count, const int destinations[], const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm, WISP_Request* request);
int WISP_Exchange_init(int count, const int destinations[], const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Exchange_c(int count, const int destinations[], const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm);
int WISP_Iexchange_c(int count, const int destinations[], const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm, WISP_Request* request);
int WISP_Exchange_init_c(int count, const int destinations[], const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm, MPI_Info info, WISP_Request* request);
int WISP_Iexchange_range(int count, const int destinations[], const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, WISP_Arrivals arrivals, WISP_Comm comm, WISP_Request* request, int first, int last);
/* End of what is made. */
/* clang-format on */

#ifdef __cplusplus
}
#endif

#include "wisp/chain.h"
#include "wisp/neighborhood.h"

#endif
