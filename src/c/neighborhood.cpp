#include <charconv>
#include <cstring>
#include <span>

#include "c/block_arguments.hpp"
#include "c/shims.hpp"
#include "neighborhood/made_on_all.hpp"
#include "wisp/neighborhood.h"

// Neighborhoods of wisp/neighborhood.h.

using namespace wisp;
using namespace wisp::c;

namespace {

const Neighborhood& neighborhood_of(WISP_Neighborhood neighborhood) {
  if (neighborhood == WISP_NEIGHBORHOOD_NULL) {
    throw Error(MPI_ERR_ARG, "neighborhood = WISP_NEIGHBORHOOD_NULL");
  }
  return alive(neighborhood, MPI_ERR_TOPOLOGY, "neighborhood").neighborhood;
}

std::vector<int> weights_of(int count, const int* weights) {
  if (weights == nullptr || weights == MPI_UNWEIGHTED) return {};
  return {weights, weights + checked_count(count, "s")};
}

/// As many of the values as there is room for, if they are wanted.
void put_list(std::span<const int> values, int room, std::size_t width, int* to) {
  if (to == nullptr) return;
  const std::size_t most = checked_count(room, "max") * width;
  std::copy_n(values.begin(), std::min(values.size(), most), to);
}

void put_offsets(const Offsets& offsets, int room, int* to, int* count) {
  put_list(offsets.flat(), room, as_size(offsets.dimensions()), to);
  if (count != nullptr) *count = offsets.size();
}

void put_index(int index, int* to) {
  out(to, "index") = index < 0 ? MPI_UNDEFINED : index;
}

std::span<const int> offset_of(const Neighborhood& on, const int* offset) {
  return array_of(offset, as_size(on.torus().dimensions()), "offset");
}

/// The options that an info holds: wisp_algorithm, wisp_ports, wisp_copying.
class NeighborInfo {
 public:
  explicit NeighborInfo(MPI_Info info) : algorithm_(info, "wisp_algorithm") {
    options_.algorithm = algorithm_.get();
    const InfoValue ports(info, "wisp_ports");
    const std::string_view number = ports.get();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options_.ports);
    if (!number.empty() && (error != std::errc() || end != number.data() + number.size())) {
      detail::throw_error(MPI_ERR_INFO_VALUE, "wisp_ports = {} is not a number", number);
    }
    const InfoValue copying(info, "wisp_copying");
    if (copying.get() == "pack") {
      options_.copying = NeighborCopying::pack;
    } else if (copying.get() == "datatypes") {
      options_.copying = NeighborCopying::datatypes;
    } else if (!copying.get().empty()) {
      detail::throw_error(MPI_ERR_INFO_VALUE, "wisp_copying = {} is not one of pack, datatypes",
                          copying.get());
    }
  }
  const NeighborOptions& get() const { return options_; }

 private:
  InfoValue algorithm_;
  NeighborOptions options_;
};

}  // namespace

#define WISP_LIST(...) __VA_ARGS__

// `arguments` are those of the C++ member, in terms of the neighborhood `on`. MPI has Neighbor_, Ineighbor_
// and Neighbor_…_init: `Name` is without its first letter.
#define WISP_FACES(Name, name, parameters, arguments)                                                    \
  int WISP_NAME(N##Name)(WISP_LIST parameters WISP_Neighborhood neighborhood) {                          \
    return guarded(WISP_TEXT(N##Name), [&] {                                                             \
      const Neighborhood& on = neighborhood_of(neighborhood);                                            \
      on.name(WISP_LIST arguments NeighborOptions());                                                    \
    });                                                                                                  \
  }                                                                                                      \
  int WISP_NAME(In##Name)(WISP_LIST parameters WISP_Neighborhood neighborhood, WISP_Request * request) { \
    return guarded(WISP_TEXT(In##Name), [&] {                                                            \
      put_request(request, [&] {                                                                         \
        const Neighborhood& on = neighborhood_of(neighborhood);                                          \
        return on.i##name(WISP_LIST arguments NeighborOptions());                                        \
      });                                                                                                \
    });                                                                                                  \
  }                                                                                                      \
  int WISP_NAME(N##Name##_init)(WISP_LIST parameters WISP_Neighborhood neighborhood, MPI_Info info,      \
                                WISP_Request * request) {                                                \
    return guarded(WISP_TEXT(N##Name##_init), [&] {                                                      \
      put_request(request, [&] {                                                                         \
        const Neighborhood& on = neighborhood_of(neighborhood);                                          \
        return on.name##_init(WISP_LIST arguments NeighborInfo(info).get());                             \
      });                                                                                                \
    });                                                                                                  \
  }

