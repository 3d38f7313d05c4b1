// The ordered gather tree that fits the sizes of the blocks, found by all ranks together in ⌈log2 p⌉ rounds
// while each knows only its own size. Cubes of ranks join pairwise. Who speaks for a cube (its fixed root F)
// is known to all; who gathers it (its gather root G) follows from the sizes:
//
//      cube             sibling
//   ┌──────────┐     ┌──────────┐      1  the fixed roots exchange what they know of their cubes,
//   │ G ◄─2─ F │◄─1─►│ F ─2─► G │      2  and tell it to their gather roots.
//   └──────────┘     └──────────┘
//
// All four then know who has more bytes, and will gather both cubes. At most 2 ⌈log2 p⌉ - 1 dependent
// messages of constant size. Source: Träff 2019, Lemma 3; unlike there, the root speaks for its own cubes.

#include "collectives/ordered_tree.hpp"

#include "transport/throw_error.hpp"

namespace wisp::detail {

Task<> construct_ordered_tree(Channel channel, OrderedHypercube cubes, std::uint64_t bytes,
                              std::uint64_t threshold, OrderedNode& node) {
  const int me = channel.rank();
  const bool is_root = me == cubes.root();
  CubeRecord mine;  // of the cube that this rank is fixed root or gather root of
  mine.gather_root = me;
  mine.sums.add(me, bytes);
  if (!is_root && bytes >= threshold) {
    node.parent = cubes.root();
    node.is_direct = true;
    mine.direct = 1;
  } else if (!is_root) {
    mine.remaining = bytes;
  }
  node.cube = {me, me};
  bool gathers = is_root || mine.remaining > 0;
  bool is_fixed_root = true;

  for (int dimension = 0; dimension < cubes.dimensions(); ++dimension) {
    const Cube cube = cubes.cube_of(me, dimension);
    const std::optional<Cube> sibling = cubes.sibling_of(cube, dimension);
    if (!sibling) continue;
    CubeRecord theirs;
    if (is_fixed_root) {
      const int peer = cubes.fixed_root(*sibling);
      Posts exchange;
      exchange.add(channel.post_receive(bytes_of_object(theirs), peer));
      exchange.add(channel.post_send(bytes_of_object(mine), peer));
      co_await exchange;
      if (mine.remaining > 0 && mine.gather_root != me) {
        co_await channel.post_send(bytes_of_object(theirs), mine.gather_root);
      }
    } else {
      co_await channel.post_receive(bytes_of_object(theirs), cubes.fixed_root(cube));
    }

    const Joined joined = join(cubes, cube, mine, *sibling, theirs, threshold);
    if (gathers && joined.first_wins) {
      if (theirs.remaining > 0 || is_root) node.children.push_back({*sibling, theirs});
      node.cube = joined.cube;
      if (joined.goes_to_root) {
        node.parent = cubes.root();
        node.is_direct = true;
      }
    } else if (gathers) {
      node.parent = theirs.gather_root;
    }
    mine = joined.record;
    gathers = gathers && joined.first_wins && !joined.goes_to_root;
    is_fixed_root = is_fixed_root && me == cubes.fixed_root(joined.cube);
    if (!gathers && !is_fixed_root) break;
  }
  node.is_known = true;
}

Task<> gather_subtree(Channel channel, ConstBuffer send, const OrderedNode& node) {
  const TypeLayout layout = TypeLayout::of(send.type);
  const std::uint64_t own = send.count * layout.size;
  const OrderedPlaces places = places_at(node, channel.rank(), own);
  if (places.total == 0) co_return;
  DirectHeader header{node.cube, places.total};
  const Posted announced =
      node.is_direct ? channel.lane(1).post_send(bytes_of_object(header), node.parent) : Posted();
  ScratchVector packed;
  if (places.total > own) {
    packed = ScratchVector(places.total);
    Posts receives;
    for (std::size_t k = 0; k < node.children.size(); ++k) {
      const CubeRecord& child = node.children[k].record;
      if (child.remaining == 0) continue;
      receives.add(channel.post_receive({packed.data() + places.children[k], child.remaining, MPI_PACKED},
                                        child.gather_root));
    }
    pack(send, layout, packed.data() + places.own);
    co_await receives;
    send = {packed.data(), places.total, MPI_PACKED};
  }
  co_await channel.post_send(send, node.parent);
  if (node.is_direct) co_await announced;
}

Task<bool> scatter_subtree(Channel channel, Buffer receive, const OrderedNode& node) {
  const TypeLayout layout = TypeLayout::of(receive.type);
  const std::uint64_t own = receive.count * layout.size;
  const OrderedPlaces places = places_at(node, channel.rank(), own);
  if (places.total == 0) co_return true;
  DirectHeader header{node.cube, places.total};
  const Posted announced =
      node.is_direct ? channel.lane(1).post_send(bytes_of_object(header), node.parent) : Posted();
  const bool is_leaf = places.total == own;
  const ScratchVector packed(is_leaf ? 0 : places.total);
  const Buffer whole = is_leaf ? receive : Buffer{packed.data(), places.total, MPI_PACKED};
  const std::size_t came = (co_await channel.post_receive_up_to(whole, node.parent)).bytes;
  Posts sends;
  for (std::size_t k = node.children.size(); k-- > 0;) {
    const CubeRecord& child = node.children[k].record;
    if (child.remaining == 0) continue;
    const std::uint64_t bytes = came == 0 ? 0 : child.remaining;
    sends.add(channel.post_send({packed.data() + places.children[k], bytes, MPI_PACKED}, child.gather_root));
  }
  if (!is_leaf && came > 0) unpack(packed.data() + places.own, receive, layout);
  co_await sends;
  if (node.is_direct) co_await announced;
  co_return came > 0;
}

void OrderedRoot::check() const {
  if (disagreeing_.empty()) return;
  const Cube& cube = disagreeing_.front();
  if (first_) throw_size_error(operation_, first_->rank, first_->bytes, first_->expected);
  throw_error(MPI_ERR_TRUNCATE,
              "{}: ranks {}..{} have {} bytes together, but the root's counts give them {}, or the "
              "same in other blocks",
              operation_, cube.first, cube.last, sums_.bytes,
              sums_of(cube.first, cube.last, bytes_of_rank()).bytes);
}

}  // namespace wisp::detail
