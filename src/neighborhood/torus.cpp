// Ranks and coordinates of a torus, and lists of offsets.

#include "wisp/torus.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

/// All offsets with coordinates least … radius for which `keep` holds, row by row.
template <class Keep>
Offsets offsets_within(const char* call, int dimensions, int least, int radius, Keep keep) {
  detail::check_within(MPI_ERR_DIMS, call, "dimensions", dimensions, 1, 64);
  detail::check_within(MPI_ERR_ARG, call, "radius", radius, 0, 1 << 20);
  constexpr double most = 1 << 24;
  if (std::pow(radius - least + 1.0, dimensions) > most) {
    detail::throw_error(MPI_ERR_ARG, "{}: radius = {} in {} dimensions gives more than 2^24 offsets", call,
                        radius, dimensions);
  }
  Offsets offsets(dimensions);
  std::vector<int> offset(detail::as_size(dimensions), least);
  while (true) {
    const bool is_zero = std::all_of(offset.begin(), offset.end(), [](int c) { return c == 0; });
    if (!is_zero && keep(offset)) offsets.add(offset);
    auto last = offset.rbegin();
    while (last != offset.rend() && *last == radius) *last++ = least;
    if (last == offset.rend()) return offsets;
    ++*last;
  }
}

int distance(const std::vector<int>& offset) {
  int largest = 0;
  for (const int c : offset) largest = std::max(largest, std::abs(c));
  return largest;
}

}  // namespace

Torus::Torus(std::vector<int> dims, std::vector<int> periods)
    : dims_(std::move(dims)), periods_(std::move(periods)) {
  constexpr const char* call = "wisp::Torus";
  if (periods_.empty()) periods_.assign(dims_.size(), 1);
  if (periods_.size() != dims_.size()) {
    detail::throw_error(MPI_ERR_DIMS, "{}: periods has {} entries, but dims has {}", call, periods_.size(),
                        dims_.size());
  }
  std::int64_t size = 1;
  for (std::size_t j = 0; j < dims_.size(); ++j) {
    if (dims_[j] < 1) {
      detail::throw_error(MPI_ERR_DIMS, "{}: dims[{}] = {} is below 1", call, j, dims_[j]);
    }
    periods_[j] = periods_[j] != 0 ? 1 : 0;
    size *= dims_[j];
    if (size > std::numeric_limits<int>::max()) {
      detail::throw_error(MPI_ERR_DIMS, "{}: dims[0..{}] are more than 2^31 - 1 ranks", call, j);
    }
  }
  size_ = static_cast<int>(size);
}

Torus Torus::of_cart(MPI_Comm cart) {
  detail::check_comm(cart, "wisp::Torus::of_cart", "cart");
  int status = MPI_UNDEFINED;
  detail::check_mpi(MPI_Topo_test(cart, &status), "MPI_Topo_test");
  if (status != MPI_CART) {
    throw Error(MPI_ERR_TOPOLOGY, "wisp::Torus::of_cart: cart is not a Cartesian communicator");
  }
  int dimensions = 0;
  detail::check_mpi(MPI_Cartdim_get(cart, &dimensions), "MPI_Cartdim_get");
  const auto d = detail::as_size(dimensions);
  // One more: of no dimension there is no array to give.
  std::vector<int> dims(d + 1);
  std::vector<int> periods(d + 1);
  std::vector<int> coordinates(d + 1);
  detail::check_mpi(MPI_Cart_get(cart, dimensions, dims.data(), periods.data(), coordinates.data()),
                    "MPI_Cart_get");
  dims.resize(d);
  periods.resize(d);
  return Torus(std::move(dims), std::move(periods));
}

bool Torus::is_periodic() const {
  return std::all_of(periods_.begin(), periods_.end(), [](int period) { return period != 0; });
}

std::vector<int> Torus::coordinates(int rank) const {
  detail::check_within(MPI_ERR_RANK, "wisp::Torus", "rank", rank, 0, size_ - 1);
  std::vector<int> coordinates(dims_.size());
  for (std::size_t j = dims_.size(); j-- > 0;) {
    coordinates[j] = rank % dims_[j];
    rank /= dims_[j];
  }
  return coordinates;
}

void Torus::check_dimensions(std::span<const int> offset) const {
  if (offset.size() == dims_.size()) return;
  detail::throw_error(MPI_ERR_DIMS, "wisp::Torus: an offset of {} coordinates in {} dimensions",
                      offset.size(), dims_.size());
}

