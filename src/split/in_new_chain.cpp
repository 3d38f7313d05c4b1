#include "split/algorithms.hpp"

namespace wisp::detail {

Task<ChainPlace> in_new_chain(Link link, const SplitCase& of) {
  const ChainPlace& at = link.place();
  ChainPlace place{at.size, at.rank, of.new_address(), {}, {}};
  Posts posts;
  if (at.left.exists()) posts.add(link.post_receive(item(place.left), at.left));
  if (at.right.exists()) posts.add(link.post_receive(item(place.right), at.right));
  if (at.left.exists()) posts.add(link.post_send(item(std::as_const(place.here)), at.left));
  if (at.right.exists()) posts.add(link.post_send(item(std::as_const(place.here)), at.right));
  co_await posts;
  co_return place;
}

}  // namespace wisp::detail
