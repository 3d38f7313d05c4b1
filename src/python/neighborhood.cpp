#include "wisp/neighborhood.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "neighborhood/made_on_all.hpp"
#include "python/arguments.hpp"
#include "python/module.hpp"
#include "wisp/error.hpp"

namespace wisp::python {
namespace {

using Class = nb::class_<Neighborhood>;

/// Dimensions of 0 are chosen as MPI_Dims_create does; without periods all are periodic, without offsets the
/// neighbors are all that touch.
Neighborhood on_torus(const Comm& comm, std::vector<int> dims, const std::optional<std::vector<int>>& periods,
                      const std::optional<std::vector<std::vector<int>>>& offsets) {
  detail::check_member(comm, "wisp::Neighborhood");
  const auto stencil = [&] {
    const auto dimensions = static_cast<int>(dims.size());
    if (std::find(dims.begin(), dims.end(), 0) != dims.end())
      detail::check_mpi(MPI_Dims_create(comm.size(), dimensions, dims.data()), "MPI_Dims_create");
    Offsets all(dimensions);
    for (const std::vector<int>& offset : offsets.value_or(std::vector<std::vector<int>>())) all.add(offset);
    return Stencil(Torus(std::move(dims), periods.value_or(std::vector<int>())),
                   offsets ? all : moore(dimensions, 1));
  };
  return Neighborhood::create(comm, detail::made_on_all(comm, stencil));
}

std::vector<std::vector<int>> offsets_of(const Neighborhood& on) {
  const Offsets& offsets = on.stencil().offsets();
  std::vector<std::vector<int>> all;
  for (int i = 0; i < offsets.size(); ++i) all.emplace_back(offsets[i].begin(), offsets[i].end());
  return all;
}

}  // namespace

void define_neighborhood(nb::module_& module) {
  Class in(module, "Neighborhood",
           "A communicator whose ranks lie on a torus or mesh, each with the same list of relative "
           "neighbors: block "
           "i goes to the rank at offset i, and the block of the rank at minus offset i arrives as block i. "
           "Messages are combined: 26 neighbors in 6. Block sizes are the same on all ranks.");
  in.def(
        "__init__",
        [](Neighborhood* made, const Comm& comm, const std::vector<int>& dims,
           const std::optional<std::vector<int>>& periods,
           const std::optional<std::vector<std::vector<int>>>& offsets) {
          new (made) Neighborhood(on_torus(comm, dims, periods, offsets));
        },
        nb::arg("comm"), nb::arg("dims"), nb::arg("periods") = nb::none(), nb::arg("offsets") = nb::none(),
        "Dimensions of 0 are chosen as by MPI.Compute_dims. Without `periods` all dimensions are periodic; "
        "without `offsets` the neighbors are all that touch, 3^d - 1. No message, except with WISP_CHECK=1.")
      .def_prop_ro("offsets", &offsets_of);
  in.def_prop_ro(
        "size", [](const Neighborhood& on) { return incoming(on); }, "How many neighbors there are.")
      .def_prop_ro("comm", [](const Neighborhood& on) { return on.comm(); })  // of one's own, to be freed
      .def_prop_ro("dims", [](const Neighborhood& on) { return on.torus().dims(); })
      .def_prop_ro("periods",
                   [](const Neighborhood& on) {
                     std::vector<bool> periods;
                     for (int i = 0; i < on.torus().dimensions(); ++i)
                       periods.push_back(on.torus().periodic(i));
                     return periods;
                   })
      .def_prop_ro("coordinates",
                   [](const Neighborhood& on) { return on.torus().coordinates(on.comm().rank()); })
      .def_prop_ro(
          "sources",
          [](const Neighborhood& on) { return std::vector<int>(on.sources().begin(), on.sources().end()); },
          "The rank that block i comes from; MPI.PROC_NULL beyond a border.")
      .def_prop_ro(
          "targets",
          [](const Neighborhood& on) { return std::vector<int>(on.targets().begin(), on.targets().end()); },
          "The rank that block i goes to; MPI.PROC_NULL beyond a border.")
      .def_static(
          "adjacent",
          [](const Comm& comm, const std::vector<int>& sources, const std::vector<int>& targets) {
            return Neighborhood::adjacent(comm, sources, targets);
          },
          nb::arg("comm"), nb::arg("sources"), nb::arg("targets"),
          "Of any lists: block i that is received comes from sources[i], block i that is sent goes to "
          "targets[i]. No message, except with WISP_CHECK=1.");
  define_without_root<NeighborOptions, &neighbor_alltoall, from_even_blocks<Neighborhood>,
                      to_even_blocks<Neighborhood>>(
      in, {"Neighbor_alltoall", "Ineighbor_alltoall", "Neighbor_alltoall_init"},
      "Block i of sendbuf to the rank at offset i, where it arrives as block i of recvbuf; `size` blocks "
      "each. "
      "Over the torus Dα + V nβ.");
  define_without_root<NeighborOptions, &neighbor_alltoallv, from_blocks<Neighborhood>,
                      to_blocks<Neighborhood>>(
      in, {"Neighbor_alltoallv", "Ineighbor_alltoallv", "Neighbor_alltoallv_init"},
      "The same with blocks of any sizes: [buffer, counts, displacements, datatype].");
  define_without_root<NeighborOptions, &neighbor_alltoallw, from_typed_blocks<Neighborhood>,
                      to_typed_blocks<Neighborhood>>(
      in, {"Neighbor_alltoallw", "Ineighbor_alltoallw", "Neighbor_alltoallw_init"},
      "The same with a datatype for each block: [buffer, counts, byte displacements, datatypes], or a list "
      "with a buffer for each neighbor.");
  define_without_root<NeighborOptions, &neighbor_allgather, from_one<Neighborhood>,
                      to_even_blocks<Neighborhood>>(
      in, {"Neighbor_allgather", "Ineighbor_allgather", "Neighbor_allgather_init"},
      "sendbuf to all neighbors; that of the rank at minus offset i arrives as block i of recvbuf. Over the "
      "torus Dα + W nβ.");
  define_without_root<NeighborOptions, &neighbor_allgatherv, from_one<Neighborhood>, to_blocks<Neighborhood>>(
      in, {"Neighbor_allgatherv", "Ineighbor_allgatherv", "Neighbor_allgatherv_init"},
      "The same with blocks in any places: [buffer, counts, displacements, datatype].");
}

}  // namespace wisp::python
