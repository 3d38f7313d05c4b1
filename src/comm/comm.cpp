#include "wisp/comm.hpp"

#include <vector>

#include "comm/comm_access.hpp"
#include "transport/mpi_group.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp {

namespace detail {

Comm CommAccess::make_root(std::shared_ptr<World> world, TagLayout::Kind kind) {
  const Group all(Range{0, 1, world->size()});
  ContextPtr context(new Context(std::move(world), kind));
  context->counters = &context->world->root_counters(kind);
  context->uniform_code = 0;
  return make(std::move(context), all);
}

Comm CommAccess::make_within(const Comm& parent, const Group& members, const char* call) {
  const ContextPtr& context = parent.context_;
  const EngineLock lock = detail::lock(context, call);
  if (!parent.is_raw()) return make_numbered(context->world, members);
  return make(ContextPtr(new Context(context->world, context->kind)), members);
}

const std::shared_ptr<const GroupNodes>& CommAccess::known_nodes(const Comm& comm, const char* call) {
  check_usable(comm, call);
  if (world(comm).nodes().nodes() == 0) {
    throw_error(MPI_ERR_COMM,
                "{}: nobody has said which ranks of an attached communicator share a node: use "
                "Comm::duplicate, or set WISP_RANKS_PER_NODE for all ranks",
                call);
  }
  return nodes(comm);
}

Comm CommAccess::make_numbered(const std::shared_ptr<World>& world, const Group& members) {
  const EngineLock lock(world->engine(), "wisp::Comm");
  ContextPtr context(new Context(world, TagLayout::Kind::isolated));
  Comm comm = make(std::move(context), members);
  if (!comm.is_member()) return comm;
  const PairNumbers& numbers = world->pair_numbers();
  if (numbers.is_zero()) {
    comm.context_->uniform_code = world->tags().numbered_code(0);
  } else {
    comm.context_->numbers = numbers;
  }
  world->add_numbered(*comm.context_.get(), members);
  return comm;
}

void CommAccess::uncount(const Comm& comm) {
  if (!comm.context_) return;
  const EngineLock lock = detail::lock(comm.context_, "wisp::Comm");
  world(comm).uncount_numbered(*comm.context_.get(), comm.group_);
}

const std::shared_ptr<const GroupNodes>& CommAccess::nodes(const Comm& comm) {
  const EngineLock lock = detail::lock(comm.context_, "wisp::Comm::node");
  std::shared_ptr<const GroupNodes>& nodes = comm.context_->nodes;
  if (!nodes) nodes = std::make_shared<const GroupNodes>(world(comm).nodes(), comm.group_);
  return nodes;
}

[[gnu::hot]] void check_there(const Comm& comm, const char* call) {
  const ContextPtr& context = CommAccess::context(comm);
  if (!context || comm.empty()) [[unlikely]] {
    throw_error(MPI_ERR_COMM, "{}: the communicator is empty", call);
  }
  if (context->world->closed()) [[unlikely]] {
    throw_error(MPI_ERR_COMM, "{}: the MPI communicator below has been freed", call);
  }
}

[[gnu::hot]] void check_usable(const Comm& comm, const char* call) {
  check_there(comm, call);
  if (!comm.is_member()) [[unlikely]] {
    throw_error(MPI_ERR_COMM, "{}: the caller is not a member of the communicator", call);
  }
}

}  // namespace detail

using detail::CommAccess;

Comm Comm::duplicate(MPI_Comm comm, const DuplicateOptions& options) {
  return CommAccess::make_root(detail::World::duplicate(comm, options.mpi_communicators),
                               detail::TagLayout::Kind::isolated);
}

Comm Comm::attach(MPI_Comm comm) {
  return CommAccess::make_root(detail::World::attach(comm), detail::TagLayout::Kind::isolated);
}

Comm Comm::range(int first, int last, int stride) const {
  constexpr const char* call = "wisp::Comm::range";
  if (stride < 1) [[unlikely]] {
    detail::throw_error(MPI_ERR_ARG, "{}: stride = {} is below 1", call, stride);
  }
  if (last < first || !context_) {
    if (last >= first) detail::throw_error(MPI_ERR_COMM, "{}: the communicator is empty", call);
    return {};
  }
  detail::check_within(MPI_ERR_RANK, call, "first", first, 0, size() - 1);
  detail::check_within(MPI_ERR_RANK, call, "last", last, 0, size() - 1);
  const Group members = group_.compose(Range::between(first, last, stride));
  return CommAccess::make_within(*this, members, call);
}

Comm Comm::node() const {
  constexpr const char* call = "wisp::Comm::node";
  const std::shared_ptr<const detail::GroupNodes>& nodes = CommAccess::known_nodes(*this, call);
  return CommAccess::make_within(*this, detail::GroupNodes::inside(nodes, nodes->node_of(rank_)), call);
}

Comm Comm::node_leaders() const {
  constexpr const char* call = "wisp::Comm::node_leaders";
  const std::shared_ptr<const detail::GroupNodes>& nodes = CommAccess::known_nodes(*this, call);
  Comm made = CommAccess::make_within(*this, detail::GroupNodes::between(nodes, 0), call);
  return made.is_member() ? made : Comm();
}

