#pragma once

#include <memory>
#include <utility>

#include "comm/group_nodes.hpp"
#include "pattern/radix_grid.hpp"
#include "pattern/ring.hpp"

namespace wisp::detail {

/// The grids over which blocks go first inside nodes, to the member with the number that the target has in
/// its node, then between the members of one number.
struct NodeGrids {
  RadixGrid inside;
  RadixGrid between;
};

/// The cheapest, for nodes that have as many ranks each.
NodeGrids cheapest_node_grids(const NodeShape& nodes, const Machine& machine, double block_bytes);
double seconds_of(const NodeGrids& grids, const Machine& machine, double block_bytes);

/// The grid that a rank sees around it: all ranks on one ring, or the nodes on one, and the members of each
/// on another. A way of m members and n nodes is the number m · nodes + n, so it begins inside the node.
class ExchangeGrid {
 public:
  ExchangeGrid(int rank, const RadixGrid& ring) : rank_(rank), grids_{RadixGrid(1, 2), ring} {}
  ExchangeGrid(std::shared_ptr<const GroupNodes> nodes, int rank, const NodeGrids& grids)
      : nodes_(std::move(nodes)),
        rank_(rank),
        node_(nodes_->node_of(rank)),
        member_(nodes_->member_of(rank)),
        grids_(grids) {}

  int rank() const { return rank_; }
  int ranks() const { return grids_.inside.ranks() * nodes(); }
  int levels() const { return grids_.inside.levels() + grids_.between.levels(); }

  /// The way of a digit 1 in this level, and the digits that there are: 0 … digits - 1.
  int step(int level) const {
    return is_between(level) ? grids_.between.step(level) : nodes() * grids_.inside.step(inner(level));
  }
  int digits(int level) const {
    return is_between(level) ? grids_.between.digits(level) : grids_.inside.digits(inner(level));
  }
  int digit(int way, int level) const {
    return is_between(level) ? grids_.between.digit(way % nodes(), level)
                             : grids_.inside.digit(way / nodes(), inner(level));
  }
  /// Whether a way ends with its digit in this level.
  bool ends(int way, int level) const {
    return is_between(level) ? grids_.between.ends(way % nodes(), level) : way % step(level) == 0;
  }

  /// Where a way leads to, and where it comes from.
  int target(int way) const {
    if (nodes_ == nullptr) return ring_next(rank_, way, ranks());
    return nodes_->rank_of(ring_next(node_, way % nodes(), nodes()),
                           ring_next(member_, way / nodes(), grids_.inside.ranks()));
  }
  int source(int way) const {
    if (nodes_ == nullptr) return ring_previous(rank_, way, ranks());
    return nodes_->rank_of(ring_previous(node_, way % nodes(), nodes()),
                           ring_previous(member_, way / nodes(), grids_.inside.ranks()));
  }
  int way_to(int rank) const {
    if (nodes_ == nullptr) return ring_previous(rank, rank_, ranks());
    return ring_previous(nodes_->member_of(rank), member_, grids_.inside.ranks()) * nodes() +
           ring_previous(nodes_->node_of(rank), node_, nodes());
  }

 private:
  int nodes() const { return grids_.between.ranks(); }
  bool is_between(int level) const { return level < grids_.between.levels(); }
  int inner(int level) const { return level - grids_.between.levels(); }

  std::shared_ptr<const GroupNodes> nodes_;
  int rank_;
  int node_ = 0;
  int member_ = 0;
  NodeGrids grids_;
};

}  // namespace wisp::detail
