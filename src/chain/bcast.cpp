// Broadcast along a chain, by doubling distances. After round k the 2^(k+1) - 1 ranks around the root have
// the data; all ranks pass addresses on.
//
//   root ─► 1 ─┬► 3          ⌈log2 p⌉ (α + nβ), the data once to each rank
//      └──► 2 ─┴► …          Source: Moody et al. 2011, section 2

#include "chain/algorithms.hpp"
#include "chain/doubling.hpp"

namespace wisp::detail {

Task<> chain_bcast(Link link, Buffer buffer, int root) {
  Doubling walk(link);
  for (; !walk.done(); walk.advance()) {
    // Signed distances from the root of this rank and its partners; who is nearer than 2^k has the data, and
    // passes them on outwards.
    const int place = link.rank() - root;
    const int reach = walk.distance();
    const bool has_data = -reach < place && place < reach;
    WalkData data;
    if (has_data && place >= 0) data.to_right = buffer;
    if (has_data && place <= 0) data.to_left = buffer;
    if (place >= reach && place < 2 * reach) data.from_left = buffer;
    if (-place >= reach && -place < 2 * reach) data.from_right = buffer;
    Posts round;
    walk.post(round, data);
    co_await round;
  }
}

}  // namespace wisp::detail