Comm Comm::raw() const {
  if (!context_ || is_raw()) return *this;
  const detail::EngineLock lock = detail::lock(context_, "wisp::Comm::raw");
  constexpr auto kind = detail::TagLayout::Kind::raw;
  if (group_ == Group(Range{0, 1, context_->world->size()})) {
    return CommAccess::make_root(context_->world, kind);
  }
  detail::ContextPtr context(new detail::Context(context_->world, kind));
  return CommAccess::make(std::move(context), group_);
}

bool Comm::is_raw() const noexcept {
  return context_ && context_->kind == detail::TagLayout::Kind::raw;
}

int Comm::translate(int rank, const Comm& other) const {
  if (empty()) throw Error(MPI_ERR_COMM, "wisp::Comm::translate: the communicator is empty");
  detail::check_within(MPI_ERR_RANK, "wisp::Comm::translate", "rank", rank, 0, size() - 1);
  if (!other.context_) return MPI_UNDEFINED;
  if (other.context_->world != context_->world) {
    throw Error(MPI_ERR_COMM,
                "wisp::Comm::translate: the two communicators come from different MPI ones, or one "
                "of them from duplicate and the other from attach");
  }
  const int translated = other.group_.from_world(group_.to_world(rank));
  return translated < 0 ? MPI_UNDEFINED : translated;
}

namespace {

/// The MPI communicator below, for `call` of MPI's own.
MPI_Comm usable_below(const Comm& comm, const char* call) {
  detail::check_usable(comm, call);
  detail::World& world = detail::CommAccess::world(comm);
  if (world.mpi_comm() == MPI_COMM_NULL) {
    detail::throw_error(MPI_ERR_COMM, "{}: a simulated cluster has no MPI communicator", call);
  }
  world.engine().check_thread(call);
  return world.mpi_comm();
}

MPI_Group group_in(MPI_Comm below, const Group& group) {
  std::vector<int> members(detail::as_size(group.size()));
  for (int r = 0; r < group.size(); ++r) members[detail::as_size(r)] = group.to_world(r);
  MPI_Group made = MPI_GROUP_NULL;
  detail::check_mpi(MPI_Group_incl(detail::OwnedGroup(below).get(), group.size(), members.data(), &made),
                    "MPI_Group_incl");
  return made;
}

}  // namespace

MPI_Group Comm::mpi_group() const {
  return group_in(usable_below(*this, "wisp::Comm::mpi_group"), group_);
}

MPI_Comm Comm::to_mpi(int tag) const {
  constexpr const char* call = "wisp::Comm::to_mpi";
  const MPI_Comm below = usable_below(*this, call);
  detail::check_within(MPI_ERR_TAG, call, "tag", tag, 0, context_->world->facts().tag_upper_bound);
  detail::OwnedGroup ours;
  *ours.put() = group_in(below, group_);
  MPI_Comm made = MPI_COMM_NULL;
  detail::check_mpi(MPI_Comm_create_group(below, ours.get(), tag, &made), "MPI_Comm_create_group");
  return made;
}

int Comm::tag_upper_bound() const {
  if (!context_) {
    throw Error(MPI_ERR_COMM, "wisp::Comm::tag_upper_bound: the communicator is empty");
  }
  return context_->world->tags().upper_bound(context_->kind);
}

[[gnu::hot]] Channel Comm::channel(const char* operation, std::optional<int> own_tag) const {
  detail::check_member(*this, operation);
  return {context_, group_, rank_, context_->tag_of_operation(operation, own_tag), operation};
}

detail::CommAccess::PersistentTag detail::CommAccess::persistent_tag(const ContextPtr& of,
                                                                     const Group& members,
                                                                     const char* operation) {
  Context& context = *of.get();
  const EngineLock lock(context.world->engine(), operation);
  const TagLayout& tags = context.world->tags();
  Counters& counters = *context.counters;
  const std::uint32_t of_a_context = tags.persistent_count(context.kind);
  if (counters.persistent < of_a_context || context.kind == TagLayout::Kind::raw || members.empty()) {
    return {of, context.tag_of_persistent(operation)};
  }
  const auto place = static_cast<std::uint32_t>((counters.persistent - of_a_context) % of_a_context);
  if (place == 0) {
    ContextPtr extension(new Context(context.world, context.kind));
    extension->numbers = context.numbers;
    extension->extends_root = !context.is_numbered;
    extension->extension = ++counters.extensions;
    context.world->add_numbered(*extension.get(), members);
    counters.more_persistent = std::move(extension);
  }
  ++counters.persistent;
  return {counters.more_persistent, tags.encode_persistent_count(TagLayout::Kind::isolated, place)};
}

Channel detail::CommAccess::persistent_channel(const Comm& comm, const char* operation,
                                               std::optional<int> own_tag) {
  if (own_tag) return comm.channel(operation, own_tag);
  check_usable(comm, operation);
  PersistentTag made = persistent_tag(comm.context_, comm.context_->group(), operation);
  return {std::move(made.context), comm.group_, comm.rank_, made.tag, operation};
}

Channel detail::CommAccess::creation_channel(const Comm& parent, Group members, int rank,
                                             const char* operation, int tag) {
  const ContextPtr& context = parent.context_;
  return {context, members, rank,
          context->world->tags().encode(context->kind, TagLayout::Lane::creation, tag), operation};
}

void Comm::run(Task<> task) const {
  const detail::EngineLock lock = detail::lock(context_, "wisp::Comm::run");
  detail::run_to_end(context_, std::move(task), detail::Awaits::anything);
}

}  // namespace wisp
