/* Neighborhoods of wisp for C: ranks on a torus or mesh, all with the same list of relative neighbors; or any
   lists of sources and targets.
   Included by wisp.h. */
#ifndef WISP_NEIGHBORHOOD_H
#define WISP_NEIGHBORHOOD_H

#include "wisp/wisp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies of the handle are the same neighborhood. Freed locally; operations that are still running go on. */
typedef struct WISP_Neighborhood_object* WISP_Neighborhood;
#define WISP_NEIGHBORHOOD_NULL ((WISP_Neighborhood)0)

/* The ranks of `comm` on a torus of dims[0] x ... x dims[d - 1], numbered row by row; dimension j is periodic
   if periods[j] is not 0 (NULL: all are). offsets: s times d integers, which may repeat, be zero, or be
   longer than a dimension; weights: s integers, or NULL. The same on all ranks; with WISP_CHECK=1 in the
   environment they are compared, and every rank gets an error if they differ or if those of one are wrong.
   Local otherwise. */
int WISP_Neighborhood_create(WISP_Comm comm, int d, const int dims[], const int periods[], int s,
                             const int offsets[], const int weights[], WISP_Neighborhood* neighborhood);
/* The same on a Cartesian communicator. Collective. */
int WISP_Neighborhood_create_cart(MPI_Comm cart, int s, const int offsets[], const int weights[],
                                  WISP_Neighborhood* neighborhood);
/* Any lists: block i that is received comes from sources[i], block i that is sent goes to targets[i]; a rank
   is named as often as there are blocks. All blocks between two ranks go as one message. Local; with
   WISP_CHECK=1 it is compared. */
int WISP_Neighborhood_create_adjacent(WISP_Comm comm, int indegree, const int sources[], int outdegree,
                                      const int targets[], WISP_Neighborhood* neighborhood);
/* The same of a communicator with the topology of MPI_Dist_graph_create(_adjacent). Collective. */
int WISP_Neighborhood_create_graph(MPI_Comm graph, WISP_Neighborhood* neighborhood);
/* Numbers of blocks that are received and sent. */
int WISP_Neighborhood_degrees(WISP_Neighborhood neighborhood, int* indegree, int* outdegree);
int WISP_Neighborhood_free(WISP_Neighborhood* neighborhood);

/* Numbers of dimensions and of neighbors. Every output of these functions may be NULL, unless it is the only
   one. */
int WISP_Neighborhood_count(WISP_Neighborhood neighborhood, int* d, int* s);
/* The ranks that block i comes from and goes to, or MPI_PROC_NULL; at most `max` of them. Weights are written
   if there are any. */
int WISP_Neighborhood_get(WISP_Neighborhood neighborhood, int max, int sources[], int targets[],
                          int weights[]);
/* At most `max` offsets, d integers each. */
int WISP_Neighborhood_get_relative(WISP_Neighborhood neighborhood, int max, int offsets[], int weights[]);
/* The first neighbor that is this rank, or has this offset modulo periodic dimensions; or MPI_UNDEFINED. */
int WISP_Neighborhood_find_rank(WISP_Neighborhood neighborhood, int rank, int* index);
int WISP_Neighborhood_find_offset(WISP_Neighborhood neighborhood, const int offset[], int* index);
/* Of any offset from the caller, in the neighborhood or not: source and target, or MPI_PROC_NULL. */
int WISP_Neighborhood_shift(WISP_Neighborhood neighborhood, const int offset[], int* source, int* target);
int WISP_Neighborhood_relative_rank(WISP_Neighborhood neighborhood, const int offset[], int* rank);
/* The shortest offset from the caller to a rank. */
int WISP_Neighborhood_relative_offset(WISP_Neighborhood neighborhood, int rank, int offset[]);
/* A table for people, cut off at size - 1 characters: rounds, volume and modelled time of every schedule for
   blocks of so many bytes, and which one is taken. */
int WISP_Neighborhood_describe(WISP_Neighborhood neighborhood, int allgather, MPI_Count bytes, char* text,
                               int size);
/* Whether operations compare block sizes between ranks first. On all ranks. */
int WISP_Neighborhood_check_operations(WISP_Neighborhood neighborhood, int enabled);

/* Offsets of neighborhoods that many use, without the zero offset: at most `max` of them, and how many there
   are. offsets may be NULL. */
int WISP_Offsets_moore(int d, int radius, int max, int offsets[], int* s);
int WISP_Offsets_von_neumann(int d, int radius, int max, int offsets[], int* s);
int WISP_Offsets_octant(int d, int radius, int max, int offsets[], int* s);
int WISP_Offsets_shales(int d, int count, const int radii[], int max, int offsets[], int* s);

/* Collectives, with the forms of those in wisp.h. The info of a persistent one may hold wisp_algorithm
   (straightforward, direct, torus, torus-direct, basis), wisp_ports and wisp_copying (pack, datatypes).
   Arrays of counts, displacements and datatypes are not needed after the call; datatypes may be freed then.
 */

/* Made by scripts/faces from the rows of src/c/neighbor_faces.inc. */
/* clang-format off */

/* Block i of sendbuf to the rank at offset i, where it arrives as block i of recvbuf. */
int WISP_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
int WISP_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);

/* The same with blocks of any sizes and places; block i has the same size on all ranks. */
int WISP_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
int WISP_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);

/* The same with a datatype for each block and displacements in bytes. */
int WISP_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood);
int WISP_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
int WISP_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood);
int WISP_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);

/* sendbuf to all neighbors; that of the rank at minus offset i arrives as block i of recvbuf. */
int WISP_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
int WISP_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);

/* The same with blocks in any places. */
int WISP_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
int WISP_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood);
int WISP_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);

/* The same with a datatype for each block and displacements in bytes. */
int WISP_Neighbor_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood);
int WISP_Ineighbor_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
int WISP_Neighbor_allgatherw_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood);
int WISP_Ineighbor_allgatherw_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, WISP_Request* request);
int WISP_Neighbor_allgatherw_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], WISP_Neighborhood neighborhood, MPI_Info info, WISP_Request* request);
/* End of what is made. */
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
