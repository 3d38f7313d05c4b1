/* The names of Träff, Carpen-Amarie, Hunold, Rougier: "Message-Combining Algorithms for Isomorphic, Sparse
   Collective Communication" (2016), listings 1 to 3, for programs that were written for them. An isomorphic
   communicator is an MPI_Comm: a duplicate of the Cartesian one that knows its neighbors; the caller frees
   it.

   Iso_start initiates and completes the operation, as the paper says of it, and Iso_wait (from its outlook)
   finds it complete. An Iso_request is a WISP_Request: WISP_Start instead of Iso_start only initiates it.

   Every function returns MPI_SUCCESS or an error class of MPI's; WISP_Error_message says what was wrong. */
#ifndef WISP_ISO_H
#define WISP_ISO_H

#include "wisp/wisp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef WISP_Request Iso_request;

/* relative_coordinates: s offsets, one after the other; the same on all ranks. Collective. */
int Iso_neighborhood_create(MPI_Comm cartcomm, int s, const int relative_coordinates[], MPI_Comm* isocomm);

int Iso_neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm isocomm, Iso_request* request);
int Iso_neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, MPI_Comm isocomm, Iso_request* request);

/* Displacements are in elements of the datatype; of the forms with w in bytes. */
int Iso_neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const MPI_Aint senddispls[],
                                MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                const MPI_Aint recvdispls[], MPI_Datatype recvtype, MPI_Comm isocomm,
                                Iso_request* request);
int Iso_neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                 MPI_Comm isocomm, Iso_request* request);
int Iso_neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint senddispls[],
                                const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                Iso_request* request);
int Iso_neighbor_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm isocomm, Iso_request* request);

int Iso_start(Iso_request* request);
int Iso_wait(Iso_request* request);
int Iso_request_free(Iso_request* request);

#ifdef __cplusplus
}
#endif

#endif
