#pragma once

#include "wisp/stencil.hpp"

/// One function for each schedule; `Stencil::schedule` says what they are.

namespace wisp::detail {

/// Every offset modulo the periodic dimensions, as short as it can be. Of two as short the sign is taken, for
/// a whole dimension, that costs fewer hops in all.
Offsets reduce_offsets(const Torus& torus, const Offsets& offsets);

/// Blocks that the torus schedule of an alltoall sends: V.
double torus_volume(const Torus& torus, const Offsets& reduced);

Schedule straightforward_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule direct_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule torus_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule torus_direct_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);
Schedule basis_schedule(const Torus& torus, const Offsets& reduced, NeighborPattern pattern);

}  // namespace wisp::detail