extern "C" {

int WISP_Neighborhood_create(WISP_Comm comm, int d, const int dims[], const int periods[], int s,
                             const int offsets[], const int weights[], WISP_Neighborhood* neighborhood) {
  return guarded("WISP_Neighborhood_create", [&] {
    out(neighborhood, "neighborhood");
    const Comm& on = comm_of(comm);
    const Stencil stencil = detail::made_on_all(on, [&] {
      const std::span<const int> sizes = array_of(dims, checked_count(d, "d"), "dims");
      const std::vector<int> periodic =
          periods == nullptr ? std::vector<int>() : std::vector<int>(periods, periods + d);
      return Stencil(Torus({sizes.begin(), sizes.end()}, periodic), offsets_of(d, s, offsets, "offsets"),
                     weights_of(s, weights));
    });
    *neighborhood = new WISP_Neighborhood_object(Neighborhood::create(on, stencil));
  });
}

int WISP_Neighborhood_create_cart(MPI_Comm cart, int s, const int offsets[], const int weights[],
                                  WISP_Neighborhood* neighborhood) {
  return guarded("WISP_Neighborhood_create_cart", [&] {
    out(neighborhood, "neighborhood");
    const Torus torus = Torus::of_cart(cart);
    const Comm on = Comm::duplicate(cart);
    const Stencil stencil = detail::made_on_all(on, [&] {
      return Stencil(torus, offsets_of(torus.dimensions(), s, offsets, "offsets"), weights_of(s, weights));
    });
    *neighborhood = new WISP_Neighborhood_object(Neighborhood::create(on, stencil));
  });
}

int WISP_Neighborhood_create_adjacent(WISP_Comm comm, int indegree, const int sources[], int outdegree,
                                      const int targets[], WISP_Neighborhood* neighborhood) {
  return guarded("WISP_Neighborhood_create_adjacent", [&] {
    out(neighborhood, "neighborhood");
    const Comm& on = comm_of(comm);
    const auto [from, to] = detail::made_on_all(on, [&] {
      return std::pair(array_of(sources, checked_count(indegree, "indegree"), "sources"),
                       array_of(targets, checked_count(outdegree, "outdegree"), "targets"));
    });
    *neighborhood = new WISP_Neighborhood_object(Neighborhood::adjacent(on, from, to));
  });
}

int WISP_Neighborhood_create_graph(MPI_Comm graph, WISP_Neighborhood* neighborhood) {
  return guarded("WISP_Neighborhood_create_graph", [&] {
    out(neighborhood, "neighborhood");
    *neighborhood = new WISP_Neighborhood_object(Neighborhood::of_graph(graph));
  });
}

int WISP_Neighborhood_degrees(WISP_Neighborhood neighborhood, int* indegree, int* outdegree) {
  return guarded("WISP_Neighborhood_degrees", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    on.comm();
    if (indegree != nullptr) *indegree = static_cast<int>(on.sources().size());
    if (outdegree != nullptr) *outdegree = static_cast<int>(on.targets().size());
  });
}

int WISP_Neighborhood_free(WISP_Neighborhood* neighborhood) {
  return guarded("WISP_Neighborhood_free", [&] {
    WISP_Neighborhood& handle = out(neighborhood, "neighborhood");
    free_handle(handle, detail::CommAccess::context(neighborhood_of(handle).comm()));
  });
}

int WISP_Neighborhood_count(WISP_Neighborhood neighborhood, int* d, int* s) {
  return guarded("WISP_Neighborhood_count", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    if (d != nullptr) *d = on.torus().dimensions();
    if (s != nullptr) *s = on.size();
  });
}

int WISP_Neighborhood_get(WISP_Neighborhood neighborhood, int max, int sources[], int targets[],
                          int weights[]) {
  return guarded("WISP_Neighborhood_get", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    put_list(on.sources(), max, 1, sources);
    put_list(on.targets(), max, 1, targets);
    if (weights != nullptr && on.has_stencil()) put_list(on.stencil().weights(), max, 1, weights);
  });
}

