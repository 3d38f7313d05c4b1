#include "comm/world.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/measure_machine.hpp"
#include "transport/mpi_attribute.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

/// Open MPI gives the attribute to MPI_COMM_WORLD and its duplicates alone; it is the same for all.
int tag_upper_bound_of(MPI_Comm comm) {
  constexpr int least_of_any_mpi = 32767;
  for (const MPI_Comm with_attribute : {comm, MPI_COMM_WORLD}) {
    void* value = nullptr;
    int exists = 0;
    check_mpi(MPI_Comm_get_attr(with_attribute, MPI_TAG_UB, &value, &exists), "MPI_Comm_get_attr");
    if (exists != 0) return *static_cast<int*>(value);
  }
  return least_of_any_mpi;
}

World::Facts facts_of(MPI_Comm comm) {
  World::Facts facts;
  check_mpi(MPI_Comm_rank(comm, &facts.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &facts.size), "MPI_Comm_size");
  facts.tag_upper_bound = tag_upper_bound_of(comm);
  return facts;
}

/// Says which messages are copied when they are sent. Open MPI ends a send of more than 256 bytes only when
/// the receiver has taken it, which takes longest where the receiver may have no core; others copy it
/// themselves.
void set_copied([[maybe_unused]] MpiTransport::Options& options, [[maybe_unused]] const World::Facts& facts) {
#ifdef OPEN_MPI
  options.least_copied = 257;
  options.largest_copied = facts.machine.shares_cores ? 4096 : 2048;
#endif
}

enum class Ownership { own, callers };

std::shared_ptr<World> make_world(MPI_Comm comm, const World::Facts& facts, Ownership ownership) {
  MpiTransport::Options options;
  options.owned = ownership == Ownership::own;
  set_copied(options, facts);
  options.rank = facts.rank;
  return std::make_shared<World>(std::make_unique<MpiTransport>(comm, options), facts);
}

void check_comm(MPI_Comm comm, const char* call) {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  const std::string name(call);
  if (initialized == 0 || finalized != 0) {
    throw Error(MPI_ERR_OTHER, name + ": MPI is not running (between MPI_Init and MPI_Finalize)");
  }
  if (comm == MPI_COMM_NULL) throw Error(MPI_ERR_COMM, name + ": comm = MPI_COMM_NULL");
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0) throw Error(MPI_ERR_COMM, name + ": comm is an intercommunicator");
}

}  // namespace

bool environment_says_check() {
  const char* value = std::getenv("WISP_CHECK");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

World::World(std::unique_ptr<Transport> transport, const Facts& facts)
    : transport_(std::move(transport)),
      tags_(facts.tag_upper_bound),
      mailbox_(*transport_, tags_),
      facts_(facts),
      pair_numbers_(facts.size) {}

void World::claim(Context& context, int peer, int code) {
  const auto key = static_cast<std::uint64_t>(peer) * static_cast<std::uint64_t>(tags_.code_count()) +
                   static_cast<std::uint64_t>(code);
  const Context*& holder = claims_[key];
  if (holder == &context) return;
  if (holder != nullptr) {
    throw_error(
        MPI_ERR_COMM,
        "wisp::Comm: {} communicators were made that rank {} of the parent communicator shares; the tags "
        "of this one are still in use by another. Free communicators that are done",
        pair_numbers_.with(peer) + 1, peer);
  }
  holder = &context;
  context.claims.push_back(key);
}

void World::drop_claims(const Context& context) noexcept {
  for (const std::uint64_t claim : context.claims) claims_.erase(claim);
}

int World::find_named_code() {
  const int first = tags_.first_named_code();
  const int count = tags_.named_count();
  named_codes_.resize(static_cast<std::size_t>(count));
  for (int tried = 0; tried < count; ++tried) {
    // In turn: the longer a code has rested, the better.
    const int place = std::exchange(next_named_code_, (next_named_code_ + 1) % count);
    if (named_codes_[static_cast<std::size_t>(place)]) continue;
    named_codes_[static_cast<std::size_t>(place)] = true;
    return first + place;
  }
  return -1;
}

int World::take_named_code() {
  const int code = find_named_code();
  if (code < 0) throw_no_named_code();
  return code;
}

void World::throw_no_named_code() const {
  throw_error(MPI_ERR_COMM,
              "wisp: {} chains and communicators of arbitrary ranks are alive here, the most that this MPI's "
              "tags can tell apart; those of `range` and `subset` do not count",
              tags_.named_count());
}

void World::drop_named_code(int code) noexcept {
  named_codes_[static_cast<std::size_t>(code - tags_.first_named_code())] = false;
}

std::shared_ptr<World> World::duplicate(MPI_Comm comm) {
  check_comm(comm, "wisp::Comm::duplicate");
  return attribute_of<World, 0>(comm, [&] {
    MPI_Comm ours = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(comm, &ours), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    World::Facts facts = facts_of(ours);
    facts.machine = measure_machine(ours);
    // mpirun may give the environment to some ranks only.
    int checks = facts.checks_calls ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &checks, 1, MPI_INT, MPI_MAX, ours), "MPI_Allreduce");
    facts.checks_calls = checks != 0;
    return over_own(ours, facts);
  });
}

std::shared_ptr<World> World::over_own(MPI_Comm comm, const Facts& facts) {
  return make_world(comm, facts, Ownership::own);
}

std::shared_ptr<World> World::attach(MPI_Comm comm) {
  check_comm(comm, "wisp::Comm::attach");
  return attribute_of<World, 1>(comm, [&] {
    Facts facts = facts_of(comm);
    read_environment(facts.machine);
    return make_world(comm, facts, Ownership::callers);
  });
}

MPI_Comm World::mpi_comm() const {
  const auto* mpi = dynamic_cast<const MpiTransport*>(transport_.get());
  return mpi != nullptr ? mpi->comm() : MPI_COMM_NULL;
}

void World::close() noexcept {
  closed_ = true;
  mailbox_.close();
  for (Counters& counters : root_counters_) counters.more_persistent = {};  // they hold this World
  if (auto* mpi = dynamic_cast<MpiTransport*>(transport_.get())) mpi->close();
}

void abandon(Message& message) noexcept {
  if (message.world == nullptr) return;
  if (message.done) {
    message.world->transport().forget(message);
  } else {
    message.world->mailbox().abandon(message);
  }
}

}  // namespace wisp::detail
