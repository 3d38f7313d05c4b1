#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "wisp/torus.hpp"

/// Stencils: what all ranks of an isomorphic neighborhood have in common, and the schedules of messages that
/// follow from it. Arithmetic only: no rank, no message.

namespace wisp {

/// Alltoall: a block for each neighbor. Allgather: the same block for all of them.
enum class NeighborPattern { alltoall, allgather };

/// Which messages every rank sends, in which order, and what is in them. The same on all ranks: in each round
/// a rank sends one message to the rank at `offset` and receives one from the rank at -`offset`.
struct Schedule {
  static constexpr int own = -1;      ///< not brought by a message: the rank's own block
  static constexpr int nowhere = -2;  ///< no rank of the mesh has this neighbor

  /// A block that a round moves.
  struct Part {
    int block;  ///< alltoall: which; allgather: the first neighbor that it is for or on the way to
    int from;   ///< the part that brought it here in an earlier round, or `own`
  };
  struct Round {
    std::vector<int> offset;
    int first_part;
    int parts;
  };

  std::vector<Round> rounds;
  std::vector<Part> parts;    ///< of all rounds, one after the other
  std::vector<int> arrivals;  ///< for each block: the part that brings it to its target, `own` or `nowhere`

  /// Blocks that a rank sends: `V` of an alltoall and `W` of an allgather over the torus (Träff et al. 2016,
  /// propositions 1 and 2).
  std::size_t volume() const { return parts.size(); }
};

/// Cuts the rounds into phases: the rounds of one are in flight together, for none needs what another one of
/// them brings, and there are at most `ports` of them (0: any number). Gives the first round of each phase,
/// and at the end the number of rounds.
std::vector<int> phases_of(const Schedule& schedule, int ports);

/// The names that `Stencil::schedule` and `NeighborOptions::algorithm` take:
///
///   straightforward  a round for each block
///   direct           a round for each different target
///   torus            hops to the next rank of a dimension: D rounds
///   torus-direct     a round for each different coordinate of a dimension
///   basis            a round for each vector of an additive basis: fewest rounds
const std::vector<std::string_view>& schedule_names();

/// A torus or mesh and a list of offsets: block i goes from every rank R to R + offset i, and arrives there
/// as block i. A value; copies share the schedules, which are computed when they are first asked for.
class Stencil {
 public:
  /// No dimension, no neighbor.
  Stencil();
  /// Offsets may repeat, be zero, or be longer than a dimension; there may be none. `weights` are the
  /// caller's own: one for each offset, or none.
  Stencil(Torus torus, Offsets offsets, std::vector<int> weights = {});

  const Torus& torus() const;
  const Offsets& offsets() const;
  const std::vector<int>& weights() const;
  int size() const { return offsets().size(); }
  /// The offsets modulo the periodic dimensions, each as short as it can be: schedules are made of these.
  const Offsets& reduced() const;

  /// Computed in O(s) steps for each round (torus: O(sD)); of a basis in some milliseconds more at most.
  const Schedule& schedule(NeighborPattern pattern, std::string_view name) const;

  struct State;
  /// The library's own.
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace wisp
