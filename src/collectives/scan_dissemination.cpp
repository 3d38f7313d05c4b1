// Prefix sums by doubling distances. Before round k a rank holds the sum of the 2^k ranks that end with it;
// it sends that to the rank 2^k above, and joins what it hears from 2^k below on the left.
//
//   round 0   r ─► r+1
//   round 1   r ─► r+2        ⌈log2 p⌉ (α + nβ + nγ)
//   round 2   r ─► r+4        Source: Hillis, Steele 1986; Axtmann et al. 2018, section V-D

#include <optional>

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"

namespace wisp::detail {
namespace {

/// The messages of a round: the value goes to the rank above; what the rank below has comes to `incoming`, or
/// to `partial.incoming()` if that is nowhere.
void post_round(const Channel& channel, int distance, Partial& partial, const Buffer& incoming,
                Posts& round) {
  const int above = channel.rank() + distance;
  const int below = channel.rank() - distance;
  if (below >= 0) {
    round.add(channel.post_receive(incoming.address != nullptr ? incoming : partial.incoming(), below));
  }
  if (above < channel.size()) round.add(channel.post_send(partial.value(), above));
}

}  // namespace

Task<> scan_dissemination(Channel channel, Reduction reduction) {
  const auto [send, receive, op, commutes] = reduction;
  Partial partial(send, op, receive.address);
  for (int distance = 1; distance < channel.size(); distance *= 2) {
    // In any order, what comes first may become the result where it is.
    const bool is_result = distance == 1 && commutes && send.address != receive.address;
    Posts round;
    post_round(channel, distance, partial, is_result ? receive : Buffer(), round);
    // Rank 0 has its result already: it copies it while the message is on its way.
    if (distance == 1 && channel.rank() == 0) partial.copy_to(receive.address);
    co_await round;
    if (distance > channel.rank()) continue;
    if (is_result) {
      partial.append(receive.address);
    } else {
      partial.prepend_incoming();
    }
  }
  if (channel.rank() > 0 || channel.size() == 1) partial.copy_to(receive.address);
}

Task<> exscan_dissemination(Channel channel, ConstBuffer send, Buffer receive, MPI_Op op) {
  // What is heard is joined to two sums: with this rank's own vector, to send on, and without, the result.
  Partial partial(send, op);
  if (send.address == receive.address) partial.own();  // the result will lie there
  std::optional<Partial> exclusive;
  for (int distance = 1; distance < channel.size(); distance *= 2) {
    Posts round;
    post_round(channel, distance, partial, {}, round);
    co_await round;
    if (distance > channel.rank()) continue;
    if (exclusive) {
      exclusive->prepend(partial.incoming().address);
    } else {
      exclusive.emplace(partial.incoming(), op, receive.address);
      exclusive->own();
    }
    if (channel.rank() + 2 * distance < channel.size()) partial.prepend_incoming();
  }
}

}  // namespace wisp::detail
