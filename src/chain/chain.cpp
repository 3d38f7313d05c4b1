#include "wisp/chain.hpp"

#include <vector>

#include "chain/algorithms.hpp"
#include "chain/link.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {

using detail::Address;
using detail::ChainAccess;
using detail::ChainPlace;
using detail::CommAccess;
using detail::Context;
using detail::ContextPtr;

Chain::Chain(const Comm& comm) {
  if (comm.empty() || !comm.is_member()) return;
  CommAccess::world(comm).engine().check_thread("wisp::Chain");
  context_ = CommAccess::context(comm);
  const auto address = [&](int rank) {
    return rank < 0 || rank >= comm.size() ? Address() : Address{comm.group().to_world(rank)};
  };
  const int rank = comm.rank();
  place_ = {comm.size(), rank, address(rank), address(rank - 1), address(rank + 1)};
}

void Chain::run(Task<> task) const {
  const detail::EngineLock lock = detail::lock(context_, "wisp::Chain::run");
  detail::run_to_end(context_, std::move(task), detail::Awaits::anything);
}

namespace {

/// Checks what can be seen alone.
void check_neighbors(const Comm& comm, const char* call, const ChainNeighbors& given) {
  detail::check_usable(comm, call);
  detail::check_within(MPI_ERR_ARG, call, "size", given.size, 1, comm.size());
  detail::check_within(MPI_ERR_RANK, call, "rank", given.rank, 0, given.size - 1);
  const auto check = [&](const char* name, int neighbor, bool exists) {
    if (exists) {
      detail::check_within(MPI_ERR_RANK, call, name, neighbor, 0, comm.size() - 1);
    } else if (neighbor != MPI_PROC_NULL) {
      detail::throw_error(MPI_ERR_RANK, "{}: {} = {}, but rank {} of {} has no such neighbor", call, name,
                          neighbor, given.rank, given.size);
    }
  };
  check("left", given.left, given.rank > 0);
  check("right", given.right, given.rank + 1 < given.size);
}

/// What neighbors tell each other.
struct Introduction {
  int size;
  int rank;
  Address here;
};

}  // namespace

Task<Chain> chain_of_neighbors(Comm comm, ChainNeighbors given, int tag) {
  constexpr const char* call = "wisp::Chain::of_neighbors";
  check_neighbors(comm, call, given);
  detail::check_within(MPI_ERR_TAG, call, "tag", tag, 0, comm.tag_upper_bound());
  ContextPtr context = detail::new_context(CommAccess::context(comm));
  const Channel channel = CommAccess::creation_channel(comm, comm.group(), comm.rank(), call, tag);
  const Introduction mine{given.size, given.rank, detail::address_in(*context.get())};
  Introduction heard[2] = {mine, mine};
  const int neighbors[2] = {given.left, given.right};
  Posts posts;
  for (int side = 0; side < 2; ++side) {
    if (neighbors[side] != MPI_PROC_NULL) posts.add(channel.post_receive(item(heard[side]), neighbors[side]));
  }
  for (int side = 0; side < 2; ++side) {
    if (neighbors[side] != MPI_PROC_NULL) posts.add(channel.post_send(item(mine), neighbors[side]));
  }
  co_await posts;
  ChainPlace place{given.size, given.rank, mine.here, {}, {}};
  for (int side = 0; side < 2; ++side) {
    if (neighbors[side] == MPI_PROC_NULL) continue;
    const int due = given.rank + (side == 0 ? -1 : 1);
    if (heard[side].size != given.size || heard[side].rank != due) {
      detail::throw_error(
          MPI_ERR_RANK, "{}: {} = {} says that it is rank {} of {}, where rank {} of {} is due", call,
          side == 0 ? "left" : "right", neighbors[side], heard[side].rank, heard[side].size, due, given.size);
    }
    (side == 0 ? place.left : place.right) = heard[side].here;
  }
  co_return ChainAccess::make(std::move(context), place);
}

Task<Comm> detail::comm_over(Link link) {
  ContextPtr context = new_context(link.context());
  std::vector<Address> all(as_size(link.size()));
  all[as_size(link.rank())] = address_in(*context.get());
  co_await chain_allgather(link, in_place(), items(std::span<Address>(all)));
  std::vector<int> ranks;
  std::vector<int> codes;
  for (const Address& address : all) {
    ranks.push_back(address.rank);
    codes.push_back(address.code);
  }
  const Group members(std::move(ranks));
  context->named.reset(new Context::Named{members, std::move(codes)});
  co_return CommAccess::make(std::move(context), members);
}

Task<Comm> to_comm(Chain chain) {
  constexpr const char* call = "wisp::Chain::to_comm";
  if (chain.empty()) return []() -> Task<Comm> { co_return Comm(); }();
  detail::check_usable(chain, call);
  return detail::comm_over(ChainAccess::link(chain, call, {}));
}

Chain Chain::of_neighbors(const Comm& comm, const ChainNeighbors& neighbors, int tag) {
  return detail::result_of(comm, chain_of_neighbors(comm, neighbors, tag));
}

Comm Chain::to_comm() const {
  if (empty()) return {};
  return detail::result_of(*this, wisp::to_comm(*this));
}

Request Chain::ito_comm(Comm& made) const {
  if (empty()) {
    made = {};
    return {};
  }
  detail::check_usable(*this, "wisp::Chain::ito_comm");
  return start(detail::put(wisp::to_comm(*this), made));
}

}  // namespace wisp
