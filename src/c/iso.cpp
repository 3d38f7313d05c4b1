#include "wisp/iso.h"

#include <memory>

#include "c/block_arguments.hpp"
#include "c/shims.hpp"
#include "neighborhood/made_on_all.hpp"
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

}  // namespace

extern "C" {

int Iso_neighborhood_create(MPI_Comm cartcomm, int s, const int relative_coordinates[], MPI_Comm* isocomm) {
  return guarded("Iso_neighborhood_create", [&] {
    out(isocomm, "isocomm");
    const Torus torus = Torus::of_cart(cartcomm);
    MPI_Comm made = MPI_COMM_NULL;
    detail::check_mpi(MPI_Comm_dup(cartcomm, &made), "MPI_Comm_dup");
    try {
      const Comm on = Comm::duplicate(made);
      const Stencil stencil = detail::made_on_all(on, [&] {
        return Stencil(torus,
                       offsets_of(torus.dimensions(), s, relative_coordinates, "relative_coordinates"));
      });
      kept_with(made)->neighborhood = Neighborhood::create(on, stencil);
    } catch (...) {
      MPI_Comm_free(&made);
      throw;
    }
    *isocomm = made;
  });
}

#define WISP_COUNT int
#define WISP_DISPLACEMENT MPI_Aint
#define WISP_LIST(...) __VA_ARGS__
#define WISP_FACES(Name, name, parameters, arguments)                                  \
  int Iso_##name##_init(WISP_LIST parameters MPI_Comm isocomm, Iso_request* request) { \
    return guarded("Iso_" #name "_init", [&] {                                         \
      put_request(request, [&] {                                                       \
        const Neighborhood on = neighborhood_of(isocomm);                              \
        return on.name##_init(WISP_LIST arguments NeighborOptions());                  \
      });                                                                              \
    });                                                                                \
  }
#include "c/neighbor_faces.inc"

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
