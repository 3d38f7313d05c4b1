#pragma once

#include <mpi.h>

#include <initializer_list>
#include <span>
#include <vector>

#include "wisp/detail/as_size.hpp"

/// Where ranks lie on a torus or mesh, and offsets (relative coordinates) from one to another. Arithmetic
/// only.

namespace wisp {

/// Source and target of a relative shift; MPI_PROC_NULL beyond the border of a mesh.
struct Shift {
  int source;
  int target;
};

class Offsets;

/// A d-dimensional torus or mesh: dimension sizes, each dimension periodic or not. Ranks are numbered row by
/// row, as on MPI's Cartesian communicators: the last coordinate runs fastest.
class Torus {
 public:
  /// No dimension, one rank.
  Torus() = default;
  /// Without `periods`, every dimension is periodic; else dimension j is if periods[j] is not 0. Throws
  /// unless every size is 1 or more and there are at most 2^31 - 1 ranks.
  explicit Torus(std::vector<int> dims, std::vector<int> periods = {});
  /// That of a Cartesian communicator. Local.
  static Torus of_cart(MPI_Comm cart);

  int dimensions() const { return static_cast<int>(dims_.size()); }
  int size() const { return size_; }
  int dim(int j) const { return dims_[detail::as_size(j)]; }
  bool periodic(int j) const { return periods_[detail::as_size(j)] != 0; }
  bool is_periodic() const;  ///< in every dimension
  const std::vector<int>& dims() const { return dims_; }
  const std::vector<int>& periods() const { return periods_; }

  std::vector<int> coordinates(int rank) const;
  /// The rank at coordinates that are taken modulo periodic dimensions; MPI_PROC_NULL outside of others.
  int rank_at(std::span<const int> coordinates) const;
  /// The rank at `offset` from `rank`, or MPI_PROC_NULL.
  int relative_rank(int rank, std::span<const int> offset) const;
  Shift shift(int rank, std::span<const int> offset) const;
  /// Those of many offsets.
  std::vector<Shift> shifts(int rank, const Offsets& offsets) const;
  /// The shortest offset from one rank to another; of two as short, the positive one.
  std::vector<int> offset_between(int from, int to) const;

  friend bool operator==(const Torus&, const Torus&) = default;

 private:
  void check_dimensions(std::span<const int> offset) const;
  Shift shift_from(std::span<const int> here, const int* offset) const;

  std::vector<int> dims_;
  std::vector<int> periods_;
  int size_ = 1;
};

/// A list of offsets, in an order that gives the order of blocks.
class Offsets {
 public:
  explicit Offsets(int dimensions = 0) : dimensions_(dimensions) {}
  /// One after the other, d integers each.
  Offsets(int dimensions, std::span<const int> flat);
  Offsets(std::initializer_list<std::initializer_list<int>> list);

  int dimensions() const { return dimensions_; }
  int size() const { return size_; }
  std::span<const int> operator[](int i) const {
    return std::span<const int>(flat_).subspan(detail::as_size(i) * step(), step());
  }
  void add(std::span<const int> offset);
  const std::vector<int>& flat() const { return flat_; }

  friend bool operator==(const Offsets&, const Offsets&) = default;

 private:
  std::size_t step() const { return detail::as_size(dimensions_); }

  int dimensions_;
  int size_ = 0;
  std::vector<int> flat_;
};

// Neighborhoods that stencil codes use, row by row, without the zero offset.

/// All offsets whose largest coordinate is at most `radius`: (2r + 1)^d - 1.
Offsets moore(int dimensions, int radius);
/// All offsets whose coordinates add up to at most `radius`, signs apart.
Offsets von_neumann(int dimensions, int radius);
/// All offsets with coordinates 0 … radius: (r + 1)^d - 1.
Offsets octant(int dimensions, int radius);
/// All offsets whose largest coordinate is one of `radii`.
Offsets shales(int dimensions, std::span<const int> radii);

}  // namespace wisp
