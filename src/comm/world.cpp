#include "comm/world.hpp"

#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/launcher.hpp"
#include "comm/measure_machine.hpp"
#include "comm/shared_transport.hpp"
#include "trace/traced_transport.hpp"
#include "transport/mpi_attribute.hpp"
#include "transport/mpi_engine.hpp"
#include "transport/mpi_group.hpp"
#include "transport/mpi_library.hpp"
#include "transport/mpi_process.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

/// Open MPI gives the attribute to MPI_COMM_WORLD, what is made of a session, and their duplicates alone; it
/// is the same for all.
int tag_upper_bound_of(MPI_Comm comm) {
  for (const MPI_Comm with_attribute : {comm, MPI_COMM_WORLD}) {
    if (with_attribute == MPI_COMM_WORLD && !has_mpi_world()) break;
    void* value = nullptr;
    int exists = 0;
    check_mpi(MPI_Comm_get_attr(with_attribute, MPI_TAG_UB, &value, &exists), "MPI_Comm_get_attr");
    if (exists != 0) return *static_cast<int*>(value);
  }
  return World::least_tag_upper_bound;
}

std::string name_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  check_mpi(MPI_Comm_get_name(comm, name.data(), &length), "MPI_Comm_get_name");
  const std::string given(name.data());
  return given == "MPI_COMM_WORLD" ? "world" : given.empty() ? "comm" : given;
}

World::Facts facts_of(MPI_Comm comm) {
  World::Facts facts;
  check_mpi(MPI_Comm_rank(comm, &facts.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &facts.size), "MPI_Comm_size");
  facts.tag_upper_bound = tag_upper_bound_of(comm);
  facts.name = name_of(comm);
  return facts;
}

/// Whether calls are compared: what any rank's environment says, as mpirun may give it to some only. Where
/// that of one is wrong, all throw. Collective.
bool agree_on_environment(MPI_Comm comm) {
  int told[] = {0, 0};
  std::exception_ptr wrong;
  try {
    told[0] = environment_says_check() ? 1 : 0;
    check_patience_of_environment();
    check_machine_of_environment();
  } catch (const Error&) {
    told[1] = 1;
    wrong = std::current_exception();
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, told, 2, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (wrong) std::rethrow_exception(wrong);
  if (told[1] != 0) {
    throw_error(MPI_ERR_OTHER,
                "wisp::Comm::duplicate: the environment of another rank is wrong: its error says how");
  }
  return told[0] != 0;
}

/// Of a communicator's ranks, those in MPI_COMM_WORLD; with sessions alone, the same.
std::vector<int> ranks_in_mpi(MPI_Comm comm) {
  return ranks_in(has_mpi_world() ? MPI_COMM_WORLD : comm, OwnedGroup(comm).get());
}

std::unique_ptr<Transport> transport_over(std::vector<MPI_Comm> comms, const World::Facts& facts,
                                          bool owned) {
  MpiTransport::Options options;
  options.owned = owned;
  options.is_traced = facts.is_traced;
  const MpiLibrary& library = mpi_library();
  options.copied = {
      .least = library.least_copied,
      .largest = facts.machine.shares_cores ? library.largest_copied_on_shared_cores : library.largest_copied,
      .largest_in_a_row = library.largest_copied};
  options.rank = facts.rank;
  const MPI_Comm first = comms.front();
  auto transport = std::make_unique<MpiTransport>(std::move(comms), options);
  Recorder* const recorder = transport->recorder();
  return traced(std::move(transport), recorder,
                recorder != nullptr ? ranks_in_mpi(first) : std::vector<int>());
}

/// Without the caller's attributes: MPI_Comm_dup would call the functions that copy them.
MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm ours = MPI_COMM_NULL;
  if (has_mpi_world()) {
    check_mpi(MPI_Comm_create(comm, OwnedGroup(comm).get(), &ours), "MPI_Comm_create");
  } else {  // with sessions alone and one rank, MPICH 4.0 crashes in MPI_Comm_create
    constexpr int everybody = 0;
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_split(comm, everybody, rank, &ours), "MPI_Comm_split");
  }
  check_mpi(MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  const std::string name = ("wisp: " + name_of(comm)).substr(0, MPI_MAX_OBJECT_NAME - 1);
  check_mpi(MPI_Comm_set_name(ours, name.c_str()), "MPI_Comm_set_name");
  return ours;
}

}  // namespace

