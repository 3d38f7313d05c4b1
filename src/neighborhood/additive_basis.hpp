#pragma once

#include <vector>

#include "wisp/torus.hpp"

namespace wisp::detail {

/// Vectors of which each target is a sum of different ones.
struct AdditiveBasis {
  std::vector<std::vector<int>> vectors;  ///< in the order in which blocks are sent along them
  std::vector<std::vector<int>> routes;   ///< for each target: its vectors, ascending
};

/// A small additive basis of different offsets that are not zero, reduced modulo the torus. In dimensions
/// that are not periodic a target's vectors all point its way, so that no block leaves the mesh. Never larger
/// than the number of different coordinates, dimension by dimension.
AdditiveBasis find_basis(const Torus& torus, const Offsets& targets);

}  // namespace wisp::detail
