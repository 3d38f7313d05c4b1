#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "collectives/algorithms.hpp"
#include "collectives/alike.hpp"
#include "collectives/checks.hpp"
#include "collectives/cost_terms.hpp"
#include "comm/comm_access.hpp"
#include "transport/kept_types.hpp"
#include "wisp/collectives.hpp"
#include "wisp/operation.hpp"

/// What a collective is made of: a function that checks its arguments, and its algorithms, each with its
/// cost.

namespace wisp::detail {

/// The arguments of a collective, checked; each uses those that it has. Vectors, and blocks of one size that
/// follow each other, have no counts.
struct Arguments {
  ConstBlocks send;
  Blocks receive;
  Buffer total;  ///< of all ranks, beside a scan
  MPI_Op op = MPI_OP_NULL;
  bool any_order = true;    ///< `op` commutes
  int root = -1;            ///< -1: none
  std::int64_t bytes = -1;  ///< of a vector or block, as all ranks know them
  std::shared_ptr<const Merge> merge;
  std::shared_ptr<void> memory;  ///< what a run of a persistent operation finds out for the next ones

  /// An operator may look at elements without data.
  bool is_nothing() const { return bytes == 0 && (op == MPI_OP_NULL || send.room == 0); }
  ConstBuffer send_buffer() const { return {send.address, send.room, send.type}; }
  Buffer receive_buffer() const { return {receive.address, receive.room, receive.type}; }
  Reduction reduction() const { return {send_buffer(), receive_buffer(), op, any_order}; }
};

template <class AnyBlocks>
BlockList list_of(const AnyBlocks& blocks, int ranks) {
  if (!blocks.counts.empty()) return BlockList::irregular(blocks, ranks);
  return BlockList::regular(ConstBuffer(blocks.address, blocks.room, blocks.type), ranks);
}

/// Those of the root; none elsewhere.
template <class AnyBlocks>
BlockList blocks_of_root(const Channel& channel, const AnyBlocks& blocks, int root) {
  return channel.rank() == root ? list_of(blocks, channel.size()) : BlockList();
}

struct Algorithm {
  std::string_view name;
  /// Without one, it is there to be named only.
  Cost (*cost)(const Terms&);
  Task<> (*run)(Channel channel, const Arguments& given);
  bool (*is_allowed)(const Case&) = nullptr;
  std::shared_ptr<void> (*make_memory)() = nullptr;
};

/// The name of what there is no more, and of what does the same.
struct Alias {
  std::string_view name;
  std::string_view means;
};

/// The row of a collective in the table of all.
struct Collective {
  std::string_view name;
  std::span<const Algorithm> algorithms;
  std::span<const Alias> aliases = {};
  /// Picks an algorithm; null: the cheapest does.
  std::size_t (*pick)(World&, const Case&) = nullptr;
};

extern const Collective barrier_row, bcast_row, reduce_row, allreduce_row, scan_row, exscan_row,
    scan_and_bcast_row, reduce_scatter_row, gather_row, gatherv_row, gatherm_row, scatter_row, scatterv_row,
    allgather_row, allgatherv_row, allgatherm_row, alltoall_row, alltoallv_row;

int direct_ranks(World& world);
/// Of gatherv and scatterv, whose first algorithm is direct and whose second is not.
inline std::size_t pick_direct(World& world, const Case& of) {
  return of.ranks <= direct_ranks(world) ? 0 : 1;
}
constexpr Cost direct_cost(const Terms& t) {
  return {t.p - 1, t.p * t.n, 1, t.p - 1, t.p * t.n};
}
Task<> gather_directly(Channel channel, const Arguments& given);
Task<> scatter_directly(Channel channel, const Arguments& given);

/// Of trees in which every message straight to the root is announced by another.
inline std::uint64_t announced_threshold(const Machine& machine) {
  return 4 * straight_threshold(machine);
}

template <class Memory>
std::shared_ptr<void> make_memory() {
  return std::make_shared<Memory>();
}

/// For tables: the operator commutes.
inline bool commutes(const Case& of) {
  return of.commutes;
}
bool commutes(MPI_Op op);

/// The arguments of a reduction of `input`.
Arguments reduction_arguments(const ConstBuffer& input, const Buffer& receive, MPI_Op op);

/// `bytes` is what the choice of an algorithm depends on besides.
Operation make_operation(const Comm& comm, const char* call, const Collective& row, Arguments&& arguments,
                         std::size_t bytes, const CollectiveOptions& options);
/// Where that is `arguments.bytes`.
inline Operation make_operation(const Comm& comm, const char* call, const Collective& row,
                                Arguments&& arguments, const CollectiveOptions& options) {
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(arguments.bytes, 0));
  return make_operation(comm, call, row, std::move(arguments), bytes, options);
}

}  // namespace wisp::detail