bool environment_says_check() {
  const char* value = std::getenv("WISP_CHECK");
  const std::string_view wish = value != nullptr && *value != '\0' ? value : "0";
  if (wish != "0" && wish != "1") throw_error(MPI_ERR_ARG, "wisp: WISP_CHECK = {} is neither 1 nor 0", wish);
  return wish == "1";
}

std::unique_ptr<Transport> World::shared(std::unique_ptr<Transport> transport, const Facts& facts) {
  return std::make_unique<SharedTransport>(std::move(transport), TagLayout(facts.tag_upper_bound),
                                           facts.rank);
}

World::World(std::unique_ptr<Transport> transport, const Facts& facts)
    : transport_(std::move(transport)),
      engine_(transport_->engine()),
      inner_(transport_->inner()),
      meters_joins_(inner_.meters_joins()),
      recorder_(transport_->recorder()),
      tags_(facts.tag_upper_bound, facts.mpi_comms),
      pair_codes_(*this, tags_.numbered_count(), tags_.service(TagLayout::Service::pair_codes)),
      stall_(*this, tags_.service(TagLayout::Service::stall)),
      mailbox_(*transport_, tags_, pair_codes_, {&pair_codes_.messages(), &stall_.messages()}),
      facts_(facts),
      machines_{facts.machine, facts.machine.at(Level::inside), facts.machine.at(Level::between)},
      pair_numbers_(facts.size) {
#ifndef SMPI_H  // where all ranks stall, SimGrid says so
  const EngineLock lock(engine_);
  if (engine_.can_wait()) engine_.add_attendant(stall_);  // a million simulated ranks need none
#endif
}

World::~World() {
  const EngineLock lock(engine_);
  engine_.remove_attendant(stall_);
}

void World::add_numbered(Context& context, const Group& members) {
  context.is_numbered = true;
  context.members = members;
  context.made_before = latest_numbered_;
  if (latest_numbered_ != nullptr) latest_numbered_->made_after = &context;
  latest_numbered_ = &context;
  if (context.extension > 0) {
    pair_codes_.expect_requests();
    return;
  }
  pair_numbers_.add(members);
  pair_codes_.count();
}

void World::uncount_numbered(Context& context, const Group& members) {
  if (!context.is_numbered || context.extension > 0 || latest_numbered_ != &context) return;
  pair_numbers_.add(members, -1);
  pair_codes_.count(-1);
}

void World::drop_numbered(Context& context) noexcept {
  (context.made_after != nullptr ? context.made_after->made_before : latest_numbered_) = context.made_before;
  if (context.made_before != nullptr) context.made_before->made_after = context.made_after;
}

int World::find_named_code() {
  const EngineLock lock(engine_, "wisp::Comm");
  const int count = tags_.named_count();
  named_codes_.resize(as_size(count));
  for (int tried = 0; tried < count; ++tried) {
    // In turn: the longer a code has rested, the better.
    const int place = std::exchange(next_named_code_, (next_named_code_ + 1) % count);
    if (named_codes_[as_size(place)]) continue;
    named_codes_[as_size(place)] = true;
    return tags_.named_code(place);
  }
  return -1;
}

int World::take_named_code() {
  const int code = find_named_code();
  if (code < 0) throw_no_named_code();
  return code;
}

void World::throw_no_named_code() const {
  throw_error(
      MPI_ERR_COMM,
      "wisp: {} chains and communicators of `create_group`, `icreate`, `split` and `to_comm` are alive here, "
      "the most that this MPI's tags can tell apart (those of `range` and `subset` do not count): drop some "
      "that are done, or "
      "ask for more MPI communicators below (DuplicateOptions::mpi_communicators, now {})",
      tags_.named_count(), facts_.mpi_comms);
}

void World::drop_named_code(int code) noexcept {
  named_codes_[as_size(tags_.named_index(code))] = false;
}

