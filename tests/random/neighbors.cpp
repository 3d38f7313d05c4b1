// Collectives of neighborhoods.

#include "random/launch.hpp"
#include "stencils.hpp"

namespace wisp::test {

void Running::prepare_neighbors() {
  Draw draw = Draw(spec_.seed).with(8);
  // Dimensions of 1 and 2, meshes and tori, offsets that repeat, are zero, or go around.
  const std::vector<int> dims = random_dims(draw, size_, 3);
  std::vector<int> periods(dims.size());
  for (int& period : periods) period = draw.once_in(3) ? 0 : 1;
  Offsets offsets(static_cast<int>(dims.size()));
  std::vector<std::vector<int>> list(static_cast<std::size_t>(draw.below(10)));
  for (std::vector<int>& offset : list) {
    for (std::size_t j = 0; j < dims.size(); ++j) offset.push_back(draw.below(7) - 3);
    if (draw.once_in(4)) offset = list.front().size() == dims.size() ? list.front() : offset;
    offsets.add(offset);
  }
  neighborhood_ = Neighborhood(comm_, Stencil(Torus(dims, periods), offsets));
  /// The rank at an offset, or -1; the last dimension runs fastest.
  const auto at = [&](const std::vector<int>& offset, int sign) {
    int rank = 0;
    int stride = size_;
    int rest = rank_;
    for (std::size_t j = 0; j < dims.size(); ++j) {
      stride /= dims[j];
      int x = rest / stride + sign * offset[j];
      rest %= stride;
      if (periods[j] != 0) {
        x = (x % dims[j] + dims[j]) % dims[j];
      } else if (x < 0 || x >= dims[j]) {
        return -1;
      }
      rank += x * stride;
    }
    return rank;
  };
  const std::size_t neighbors = list.size();
  const bool is_alltoall = spec_.kind <= Kind::neighbor_alltoallw;
  const bool is_regular = spec_.kind == Kind::neighbor_alltoall || spec_.kind == Kind::neighbor_allgather;
  const bool has_types = spec_.kind == Kind::neighbor_alltoallw || spec_.kind == Kind::neighbor_allgatherw;
  const std::size_t own_cells = cells_ % 600;
  std::vector<std::size_t> cells(neighbors, own_cells);
  if (is_alltoall && !is_regular) {
    for (std::size_t i = 0; i < neighbors; ++i) cells[i] = cells_of(0, static_cast<int>(i)) % 600;
  }
  const Spread spread = has_types ? Spread::by_types : Spread::apart;
  Side* receive = is_regular ? &add_regular(neighbors, own_cells) : &add_blocks(cells, spread);
  Side* send = !is_alltoall ? &add_regular(1, own_cells)
               : is_regular ? &add_regular(neighbors, own_cells)
                            : &add_blocks(cells, spread);
  for (std::size_t i = 0; i < (is_alltoall ? neighbors : 1); ++i) {
    fill(*send, i, rank_, static_cast<int>(i), false);
  }
  for (std::size_t i = 0; i < neighbors; ++i) {
    const int source = at(list[i], -1);
    if (source >= 0) fill(*receive, i, source, is_alltoall ? static_cast<int>(i) : 0, true);
  }
  NeighborOptions options;
  options.copying = static_cast<NeighborCopying>(draw.below(3));
  options.own_tag = own_tag_of(spec_);
  const auto with = [=](std::string_view algorithm) {
    NeighborOptions named = options;
    named.algorithm = algorithm;
    return named;
  };
#define WISP_LAUNCH_NEIGHBORS(name, ...)                                       \
  launch_ = [=, this](Face face, std::string_view algorithm) -> Request {      \
    return WISP_CALL(neighborhood_, name, __VA_ARGS__)(face, with(algorithm)); \
  }
  switch (spec_.kind) {
    case Kind::neighbor_alltoall:
      WISP_LAUNCH_NEIGHBORS(neighbor_alltoall, send->const_buffer(), receive->buffer());
      return;
    case Kind::neighbor_alltoallv:
      WISP_LAUNCH_NEIGHBORS(neighbor_alltoallv, send->const_blocks(), receive->blocks());
      return;
    case Kind::neighbor_alltoallw:
      WISP_LAUNCH_NEIGHBORS(neighbor_alltoallw, send->const_blocks(), receive->blocks());
      return;
    case Kind::neighbor_allgather:
      WISP_LAUNCH_NEIGHBORS(neighbor_allgather, send->const_buffer(), receive->buffer());
      return;
    case Kind::neighbor_allgatherv:
      WISP_LAUNCH_NEIGHBORS(neighbor_allgatherv, send->const_buffer(), receive->blocks());
      return;
    default:
      WISP_LAUNCH_NEIGHBORS(neighbor_allgatherw, send->const_buffer(), receive->blocks());
  }
}

}  // namespace wisp::test
