#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisp/blocks.hpp"
#include "wisp/buffer.hpp"
#include "wisp/comm.hpp"
#include "wisp/operation.hpp"
#include "wisp/stencil.hpp"
#include "wisp/task.hpp"

namespace wisp {

/// How blocks that travel together get into one message, and out of it.
enum class NeighborCopying {
  by_size,   ///< whichever is faster for blocks of this size
  pack,      ///< copied by hand
  datatypes  ///< by MPI, with a datatype for every message: no copy but MPI's own
};

/// What a caller may say to a single neighborhood collective; the same on all ranks.
struct NeighborOptions {
  /// As in CollectiveOptions.
  std::optional<int> own_tag = {};
  /// One of `schedule_names()`; empty: the cheapest by the cost model.
  std::string_view algorithm = {};
  /// How many messages a rank has on their way at one time, in each direction; 0: all that need not wait.
  int ports = 0;
  NeighborCopying copying = NeighborCopying::by_size;
};

/// A communicator whose ranks lie on a torus or mesh, each with the same list of relative neighbors: block i
/// goes to the rank at offset i, and the block that came from the rank at minus offset i arrives as block i,
/// also where both are the same process. Or (`adjacent`, `of_graph`) a communicator and, of each rank, any
/// lists of sources and targets. A value; copies are the same neighborhood.
///
/// Where a mesh has no such rank, a block is not sent, and a place in the receive buffer stays as it is.
///
/// The offsets and the block sizes are the same on all ranks, in the same order; also the sizes of blocks
/// that a rank at the border does not send or receive, for it may pass on those of others. With WISP_CHECK=1
/// in the environment (or in a debug build of the library, at creation) all ranks compare them first, and
/// every rank throws an Error that names the first rank and the first offset or block that differ.
///
/// A rank's wrong arguments are an error on that rank, before any message; with checking on, on all of them.
///
/// Arrays of counts, displacements and datatypes are not needed after a call; datatypes may be freed then.
///
/// s: offsets, n: bytes of a block. Rounds and volume of the schedules: wisp/stencil.hpp; costs, in α and β:
/// docs/neighborhoods.md. Any number of operations may be in flight at one time, with buffers of their own.
class Neighborhood {
 public:
  Neighborhood() = default;
  /// Local, O(s), no message, and not checked. Throws unless the torus has as many ranks as the communicator.
  Neighborhood(const Comm& comm, const Stencil& stencil);
  /// The same, checked if checking is on: then collective. (On a simulated rank, where nothing can wait, it
  /// is not: await `check` there.)
  static Neighborhood create(const Comm& comm, const Stencil& stencil);
  /// On a Cartesian communicator; collective the first time (Comm::duplicate).
  static Neighborhood of_cart(MPI_Comm cart, const Offsets& offsets, std::vector<int> weights = {});

  /// Neighbors that are no stencil, as those of a mesh of blocks: block i that is received comes from
  /// sources[i], block i that is sent goes to targets[i]. A rank is named as often as there are blocks, which
  /// arrive in the order in which they are named: all blocks between two ranks go as one message. Oneself is
  /// a neighbor too, MPI_PROC_NULL none. A block has any size, the same on both sides. Local, O(blocks · log
  /// blocks), no message; checked as `create` is, it is collective, and all ranks throw an Error that names
  /// two that do not agree.
  ///
  /// There is one schedule, and options name none: one message to each target, (α + o) + o for each further
  /// partner, and nβ.
  static Neighborhood adjacent(const Comm& comm, std::span<const int> sources, std::span<const int> targets);
  /// Those of a communicator of MPI_Dist_graph_create or MPI_Dist_graph_create_adjacent; collective the first
  /// time.
  static Neighborhood of_graph(MPI_Comm graph);

  const Comm& comm() const;
  /// Whether it is made of offsets. If not, what follows from them is an error.
  bool has_stencil() const;
  const Stencil& stencil() const;
  const Torus& torus() const { return stencil().torus(); }
  /// How many neighbors there are, on either side.
  int size() const { return stencil().size(); }
  /// The rank that block i comes from, or goes to; MPI_PROC_NULL where there is none.
  std::span<const int> sources() const;
  std::span<const int> targets() const;
  /// Source and target of any relative shift from the caller's rank.
  Shift shift(std::span<const int> offset) const { return torus().shift(comm().rank(), offset); }
  /// The first block that goes to a rank, or whose offset is the one given modulo periodic dimensions; or -1.
  int find_rank(int rank) const;
  int find_offset(std::span<const int> offset) const;

  /// The schedule that is taken for blocks of so many bytes.
  std::string_view chosen(NeighborPattern pattern, std::size_t bytes) const;
  /// A table for people: rounds, phases, volume and modelled time of every schedule, and which one is taken.
  std::string describe(NeighborPattern pattern, std::size_t bytes) const;

