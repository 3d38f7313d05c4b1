#pragma once

#include "collectives/reduction.hpp"
#include "pattern/halving.hpp"
#include "pattern/recursive_doubling.hpp"
#include "wisp/channel.hpp"
#include "wisp/posted.hpp"
#include "wisp/task.hpp"

// Recursive halving and its way back, over the speakers of a recursive doubling: what reduce-scatter, and
// reduce and allreduce of long vectors, are made of. `begin(part)` is where a part begins, in elements.

namespace wisp::detail {

/// A vector in place, in parts.
template <class Begin>
struct PartedVector {
  void* address;
  MPI_Datatype type;
  TypeLayout layout;
  Begin begin;

  std::size_t count(Parts parts) const { return begin(parts.end) - begin(parts.first); }
  Buffer operator()(Parts parts) const {
    return {element(address, begin(parts.first), layout), count(parts), type};
  }
};

/// Each speaker ends with one part of the sum of all speakers' vectors.
template <class Begin>
Task<> halve(Channel channel, RecursiveDoubling doubling, PartedVector<Begin> vector, MPI_Op op,
             bool commutes) {
  const Halving halving(doubling.number(), doubling.rounds());
  if (halving.rounds() == 0) co_return;
  const ScratchVector incoming(vector.layout, vector.count(halving.kept(0)));
  for (int k = 0; k < halving.rounds(); ++k) {
    const int partner = doubling.partner(k);
    const Buffer mine = vector(halving.kept(k));
    Posts round;
    round.add(channel.post_receive({incoming.data(), mine.count, mine.type}, partner));
    round.add(channel.post_send(vector(halving.given(k)), partner));
    co_await round;
    if (partner < channel.rank() || commutes) {
      reduce_into_right(incoming.data(), mine.address, mine.count, mine.type, op);
    } else {
      reduce_into_right(mine.address, incoming.data(), mine.count, mine.type, op);
      copy_elements(incoming.data(), mine.address, mine.count, mine.type, vector.layout);
    }
  }
}

/// The way back: from one part each to the whole vector on every speaker.
template <class Begin>
Task<> double_back(Channel channel, RecursiveDoubling doubling, PartedVector<Begin> vector) {
  const Halving halving(doubling.number(), doubling.rounds());
  for (int k = halving.rounds() - 1; k >= 0; --k) {
    const int partner = doubling.partner(k);
    Posts round;
    round.add(channel.post_receive(vector(halving.given(k)), partner));
    round.add(channel.post_send(vector(halving.kept(k)), partner));
    co_await round;
  }
}

/// The way back to one speaker only.
template <class Begin>
Task<> collect_back(Channel channel, RecursiveDoubling doubling, PartedVector<Begin> vector, int to_number) {
  const Halving halving(doubling.number(), doubling.rounds());
  for (int k = halving.rounds() - 1; k >= 0; --k) {
    if (((doubling.number() ^ to_number) >> k & 1) != 0) {
      co_await channel.post_send(vector(halving.kept(k)), doubling.partner(k));
      co_return;
    }
    co_await channel.post_receive(vector(halving.given(k)), doubling.partner(k));
  }
}

/// Before the halving: a paired rank that is silent has sent its vector; the speaker joins it to its own.
template <class Vector>
Task<> join_pair(Channel channel, RecursiveDoubling doubling, Vector vector, std::size_t count, MPI_Op op) {
  const ScratchVector lower(vector.layout, count);
  co_await channel.post_receive({lower.data(), count, vector.type}, doubling.pair());
  reduce_into_right(lower.data(), vector.address, count, vector.type, op);
}

}  // namespace wisp::detail
