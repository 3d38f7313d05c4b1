#include "wisp/iso.h"

#include <memory>

#include "c/block_arguments.hpp"
#include "c/shims.hpp"
#include "transport/mpi_attribute.hpp"

// The names of wisp/iso.h: a neighborhood is an attribute of the communicator that stands for it.

using namespace wisp;
using namespace wisp::c;

namespace {

struct Kept {
  Neighborhood neighborhood;
  void close() noexcept { neighborhood = {}; }
};

std::shared_ptr<Kept> kept_with(MPI_Comm isocomm) {
  return detail::attribute_of<Kept>(isocomm, [] { return std::make_shared<Kept>(); });
}

Neighborhood neighborhood_of(MPI_Comm isocomm) {
  if (isocomm == MPI_COMM_NULL) throw Error(MPI_ERR_COMM, "isocomm = MPI_COMM_NULL");
  const Neighborhood kept = kept_with(isocomm)->neighborhood;
  if (kept.state() == nullptr) throw Error(MPI_ERR_COMM, "isocomm is not from Iso_neighborhood_create");
  return kept;
}

template <class Init>
int init(const char* call, MPI_Comm isocomm, Iso_request* request, Init make) {
  return guarded(call, [&] {
    out(request, "request");
    put_request(request, make(neighborhood_of(isocomm)));
  });
}

}  // namespace

extern "C" {

int Iso_neighborhood_create(MPI_Comm cartcomm, int s, const int relative_coordinates[], MPI_Comm* isocomm) {
  return guarded("Iso_neighborhood_create", [&] {
    out(isocomm, "isocomm");
    const Torus torus = Torus::of_cart(cartcomm);
    const Offsets offsets = offsets_of(torus.dimensions(), s, relative_coordinates, "relative_coordinates");
    MPI_Comm made = MPI_COMM_NULL;
    detail::check_mpi(MPI_Comm_dup(cartcomm, &made), "MPI_Comm_dup");
    try {
      kept_with(made)->neighborhood = Neighborhood::create(Comm::duplicate(made), Stencil(torus, offsets));
    } catch (...) {
      MPI_Comm_free(&made);
      throw;
    }
    *isocomm = made;
  });
}

int Iso_neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm isocomm, Iso_request* request) {
  return init("Iso_neighbor_alltoall_init", isocomm, request, [&](const Neighborhood& on) {
    return on.neighbor_alltoall_init(all_blocks(on, sendbuf, sendcount, sendtype, "sendcount"),
                                     all_blocks(on, recvbuf, recvcount, recvtype, "recvcount"));
  });
}

int Iso_neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, MPI_Comm isocomm,
                                Iso_request* request) {
  return init("Iso_neighbor_allgather_init", isocomm, request, [&](const Neighborhood& on) {
    return on.neighbor_allgather_init(to_send(sendbuf, sendcount, sendtype, "sendcount"),
                                      all_blocks(on, recvbuf, recvcount, recvtype, "recvcount"));
  });
}

int Iso_neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const MPI_Aint senddispls[],
                                MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                const MPI_Aint recvdispls[], MPI_Datatype recvtype, MPI_Comm isocomm,
                                Iso_request* request) {
  return init("Iso_neighbor_alltoallv_init", isocomm, request, [&](const Neighborhood& on) {
    return on.neighbor_alltoallv_init(blocks(on, sendbuf, sendcounts, senddispls, sendtype),
                                      blocks(on, recvbuf, recvcounts, recvdispls, recvtype));
  });
}

int Iso_neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                 MPI_Comm isocomm, Iso_request* request) {
  return init("Iso_neighbor_allgatherv_init", isocomm, request, [&](const Neighborhood& on) {
    return on.neighbor_allgatherv_init(to_send(sendbuf, sendcount, sendtype, "sendcount"),
                                       blocks(on, recvbuf, recvcounts, recvdispls, recvtype));
  });
}

int Iso_neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint senddispls[],
                                const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                Iso_request* request) {
  return init("Iso_neighbor_alltoallw_init", isocomm, request, [&](const Neighborhood& on) {
    return on.neighbor_alltoallw_init(blocks(on, sendbuf, sendcounts, senddispls, sendtypes),
                                      blocks(on, recvbuf, recvcounts, recvdispls, recvtypes));
  });
}

int Iso_neighbor_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm isocomm, Iso_request* request) {
  return init("Iso_neighbor_allgatherw_init", isocomm, request, [&](const Neighborhood& on) {
    return on.neighbor_allgatherw_init(to_send(sendbuf, sendcount, sendtype, "sendcount"),
                                       blocks(on, recvbuf, recvcounts, recvdispls, recvtypes));
  });
}

int Iso_start(Iso_request* request) {
  const int code = WISP_Start(request);
  return code == MPI_SUCCESS ? WISP_Wait(request, MPI_STATUS_IGNORE) : code;
}

int Iso_wait(Iso_request* request) {
  return WISP_Wait(request, MPI_STATUS_IGNORE);
}

int Iso_request_free(Iso_request* request) {
  return WISP_Request_free(request);
}

}  // extern "C"