  /// Compares what the ranks are going to make a neighborhood of, and throws on all of them if one of them
  /// differs from rank 0. Collective, O(log p (α + sdβ)).
  static Task<> check(Comm comm, Stencil stencil);
  /// The same of lists: whether every rank receives as many blocks of another as that one sends.
  static Task<> check(Comm comm, std::vector<int> sources, std::vector<int> targets);
  /// Whether operations compare block sizes first; without this, WISP_CHECK says so. The same on all ranks.
  void check_operations(bool enabled);

  // Collectives, with the faces of those of Comm. Buffers of the regular ones hold size() blocks;
  // `send` of an allgather holds one.
  // Made by scripts/faces from the operations that wisp/neighborhood.hpp declares.
  // clang-format off
  void neighbor_alltoall(const ConstBuffer& send, const Buffer& receive,
                         const NeighborOptions& options = {}) const;
  Request ineighbor_alltoall(const ConstBuffer& send, const Buffer& receive,
                             const NeighborOptions& options = {}) const;
  Request neighbor_alltoall_init(const ConstBuffer& send, const Buffer& receive,
                                 const NeighborOptions& options = {}) const;
  void neighbor_alltoallv(const ConstBlocks& send, const Blocks& receive,
                          const NeighborOptions& options = {}) const;
  Request ineighbor_alltoallv(const ConstBlocks& send, const Blocks& receive,
                              const NeighborOptions& options = {}) const;
  Request neighbor_alltoallv_init(const ConstBlocks& send, const Blocks& receive,
                                  const NeighborOptions& options = {}) const;
  void neighbor_alltoallw(const ConstBlocks& send, const Blocks& receive,
                          const NeighborOptions& options = {}) const;
  Request ineighbor_alltoallw(const ConstBlocks& send, const Blocks& receive,
                              const NeighborOptions& options = {}) const;
  Request neighbor_alltoallw_init(const ConstBlocks& send, const Blocks& receive,
                                  const NeighborOptions& options = {}) const;
  void neighbor_allgather(const ConstBuffer& send, const Buffer& receive,
                          const NeighborOptions& options = {}) const;
  Request ineighbor_allgather(const ConstBuffer& send, const Buffer& receive,
                              const NeighborOptions& options = {}) const;
  Request neighbor_allgather_init(const ConstBuffer& send, const Buffer& receive,
                                  const NeighborOptions& options = {}) const;
  void neighbor_allgatherv(const ConstBuffer& send, const Blocks& receive,
                           const NeighborOptions& options = {}) const;
  Request ineighbor_allgatherv(const ConstBuffer& send, const Blocks& receive,
                               const NeighborOptions& options = {}) const;
  Request neighbor_allgatherv_init(const ConstBuffer& send, const Blocks& receive,
                                   const NeighborOptions& options = {}) const;
  void neighbor_allgatherw(const ConstBuffer& send, const Blocks& receive,
                           const NeighborOptions& options = {}) const;
  Request ineighbor_allgatherw(const ConstBuffer& send, const Blocks& receive,
                               const NeighborOptions& options = {}) const;
  Request neighbor_allgatherw_init(const ConstBuffer& send, const Blocks& receive,
                                   const NeighborOptions& options = {}) const;
  // End of what is made.
  // clang-format on

  struct State;
  /// The library's own.
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Block i of `send` to the rank at offset i, where it arrives as block i of `receive`. Of the torus
/// schedule: Dα + V nβ.
Operation neighbor_alltoall(const Neighborhood& on, const ConstBuffer& send, const Buffer& receive,
                            const NeighborOptions& options = {});
/// The same with blocks of any sizes and places; block i has the same size on all ranks.
Operation neighbor_alltoallv(const Neighborhood& on, const ConstBlocks& send, const Blocks& receive,
                             const NeighborOptions& options = {});
/// The same with a datatype for each block.
Operation neighbor_alltoallw(const Neighborhood& on, const ConstBlocks& send, const Blocks& receive,
                             const NeighborOptions& options = {});

/// `send` to all neighbors; that of the rank at minus offset i arrives as block i of `receive`. Of the torus
/// schedule: Dα + W nβ.
Operation neighbor_allgather(const Neighborhood& on, const ConstBuffer& send, const Buffer& receive,
                             const NeighborOptions& options = {});
/// The same with blocks in any places. All are as large as `send`, for that is as large on all ranks.
Operation neighbor_allgatherv(const Neighborhood& on, const ConstBuffer& send, const Blocks& receive,
                              const NeighborOptions& options = {});
/// The same with a datatype for each block.
Operation neighbor_allgatherw(const Neighborhood& on, const ConstBuffer& send, const Blocks& receive,
                              const NeighborOptions& options = {});

}  // namespace wisp
