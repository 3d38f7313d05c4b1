#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "preload/settings.hpp"
#include "wisp/neighborhood.hpp"

namespace wisp::preload {

/// The neighbors of a communicator with a topology: lists of any ranks; and, where the ranks have found out
/// that they are the same stencil on all of them, that.
class Topology {
 public:
  /// Collective. Of a graph, each rank makes offsets of its targets on every torus that has as many ranks,
  /// and all compare them: one allreduce. In which order blocks of one pair of ranks arrive, calls of MPI's
  /// own tell: libraries differ, and so do the calls of MPICH.
  static Topology of(MPI_Comm comm, const Comm& on);

  bool exists() const { return lists_.state() != nullptr; }

  /// For blocks of any size. Its block k is number `order[k]` of what MPI receives; alltoallv, empty: k.
  const Neighborhood& lists() const { return lists_; }
  struct Orders {
    std::vector<int> alltoall;
    std::vector<int> alltoallv;  ///< and of alltoallw
    std::vector<int> places;
    bool is_some_ranks = false;  ///< that of an alltoall differs on some rank, if not here: all call alike
  };
  /// A persistent operation arrives like a nonblocking one.
  const Orders& orders(Form form) const { return orders_[form == Form::blocking ? 0 : 1]; }

  /// For blocks of one size; null: there is none. Its block i is number `places[i]` of what MPI receives.
  const Neighborhood* stencil() const { return stencil_.state() == nullptr ? nullptr : &stencil_; }

  /// By the cost model, the time of a message for each block over that of what wisp does.
  double promised_gain(Call call, std::size_t bytes) const;

 private:
  Neighborhood lists_;
  std::array<Orders, 2> orders_;  ///< of blocking calls, and of others
  Neighborhood stencil_;
  double blocks_of_a_peer_ = 1;  ///< at least, on the rank with most neighbors
};

/// The tori of so many ranks with at most `dimensions` dimensions, none of them of one rank, and at most
/// `most` of them.
std::vector<std::vector<int>> tori_of(int ranks, int dimensions, std::size_t most);

}  // namespace wisp::preload