std::shared_ptr<World> World::duplicate(MPI_Comm comm, int mpi_comms) {
  constexpr const char* call = "wisp::Comm::duplicate";
  check_comm(comm, call);
  check_within(MPI_ERR_ARG, call, "mpi_communicators", mpi_comms, 1, most_mpi_comms);
  MpiEngine::of_process(comm)->check_thread(call);
  std::shared_ptr<World> world =
      attribute_of<World, 0>(comm, [&] { return over_own(make_duplicates(comm, mpi_comms)); });
  if (world->facts().mpi_comms < mpi_comms) {
    throw_error(
        MPI_ERR_ARG,
        "{}: mpi_communicators = {}, but comm has been duplicated with {} before, which is kept until "
        "comm is freed: ask for all in the first call",
        call, mpi_comms, world->facts().mpi_comms);
  }
  return world;
}

World::Own World::make_duplicates(MPI_Comm comm, int mpi_comms) {
  std::vector<MPI_Comm> ours;
  try {
    const MPI_Comm first = ours.emplace_back(duplicate_of(comm));
    const bool checks_calls = agree_on_environment(first);  // before this rank's own is looked at alone
    Facts facts = facts_of(first);
    facts.tag_upper_bound = tag_upper_bound_of(comm);
    facts.checks_calls = checks_calls;
    facts.name = name_of(comm);
    const Hosts hosts = learn_hosts(first);
    facts.nodes = hosts.nodes;
    facts.machine = measure_machine(first, hosts);
    while (ours.size() < as_size(mpi_comms)) ours.push_back(duplicate_of(comm));
    return {std::move(ours), std::move(facts)};
  } catch (...) {
    for (MPI_Comm& made : ours) MPI_Comm_free(&made);
    throw;
  }
}

std::shared_ptr<World> World::over_own(Own own) {
  own.facts.mpi_comms = static_cast<int>(own.comms.size());
  return std::make_shared<World>(transport_over(std::move(own.comms), own.facts, true), own.facts);
}

std::shared_ptr<World> World::attach(MPI_Comm comm) {
  constexpr const char* call = "wisp::Comm::attach";
  check_comm(comm, call);
  // Held by whoever makes one and by whoever waits for that.
  const std::shared_ptr<MpiEngine> engine = MpiEngine::of_process(comm);
  const EngineLock lock(*engine, call);
  return attribute_of<World, 1>(comm, [&] {
    Facts facts = facts_of(comm);
    facts.nodes = nodes_of_launcher(comm);
    facts.machine = machine_of_launcher(facts.nodes);
    return std::make_shared<World>(shared(transport_over({comm}, facts, false), facts), facts);
  });
}

MPI_Comm World::mpi_comm() const {
  const auto* mpi = dynamic_cast<const MpiTransport*>(&inner_);
  return mpi != nullptr ? mpi->comm() : MPI_COMM_NULL;
}

int World::rank_in(const World& other, int rank) const {
  if (&other == this) return rank;
  if (mpi_comm() == MPI_COMM_NULL || other.mpi_comm() == MPI_COMM_NULL) return -1;
  const OwnedGroup from(mpi_comm());
  const OwnedGroup to(other.mpi_comm());
  int translated = -1;
  check_mpi(MPI_Group_translate_ranks(from.get(), 1, &rank, to.get(), &translated),
            "MPI_Group_translate_ranks");
  return translated == MPI_UNDEFINED ? -1 : translated;
}

void World::close() noexcept {
  const EngineLock lock(engine_);
  engine_.remove_attendant(stall_);
  stall_.close();
  failures_.close();
  closed_ = true;
  mailbox_.close();
  pair_codes_.close();
  for (Counters& counters : root_counters_) counters.more_persistent = {};  // they hold this World
  if (auto* mpi = dynamic_cast<MpiTransport*>(&inner_)) mpi->close();
}

void abandon(Message& message) noexcept {
  if (message.world == nullptr) return;
  const EngineLock lock(message.world->engine());
  if (!message.done) {
    message.world->mailbox().abandon(message);
  } else if (message.is_queued) {
    message.world->transport().forget(message);
  }
}

}  // namespace wisp::detail
