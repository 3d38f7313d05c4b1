#pragma once

#include "wisp/stencil.hpp"

/// One function for each schedule; `Stencil::schedule` says what they are.

namespace wisp::detail {

/// True if no rank of the mesh has this neighbor: the offset, reduced, is longer than a dimension.
bool leads_nowhere(const Torus& torus, std::span<const int> offset);
bool is_zero(std::span<const int> offset);
/// Every offset modulo the periodic dimensions, as short as it can be. Of two as short the sign is taken, for
/// a whole dimension, that costs fewer hops in all.
Offsets reduce_offsets(const Torus& torus, const Offsets& offsets);

Schedule straightforward_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule direct_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule torus_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule torus_direct_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule basis_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);

}  // namespace wisp::detail
