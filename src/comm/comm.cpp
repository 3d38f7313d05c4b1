#include "wisp/comm.hpp"

#include <fmt/format.h>

#include "comm/comm_access.hpp"
#include "wisp/error.hpp"

namespace wisp {

namespace detail {

void check_usable(const Comm& comm, const char* call) {
  const std::shared_ptr<Context>& context = CommAccess::context(comm);
  if (context == nullptr || comm.empty()) [[unlikely]] {
    throw Error(MPI_ERR_COMM, fmt::format("{}: the communicator is empty", call));
  }
  if (context->world->closed()) [[unlikely]] {
    throw Error(MPI_ERR_COMM, fmt::format("{}: the MPI communicator below has been freed", call));
  }
  if (!comm.is_member()) [[unlikely]] {
    throw Error(MPI_ERR_COMM, fmt::format("{}: the caller is not a member of the communicator", call));
  }
}

}  // namespace detail

using detail::CommAccess;

Comm Comm::duplicate(MPI_Comm comm) {
  return CommAccess::make_root(detail::World::duplicate(comm));
}

Comm Comm::attach(MPI_Comm comm) {
  return CommAccess::make_root(detail::World::attach(comm));
}

Comm Comm::range(int first, int last, int stride) const {
  constexpr const char* call = "wisp::Comm::range";
  if (stride < 1) [[unlikely]] {
    throw Error(MPI_ERR_ARG, fmt::format("{}: stride = {} is below 1", call, stride));
  }
  if (last < first || context_ == nullptr) {
    if (last >= first) throw Error(MPI_ERR_COMM, fmt::format("{}: the communicator is empty", call));
    return {};
  }
  detail::check_within(MPI_ERR_RANK, call, "first", first, 0, size() - 1);
  detail::check_within(MPI_ERR_RANK, call, "last", last, 0, size() - 1);
  Comm inner;
  inner.range_ = range_.compose(Range::between(first, last, stride));
  inner.rank_ = inner.range_.from_parent(context_->world->rank());
  inner.context_ = std::make_shared<detail::Context>(context_->world);
  return inner;
}

int Comm::translate(int rank, const Comm& other) const {
  detail::check_within(MPI_ERR_RANK, "wisp::Comm::translate", "rank", rank, 0, size() - 1);
  if (other.context_ == nullptr) return MPI_UNDEFINED;
  if (other.context_->world != context_->world) {
    throw Error(MPI_ERR_COMM, "wisp::Comm::translate: the two communicators come from different MPI ones");
  }
  const int translated = other.range_.from_parent(range_.to_parent(rank));
  return translated < 0 ? MPI_UNDEFINED : translated;
}

MPI_Comm Comm::to_mpi(int tag) const {
  constexpr const char* call = "wisp::Comm::to_mpi";
  detail::check_usable(*this, call);
  const MPI_Comm below = context_->world->mpi_comm();
  if (below == MPI_COMM_NULL) {
    throw Error(MPI_ERR_COMM, fmt::format("{}: a simulated cluster has no MPI communicator", call));
  }
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int triple[1][3] = {{range_.first, range_.to_parent(range_.size - 1), range_.stride}};
  detail::check_mpi(MPI_Comm_group(below, &all), "MPI_Comm_group");
  detail::check_mpi(MPI_Group_range_incl(all, 1, triple, &ours), "MPI_Group_range_incl");
  const int code = MPI_Comm_create_group(below, ours, tag, &made);
  detail::check_mpi(MPI_Group_free(&ours), "MPI_Group_free");
  detail::check_mpi(MPI_Group_free(&all), "MPI_Group_free");
  detail::check_mpi(code, "MPI_Comm_create_group");
  return made;
}

int Comm::tag_upper_bound() const {
  if (context_ == nullptr) {
    throw Error(MPI_ERR_COMM, "wisp::Comm::tag_upper_bound: the communicator is empty");
  }
  return context_->world->tags().upper_bound();
}

Channel Comm::channel(const char* operation, OwnTag own_tag) const {
  detail::check_usable(*this, operation);
  detail::World& world = *context_->world;
  using Lane = detail::TagLayout::Lane;
  if (!own_tag) {
    const int tag = world.tags().encode_sequence((*context_->sequence)++);
    return {world, range_, rank_, tag, operation};
  }
  detail::check_within(MPI_ERR_TAG, operation, "own_tag", *own_tag, 0, world.tags().upper_bound());
  return {world, range_, rank_, world.tags().encode(Lane::own_tag, *own_tag), operation};
}

void Comm::run(Task<> task) const {
  const auto handle = task.handle();
  handle.resume();
  if (!handle.done()) {
    detail::Engine& engine = context_->world->engine();
    if (!engine.can_wait()) {
      throw Error(MPI_ERR_OTHER, "wisp::Comm: a simulated rank cannot block; co_await the operation instead");
    }
    engine.run_until([handle] { return handle.done(); });
  }
  handle.promise().take();
}

}  // namespace wisp
