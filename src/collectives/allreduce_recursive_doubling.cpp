// Allreduce by recursive doubling. Round k: speakers 2^k apart exchange what they have, and each joins the
// other's on the side where its ranks are, so operands meet in rank order.
//
//   0 ◄► 1   2 ◄► 3        round 0
//   0 ◄──► 2  1 ◄──► 3     round 1        ⌊log2 p⌋ (α + nβ + nγ); two more messages on the way if p is no
//                                         power of two (see RecursiveDoubling)
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.5; Axtmann et al. 2018, section V-D

#include "collectives/algorithms.hpp"
#include "collectives/reduction.hpp"
#include "pattern/recursive_doubling.hpp"

namespace wisp::detail {

[[gnu::hot]] Task<> allreduce_recursive_doubling(Channel channel, Reduction given) {
  const ConstBuffer& send = given.send;
  const Buffer& receive = given.receive;
  const RecursiveDoubling doubling(channel.rank(), channel.size());
  if (!doubling.is_speaker()) {
    co_await channel.post_send(send, doubling.pair());
    co_await channel.post_receive(receive, doubling.pair());
    co_return;
  }
  Partial partial(send, given.op);
  if (doubling.is_paired()) {
    co_await channel.post_receive(partial.incoming(), doubling.pair());
    given.commutes() ? partial.append_incoming() : partial.prepend_incoming();
  }
  for (int k = 0; k < doubling.rounds(); ++k) {
    const int partner = doubling.partner(k);
    // In rank order also where the operator commutes: max(NaN, 1) is not max(1, NaN), and all are to have the
    // same.
    const bool joins_behind = partner > channel.rank();
    // The last vector that is joined behind may become the result where it is.
    const bool is_result =
        joins_behind && k + 1 == doubling.rounds() && partial.value().address != receive.address;
    Posts round;
    round.add(channel.post_receive(is_result ? receive : partial.incoming(), partner));
    round.add(channel.post_send(partial.value(), partner));
    co_await round;
    if (is_result) {
      partial.append(receive.address);
    } else if (joins_behind) {
      partial.append_incoming();
    } else {
      partial.prepend_incoming();
    }
  }
  partial.copy_to(receive.address);
  if (doubling.is_paired()) co_await channel.post_send(receive, doubling.pair());
}

}  // namespace wisp::detail
