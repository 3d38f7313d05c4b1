#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "comm/comm_access.hpp"
#include "transport/mpi_group.hpp"
#include "transport/throw_error.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/channel_collectives.hpp"
#include "wisp/error.hpp"

// Communicators of arbitrary ranks. A subset is numbered for each pair of members, as ranges are. Where
// creations may come in any order, pairs cannot count them alone: there each member names the code of the
// messages that it will receive, and all members hear of all names in one allgather.
//
// Source: Axtmann et al. 2018, section VI

namespace wisp {
namespace {

using detail::CommAccess;
using detail::Context;
using detail::ContextPtr;

void check_ranks(const Comm& comm, const char* call, std::span<const int> ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= 0 && ranks[i] < comm.size()) continue;
    detail::throw_error(MPI_ERR_RANK, "{}: ranks[{}] = {} is outside 0..{}", call, i, ranks[i],
                        comm.size() - 1);
  }
  if (std::ranges::adjacent_find(ranks, std::greater_equal()) == ranks.end()) return;
  std::vector<int> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return;
  const auto first = std::ranges::find(ranks, *twice);
  const auto second = std::find(first + 1, ranks.end(), *twice);
  detail::throw_error(MPI_ERR_RANK, "{}: ranks[{}] = {} is there twice", call, second - ranks.begin(),
                      *twice);
}

/// The ranks as a range, if they are one.
std::optional<Range> range_of(std::span<const int> ranks) {
  const int stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  if (stride < 1) return std::nullopt;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i] - ranks[i - 1] != stride) return std::nullopt;
  }
  return Range{ranks[0], stride, static_cast<int>(ranks.size())};
}

Group list_of(const Comm& comm, std::span<const int> ranks) {
  std::vector<int> members;
  members.reserve(ranks.size());
  for (const int rank : ranks) members.push_back(comm.group().to_world(rank));
  return Group(std::move(members));
}

/// The ranks in `comm` of the processes of an MPI group.
std::vector<int> ranks_of(const Comm& comm, const char* call, MPI_Group group) {
  detail::check_usable(comm, call);
  if (group == MPI_GROUP_NULL) detail::throw_error(MPI_ERR_GROUP, "{}: group = MPI_GROUP_NULL", call);
  const MPI_Comm below = CommAccess::world(comm).mpi_comm();
  if (below == MPI_COMM_NULL) {
    detail::throw_error(MPI_ERR_GROUP, "{}: a simulated cluster has no MPI groups; give ranks", call);
  }
  std::vector<int> in_world = detail::ranks_in(below, group);
  for (int& rank : in_world) {
    rank = rank == MPI_UNDEFINED ? -1 : comm.group().from_world(rank);
    if (rank < 0) {
      detail::throw_error(MPI_ERR_GROUP, "{}: group has a process that is no member of the communicator",
                          call);
    }
  }
  return in_world;
}

/// Tells all members what each has named the context.
Task<> exchange_names(Channel channel, Comm made) {
  Context& context = *CommAccess::context(made).get();
  std::vector<int> codes(context.named->codes.size());
  co_await detail::allgather_on(std::move(channel), buffer_of(std::as_const(context.code_here)), codes);
  // Who has none left says so to all: nobody waits for it.
  if (std::find(codes.begin(), codes.end(), -1) != codes.end()) context.world->throw_no_named_code();
  context.named->codes = std::move(codes);
}

/// A communicator that is complete when the task is done.
struct Creation {
  Comm made;
  Task<> task;
};

/// `channel_of(group, rank)` is a channel of the parent among the members.
template <class ChannelOf>
Creation create(const Comm& parent, const char* call, std::span<const int> ranks, ChannelOf channel_of) {
  check_ranks(parent, call, ranks);
  if (ranks.empty()) return {Comm(), detail::nothing()};
  // A range, too, has its codes named: its number would depend on the order of creations.
  const std::optional<Range> range = range_of(ranks);
  const Group members = range ? parent.group().compose(*range) : list_of(parent, ranks);
  detail::World& world = CommAccess::world(parent);
  const int rank = members.from_world(world.rank());
  if (rank < 0) return {Comm(), detail::nothing()};

  ContextPtr context(new Context(CommAccess::context(parent)->world, CommAccess::context(parent)->kind));
  if (parent.is_raw()) return {CommAccess::make(std::move(context), members), detail::nothing()};
  context->code_here = world.find_named_code();
  context->named.reset(new Context::Named{members, std::vector<int>(ranks.size(), -1)});
  Comm made = CommAccess::make(std::move(context), members);
  return {made, exchange_names(channel_of(members, rank), made)};
}

Creation create_group_of(const Comm& parent, const char* call, std::span<const int> ranks, int tag) {
  detail::check_usable(parent, call);
  detail::check_within(MPI_ERR_TAG, call, "tag", tag, 0, parent.tag_upper_bound());
  return create(parent, call, ranks, [&](Group members, int rank) {
    return CommAccess::creation_channel(parent, members, rank, call, tag);
  });
}

Creation create_of(const Comm& parent, const char* call, std::span<const int> ranks) {
  // All ranks of the parent call: each draws the number, also who is no member.
  const Channel whole_parent = parent.channel(call);
  return create(parent, call, ranks,
                [&](Group members, int rank) { return whole_parent.among(members, rank); });
}

Request start_creation(const Comm& parent, Creation creation, Comm& made) {
  Request request = parent.start(std::move(creation.task));
  made = std::move(creation.made);  // it may be the parent
  return request;
}

}  // namespace

Comm Comm::subset(std::span<const int> ranks) const {
  constexpr const char* call = "wisp::Comm::subset";
  detail::check_there(*this, call);
  check_ranks(*this, call, ranks);
  if (ranks.empty()) return {};
  if (const std::optional<Range> range = range_of(ranks)) {
    return this->range(range->first, range->to_parent(range->size - 1), range->stride);
  }
  return CommAccess::make_within(*this, list_of(*this, ranks), call);
}

Request Comm::icreate_group(std::span<const int> ranks, int tag, Comm& made) const {
  return start_creation(*this, create_group_of(*this, "wisp::Comm::icreate_group", ranks, tag), made);
}

Request Comm::icreate_group(MPI_Group group, int tag, Comm& made) const {
  constexpr const char* call = "wisp::Comm::icreate_group";
  return start_creation(*this, create_group_of(*this, call, ranks_of(*this, call, group), tag), made);
}

Comm Comm::create_group(std::span<const int> ranks, int tag) const {
  Creation creation = create_group_of(*this, "wisp::Comm::create_group", ranks, tag);
  run(std::move(creation.task));
  return creation.made;
}

Comm Comm::create_group(MPI_Group group, int tag) const {
  constexpr const char* call = "wisp::Comm::create_group";
  Creation creation = create_group_of(*this, call, ranks_of(*this, call, group), tag);
  run(std::move(creation.task));
  return creation.made;
}

Request Comm::icreate(std::span<const int> ranks, Comm& made) const {
  return start_creation(*this, create_of(*this, "wisp::Comm::icreate", ranks), made);
}

Request Comm::icreate(MPI_Group group, Comm& made) const {
  constexpr const char* call = "wisp::Comm::icreate";
  return start_creation(*this, create_of(*this, call, ranks_of(*this, call, group)), made);
}

}  // namespace wisp
