// Grids of nodes and members: with N nodes of M ranks, a node sends each other one M messages, not M * M.
//
//   cost: that of a grid of M ranks with N blocks for each, and of a grid of N ranks with M blocks for each,
//   where all members of a node share its port
//
// Source: Träff, Hunold 2020 (all-to-all over members of one number); Kang, Ross et al., arXiv 2411.02581
// (nodes first)

#include "collectives/exchange_grid.hpp"

namespace wisp::detail {
namespace {

/// As all members of a node see the way to others, at once. Where ranks share cores, the work of all is
/// summed up anyway, and their bytes at the port come on top (in seconds_of).
Machine shared_port(const Machine& machine, int members) {
  Machine shared = between_members(machine);
  if (!machine.shares_cores) shared.seconds_per_byte *= members;
  return shared;
}

}  // namespace
NodeGrids cheapest_node_grids(const NodeShape& nodes, const Machine& machine, double block_bytes) {
  constexpr int direct = 1;
  return {cheapest_grid(nodes.most, machine.at(Level::inside), nodes.nodes * block_bytes, direct),
          cheapest_grid(nodes.nodes, shared_port(machine, nodes.most), nodes.most * block_bytes, direct)};
}

double seconds_of(const NodeGrids& grids, const Machine& machine, double block_bytes) {
  const int members = grids.inside.ranks();
  const int nodes = grids.between.ranks();
  const Machine inside = machine.at(Level::inside);
  const Machine between = shared_port(machine, members);
  const Cost far = cost_of_grid(grids.between, between, members * block_bytes);
  double seconds = time_of(cost_of_grid(grids.inside, inside, nodes * block_bytes), inside, members) +
                   time_of(far, between, nodes);
  if (machine.shares_cores) seconds += (members - 1) * far.bytes * between.seconds_per_byte;
  return seconds;
}

}  // namespace wisp::detail