int WISP_Neighborhood_get_relative(WISP_Neighborhood neighborhood, int max, int offsets[], int weights[]) {
  return guarded("WISP_Neighborhood_get_relative", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    put_offsets(on.stencil().offsets(), max, offsets, nullptr);
    put_list(on.stencil().weights(), max, 1, weights);
  });
}

int WISP_Neighborhood_find_rank(WISP_Neighborhood neighborhood, int rank, int* index) {
  return guarded("WISP_Neighborhood_find_rank",
                 [&] { put_index(neighborhood_of(neighborhood).find_rank(rank), index); });
}

int WISP_Neighborhood_find_offset(WISP_Neighborhood neighborhood, const int offset[], int* index) {
  return guarded("WISP_Neighborhood_find_offset", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    put_index(on.find_offset(offset_of(on, offset)), index);
  });
}

int WISP_Neighborhood_shift(WISP_Neighborhood neighborhood, const int offset[], int* source, int* target) {
  return guarded("WISP_Neighborhood_shift", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    const Shift shift = on.shift(offset_of(on, offset));
    if (source != nullptr) *source = shift.source;
    if (target != nullptr) *target = shift.target;
  });
}

int WISP_Neighborhood_relative_rank(WISP_Neighborhood neighborhood, const int offset[], int* rank) {
  return guarded("WISP_Neighborhood_relative_rank", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    out(rank, "rank") = on.shift(offset_of(on, offset)).target;
  });
}

int WISP_Neighborhood_relative_offset(WISP_Neighborhood neighborhood, int rank, int offset[]) {
  return guarded("WISP_Neighborhood_relative_offset", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    const std::vector<int> between = on.torus().offset_between(on.comm().rank(), rank);
    if (!between.empty()) std::copy(between.begin(), between.end(), &out(offset, "offset"));
  });
}

int WISP_Neighborhood_describe(WISP_Neighborhood neighborhood, int allgather, MPI_Count bytes, char* text,
                               int size) {
  return guarded("WISP_Neighborhood_describe", [&] {
    const Neighborhood& on = neighborhood_of(neighborhood);
    const auto pattern = allgather != 0 ? NeighborPattern::allgather : NeighborPattern::alltoall;
    const std::string description = on.describe(pattern, checked_count(bytes, "bytes"));
    const std::size_t room = checked_count(size, "size");
    if (room == 0) return;
    const std::size_t length = std::min(description.size(), room - 1);
    std::memcpy(&out(text, "text"), description.data(), length);
    text[length] = '\0';
  });
}

int WISP_Neighborhood_check_operations(WISP_Neighborhood neighborhood, int enabled) {
  return guarded("WISP_Neighborhood_check_operations", [&] {
    neighborhood_of(neighborhood);
    neighborhood->neighborhood.check_operations(enabled != 0);
  });
}

int WISP_Offsets_moore(int d, int radius, int max, int offsets[], int* s) {
  return guarded("WISP_Offsets_moore", [&] { put_offsets(moore(d, radius), max, offsets, s); });
}
int WISP_Offsets_von_neumann(int d, int radius, int max, int offsets[], int* s) {
  return guarded("WISP_Offsets_von_neumann", [&] { put_offsets(von_neumann(d, radius), max, offsets, s); });
}
int WISP_Offsets_octant(int d, int radius, int max, int offsets[], int* s) {
  return guarded("WISP_Offsets_octant", [&] { put_offsets(octant(d, radius), max, offsets, s); });
}
int WISP_Offsets_shales(int d, int count, const int radii[], int max, int offsets[], int* s) {
  return guarded("WISP_Offsets_shales", [&] {
    put_offsets(shales(d, array_of(radii, checked_count(count, "count"), "radii")), max, offsets, s);
  });
}

#define WISP_NAME(name) WISP_##name
#define WISP_TEXT(name) "WISP_" #name
#define WISP_COUNT int
#define WISP_DISPLACEMENT int
#include "c/neighbor_faces.inc"
#undef WISP_NAME
#undef WISP_TEXT
#undef WISP_COUNT
#undef WISP_DISPLACEMENT

#define WISP_NAME(name) WISP_##name##_c
#define WISP_TEXT(name) "WISP_" #name "_c"
#define WISP_COUNT MPI_Count
#define WISP_DISPLACEMENT MPI_Aint
#include "c/neighbor_faces.inc"

}  // extern "C"
