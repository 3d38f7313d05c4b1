/* Chains of wisp for C: groups as linked lists, with O(1) memory for each process, and the split of a group
   by any color and key. Included by wisp.h. */
#ifndef WISP_CHAIN_H
#define WISP_CHAIN_H

#include <stdint.h>

#include "wisp/wisp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies of the handle are the same chain. Freed locally; operations that are still running go on. */
typedef struct WISP_Chain_object* WISP_Chain;
#define WISP_CHAIN_NULL ((WISP_Chain)0)

/* The ranks of `comm`, or of a range of them, in their order. Local. */
int WISP_Chain_of_comm(WISP_Comm comm, WISP_Chain* chain);
int WISP_Chain_of_range(WISP_Comm comm, int first, int last, int stride, WISP_Chain* chain);
/* From explicit neighbors, ranks of `comm` or MPI_PROC_NULL. Who is named names the other, too: else one
   waits for ever. Neighbors compare their ranks and sizes: one message each. `tag` tells creations in flight
   between the same neighbors apart. */
int WISP_Chain_of_neighbors(WISP_Comm comm, int left, int right, int rank, int size, int tag,
                            WISP_Chain* chain);
int WISP_Chain_free(WISP_Chain* chain);

int WISP_Chain_rank(WISP_Chain chain, int* rank);
int WISP_Chain_size(WISP_Chain chain, int* size);
/* Ranks in the MPI communicator below: the caller's own, and those of its neighbors or MPI_PROC_NULL. Each
   may be NULL. */
int WISP_Chain_neighbors(WISP_Chain chain, int* address, int* left, int* right);
/* A communicator with the same ranks. O(size) memory. The handle is set when the request is done. */
int WISP_Chain_to_comm(WISP_Chain chain, WISP_Comm* newcomm);
int WISP_Chain_ito_comm(WISP_Chain chain, WISP_Comm* newcomm, WISP_Request* request);

/* Made by scripts/faces from the rows of src/c/chain.cpp. */
/* clang-format off */

/* Collectives, as those of MPI; operators are applied in rank order. */
int WISP_Chain_barrier(WISP_Chain chain);
int WISP_Chain_ibarrier(WISP_Chain chain, WISP_Request* request);
int WISP_Chain_bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, WISP_Chain chain);
int WISP_Chain_ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Chain chain);
int WISP_Chain_ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);

/* Over the ranks up to this one, and over those from this one on, at once; the second without this rank. */
int WISP_Chain_double_scan(const void* sendbuf, void* before, void* after, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_idouble_scan(const void* sendbuf, void* before, void* after, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_double_exscan(const void* sendbuf, void* before, void* after, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_idouble_exscan(const void* sendbuf, void* before, void* after, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);

/* Scans that begin anew where a rank's color (as in WISP_Split) is not that of its left neighbor. */
int WISP_Chain_segmented_scan(const void* color, int color_count, MPI_Datatype color_type, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_isegmented_scan(const void* color, int color_count, MPI_Datatype color_type, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_segmented_exscan(const void* color, int color_count, MPI_Datatype color_type, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain);
int WISP_Chain_isegmented_exscan(const void* color, int color_count, MPI_Datatype color_type, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, WISP_Chain chain, WISP_Request* request);

/* Counts are those of one rank's block. */
int WISP_Chain_gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Chain chain);
int WISP_Chain_igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Chain chain);
int WISP_Chain_iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, WISP_Chain chain, WISP_Request* request);
int WISP_Chain_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Chain chain);
int WISP_Chain_iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Chain chain, WISP_Request* request);
/* End of what is made. */
/* clang-format on */

/* How colors or keys compare, if not by themselves; the functions are given their bytes, aligned for any type
   (NULL, perhaps, if there are none), how many, and `state`. Equal labels have equal hashes; hash may be NULL
   (with a compare, hash algorithms are not used then). */
typedef struct WISP_Order {
  int (*compare)(const void* a, int a_bytes, const void* b, int b_bytes, void* state);
  uint64_t (*hash)(const void* label, int bytes, void* state);
  void* state;
} WISP_Order;

/* As color: this process is left out, and gets WISP_CHAIN_NULL. */
extern const char WISP_Undefined_color;
#define WISP_UNDEFINED ((const void*)&WISP_Undefined_color)

/* The ranks with this rank's color, in the order of their keys, and of their old ranks where keys are equal.
   A label is `count` elements: of MPI_CHAR or MPI_BYTE, each rank's own number, ordered as strings; of
   integer types, MPI_FLOAT and MPI_DOUBLE, ordered as numbers, and of any other type, compared by `order`, as
   many on every rank. With MPI_DATATYPE_NULL as its type there is no splitting, or no ordering; an order may
   be NULL. Any number is a color. The info may hold wisp_algorithm. The handle is set when the request is
   done.
 */
int WISP_Split(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
               const WISP_Order* color_order, const void* key, int key_count, MPI_Datatype key_type,
               const WISP_Order* key_order, MPI_Info info, WISP_Chain* newchain);
int WISP_Isplit(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
                const WISP_Order* color_order, const void* key, int key_count, MPI_Datatype key_type,
                const WISP_Order* key_order, MPI_Info info, WISP_Chain* newchain, WISP_Request* request);
/* As MPI_Comm_split: a color of MPI_UNDEFINED leaves the process out. */
int WISP_Comm_split(WISP_Comm comm, int color, int key, WISP_Comm* newcomm);

/* Splits that many want. */
int WISP_Split_by_string(WISP_Chain chain, const char* color, WISP_Chain* newchain);
int WISP_Split_by_host(WISP_Chain chain, WISP_Chain* newchain);
int WISP_Split_by_shared_memory(WISP_Chain chain, WISP_Chain* newchain);
/* The ranks of this rank's color, and (WISP_CHAIN_NULL on the others) the first ranks of all colors. */
int WISP_Split_two_level(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
                         const WISP_Order* color_order, WISP_Chain* members, WISP_Chain* leaders);
/* Without making a chain: the group's number by its first rank, how many groups there are, and the rank in,
   and size of, this rank's group. Each output may be NULL; all but groups are -1 where the color is
   undefined. */
int WISP_Group_rank(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
                    const WISP_Order* color_order, int* group, int* groups, int* rank, int* size);

#ifdef __cplusplus
}
#endif

#endif