int Torus::rank_at(std::span<const int> coordinates) const {
  check_dimensions(coordinates);
  int rank = 0;
  for (std::size_t j = 0; j < dims_.size(); ++j) {
    int at = coordinates[j];
    if (periods_[j] != 0) {
      at %= dims_[j];
      if (at < 0) at += dims_[j];
    } else if (at < 0 || at >= dims_[j]) {
      return MPI_PROC_NULL;
    }
    rank = rank * dims_[j] + at;
  }
  return rank;
}

int Torus::relative_rank(int rank, std::span<const int> offset) const {
  return shift(rank, offset).target;
}

Shift Torus::shift(int rank, std::span<const int> offset) const {
  check_dimensions(offset);
  return shift_from(coordinates(rank), offset.data());
}

std::vector<Shift> Torus::shifts(int rank, const Offsets& offsets) const {
  if (offsets.size() > 0) check_dimensions(offsets[0]);
  const std::vector<int> here = coordinates(rank);
  std::vector<Shift> shifts(detail::as_size(offsets.size()));
  const int* offset = offsets.flat().data();
  for (Shift& shift : shifts) {
    shift = shift_from(here, offset);
    offset += here.size();
  }
  return shifts;
}

Shift Torus::shift_from(std::span<const int> here, const int* offset) const {
  Shift shift{0, 0};
  for (std::size_t j = 0; j < here.size(); ++j) {
    const int n = dims_[j];
    for (const auto& [sign, to] : {std::pair{-1, &shift.source}, {1, &shift.target}}) {
      std::int64_t at = here[j] + sign * std::int64_t{offset[j]};
      const bool is_outside = at < 0 || at >= n;
      if (is_outside) at %= n;
      if (at < 0) at += n;
      const bool is_nobody = *to < 0 || (is_outside && periods_[j] == 0);
      *to = is_nobody ? -1 : *to * n + static_cast<int>(at);
    }
  }
  if (shift.source < 0) shift.source = MPI_PROC_NULL;
  if (shift.target < 0) shift.target = MPI_PROC_NULL;
  return shift;
}

std::vector<int> Torus::offset_between(int from, int to) const {
  std::vector<int> offset = coordinates(to);
  const std::vector<int> start = coordinates(from);
  for (std::size_t j = 0; j < offset.size(); ++j) {
    offset[j] -= start[j];
    if (periods_[j] == 0) continue;
    if (2 * std::int64_t{offset[j]} > dims_[j]) offset[j] -= dims_[j];
    if (2 * std::int64_t{offset[j]} <= -dims_[j]) offset[j] += dims_[j];
  }
  return offset;
}

Offsets::Offsets(int dimensions, std::span<const int> flat) : dimensions_(dimensions) {
  if (dimensions < 1 || flat.size() % step() != 0) {
    detail::throw_error(MPI_ERR_DIMS, "wisp::Offsets: {} integers are no list of offsets in {} dimensions",
                        flat.size(), dimensions);
  }
  flat_.assign(flat.begin(), flat.end());
  size_ = static_cast<int>(flat.size() / step());
}

Offsets::Offsets(std::initializer_list<std::initializer_list<int>> list)
    : dimensions_(list.size() == 0 ? 0 : static_cast<int>(list.begin()->size())) {
  for (const std::initializer_list<int>& offset : list)
    add(std::span<const int>(offset.begin(), offset.size()));
}

void Offsets::add(std::span<const int> offset) {
  if (offset.size() != step()) {
    detail::throw_error(MPI_ERR_DIMS, "wisp::Offsets: offset {} has {} coordinates instead of {}", size_,
                        offset.size(), dimensions_);
  }
  flat_.insert(flat_.end(), offset.begin(), offset.end());
  ++size_;
}

Offsets moore(int dimensions, int radius) {
  return offsets_within("wisp::moore", dimensions, -radius, radius, [](const auto&) { return true; });
}

Offsets von_neumann(int dimensions, int radius) {
  return offsets_within("wisp::von_neumann", dimensions, -radius, radius,
                        [=](const std::vector<int>& offset) {
                          int sum = 0;
                          for (const int c : offset) sum += std::abs(c);
                          return sum <= radius;
                        });
}

Offsets octant(int dimensions, int radius) {
  return offsets_within("wisp::octant", dimensions, 0, radius, [](const auto&) { return true; });
}

Offsets shales(int dimensions, std::span<const int> radii) {
  for (const int radius : radii)
    detail::check_within(MPI_ERR_ARG, "wisp::shales", "radius", radius, 0, 1 << 20);
  const int largest = radii.empty() ? 0 : *std::max_element(radii.begin(), radii.end());
  return offsets_within("wisp::shales", dimensions, -largest, largest, [&](const std::vector<int>& offset) {
    return std::find(radii.begin(), radii.end(), distance(offset)) != radii.end();
  });
}

}  // namespace wisp
