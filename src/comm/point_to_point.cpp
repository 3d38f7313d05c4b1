#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "comm/comm_access.hpp"
#include "comm/messages.hpp"
#include "trace/recorder.hpp"
#include "transport/kept_arguments.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"

// Point-to-point messages: arguments checked, ranks translated, then one Posted for all faces.

namespace wisp {
namespace {

using detail::CommAccess;
using detail::SendMode;
using detail::TagLayout;

/// What a call's arguments are called that have to do with a message.
struct Names {
  const char* buffer = "the buffer";
  const char* type = "datatype";
  const char* tag = "tag";
};
constexpr Names of_sent = {"the buffer to send", "the datatype to send", "send_tag"};
constexpr Names of_received = {"the buffer to receive", "the datatype to receive", "receive_tag"};

[[gnu::hot]] void check_buffer(const char* call, const ConstBuffer& buffer, const Names& names = {}) {
  if (is_in_place(buffer)) {
    detail::throw_error(MPI_ERR_BUFFER, "{}: {} is MPI_IN_PLACE, which only collectives know", call,
                        names.buffer);
  }
  if (buffer.type == MPI_DATATYPE_NULL) {
    detail::throw_error(MPI_ERR_TYPE, "{}: {} = MPI_DATATYPE_NULL", call, names.type);
  }
  detail::check_address(call, names.buffer, buffer);
}

/// What a message to or from MPI_PROC_NULL is: done at once.
Posted post_nothing(const char* call) {
  Posted posted(new detail::Message);
  detail::Message& message = *posted.message();
  message.operation = call;
  message.envelope = {MPI_PROC_NULL, MPI_ANY_TAG, 0};
  message.done = true;
  return posted;
}

[[gnu::hot]] void check_send(const Comm& comm, const ConstBuffer& buffer, int destination, int tag,
                             const char* call, const Names& names = {}) {
  detail::check_member(comm, call);
  check_buffer(call, buffer, names);
  detail::check_within(MPI_ERR_TAG, call, names.tag, tag, 0, comm.tag_upper_bound());
  if (destination != MPI_PROC_NULL) {
    detail::check_within(MPI_ERR_RANK, call, "destination", destination, 0, comm.size() - 1);
  }
}

/// The tag of a user's message, without a code.
[[gnu::hot]] int bare_tag_of(const Comm& comm, int tag) {
  const detail::Context& context = *CommAccess::context(comm).get();
  return context.world->tags().encode(context.kind, TagLayout::Lane::point_to_point, tag);
}

[[gnu::hot]] Posted post_send_of(const Comm& comm, const ConstBuffer& buffer, int destination, int tag,
                                 SendMode mode, const char* call) {
  if (destination == MPI_PROC_NULL) return post_nothing(call);
  detail::Context& context = *CommAccess::context(comm).get();
  const int peer = comm.group().to_world(destination);
  return detail::post_send(context, buffer, peer, bare_tag_of(comm, tag), mode, call);
}

[[gnu::hot]] Posted post_checked_send(const Comm& comm, const ConstBuffer& buffer, int destination, int tag,
                                      SendMode mode, const char* call) {
  check_send(comm, buffer, destination, tag, call);
  return post_send_of(comm, buffer, destination, tag, mode, call);
}

[[gnu::hot]] void check_source_and_tag(const Comm& comm, int source, int tag, const char* call,
                                       const Names& names = {}) {
  if (source != any_source && source != MPI_PROC_NULL) {
    detail::check_within(MPI_ERR_RANK, call, "source", source, 0, comm.size() - 1);
  }
  if (tag != any_tag) detail::check_within(MPI_ERR_TAG, call, names.tag, tag, 0, comm.tag_upper_bound());
}

[[gnu::hot]] detail::Mailbox::Pattern pattern_of(const Comm& comm, int source, int tag) {
  detail::Context& context = *CommAccess::context(comm).get();
  const bool is_any_tag = tag == any_tag;
  const int bare_tag = bare_tag_of(comm, is_any_tag ? 0 : tag);
  detail::Mailbox::Pattern pattern =
      source == any_source ? detail::pattern_from_any(context, comm.group(), bare_tag)
                           : detail::pattern_from(context, comm.group().to_world(source), bare_tag);
  if (is_any_tag) {
    pattern.is_any_number = true;
    pattern.wire_tag = -1;
  }
  return pattern;
}

[[gnu::hot]] void check_receive(const Comm& comm, const Buffer& buffer, int source, int tag, const char* call,
                                const Names& names = {}) {
  detail::check_member(comm, call);
  check_buffer(call, buffer, names);
  check_source_and_tag(comm, source, tag, call, names);
}

[[gnu::hot]] Posted post_receive_of(const Comm& comm, const Buffer& buffer, int source, int tag,
                                    const char* call) {
  if (source == MPI_PROC_NULL) return post_nothing(call);
  detail::Context& context = *CommAccess::context(comm).get();
  if (source != any_source && tag != any_tag && !context.world->transport().is_shared()) [[likely]] {
    const int peer = comm.group().to_world(source);
    return detail::post_receive(context, buffer, peer, bare_tag_of(comm, tag), call, true);
  }
  return detail::post_receive(CommAccess::world(comm), buffer, pattern_of(comm, source, tag), call, true);
}

[[gnu::hot]] Posted post_checked_receive(const Comm& comm, const Buffer& buffer, int source, int tag,
                                         const char* call) {
  check_receive(comm, buffer, source, tag, call);
  return post_receive_of(comm, buffer, source, tag, call);
}

Posted post_checked_probe(const Comm& comm, int source, int tag, const char* call) {
  detail::check_member(comm, call);
  check_source_and_tag(comm, source, tag, call);
  if (source == MPI_PROC_NULL) return post_nothing(call);
  return detail::post_probe(CommAccess::world(comm), pattern_of(comm, source, tag), call);
}

[[gnu::hot]] Status status_of(const detail::Envelope& envelope, const Group& members, const TagLayout& tags) {
  if (envelope.source == MPI_PROC_NULL) return {MPI_PROC_NULL, any_tag, 0};
  return {members.from_world(envelope.source), tags.number(envelope.tag), envelope.bytes};
}

Status status_of(const detail::Envelope& envelope, const Comm& comm) {
  return status_of(envelope, comm.group(), CommAccess::world(comm).tags());
}

Task<> finish_send(Posted posted) {
  co_await posted;
}

/// Of a Request, which keeps the communicator; no coroutine is needed for what has left at once.
[[gnu::hot]] detail::RunningTask running_send(Posted sent) {
  return sent.message() == nullptr ? detail::RunningTask::ended() : finish_send(std::move(sent));
}
[[gnu::hot]] Task<Status> running_receive(Posted received, Group members, const TagLayout* tags) {
  co_return status_of(co_await received, members, *tags);
}

/// Messages, and the communicator that they are given up by if they are dropped: it must go last, and
/// compilers differ in which parameter of a coroutine does.
struct InFlight {
  InFlight(Comm on, Posted send, Posted receive, detail::ScratchVector packs = {})
      : comm(std::move(on)), packed(std::move(packs)), sent(std::move(send)), received(std::move(receive)) {}
  InFlight(InFlight&&) = default;
  InFlight& operator=(InFlight&&) = delete;
  ~InFlight() {
    // MPI may read on.
    if (!sent.done()) [[maybe_unused]]
      std::byte* const left = packed.give();
  }

  Comm comm;
  detail::ScratchVector packed;  ///< what is sent, if it is not the caller's
  Posted sent;
  Posted received;
};

/// The send first: a receive that has failed ends nothing but itself.
Task<Status> finish(InFlight messages) {
  co_await messages.sent;
  co_return status_of(co_await messages.received, messages.comm);
}

Task<> finish_send(InFlight messages) {
  co_await messages.sent;
}

Task<Status> finish_receive(Posted received, const Comm& comm) {
  return finish({comm, {}, std::move(received)});
}

/// What `room` throws is kept for the one that waits: it may be called in any other call of the library.
RoomFor kept(RoomFor room, const std::shared_ptr<std::exception_ptr>& thrown, const char* call) {
  return [room = std::move(room), thrown, call](std::size_t count) {
    try {
      void* const address = room(count);
      if (address == nullptr && count > 0)
        detail::throw_error(MPI_ERR_BUFFER, "{}: room for {} elements is a null address", call, count);
      return address;
    } catch (...) {
      *thrown = std::current_exception();
      throw std::bad_alloc();
    }
  };
}

/// Of so many bytes, into which its elements had to fit.
Task<Status> finish_whole(InFlight messages, std::size_t element, const char* call,
                          std::shared_ptr<std::exception_ptr> thrown = {}) {
  Status status;
  try {
    status = status_of(co_await messages.received, messages.comm);
  } catch (const Error&) {
    if (thrown && *thrown) std::rethrow_exception(*thrown);
    throw;
  }
  if (status.bytes % element != 0) {
    detail::throw_error(MPI_ERR_TRUNCATE,
                        "{}: a message of {} bytes from rank {} is no whole number of elements of {} bytes",
                        call, status.bytes, status.source, element);
  }
  co_return status;
}

Task<Status> whole_task(const Comm& comm, MPI_Datatype type, RoomFor room, int source, int tag,
                        const char* call) {
  detail::check_member(comm, call);
  check_source_and_tag(comm, source, tag, call);
  check_buffer(call, {nullptr, 0, type});
  const std::size_t element = detail::TypeLayout::of(type).size;
  if (element == 0) detail::throw_error(MPI_ERR_TYPE, "{}: datatype is one of no bytes", call);
  if (!room) detail::throw_error(MPI_ERR_ARG, "{}: room is an empty function", call);
  if (source == MPI_PROC_NULL) {
    room(0);
    return finish_whole({comm, {}, post_nothing(call)}, element, call);
  }
  const detail::Mailbox::Pattern pattern = pattern_of(comm, source, tag);
  const auto thrown = std::make_shared<std::exception_ptr>();
  room = kept(std::move(room), thrown, call);
  Posted received = detail::post_receive_whole(CommAccess::world(comm), type, std::move(room), pattern, call);
  return finish_whole({comm, {}, std::move(received)}, element, call, thrown);
}

/// Both sides are checked before either message exists: a wrong argument sends nothing.
std::pair<Posted, Posted> post_both(const Comm& comm, const ConstBuffer& send, int destination, int send_tag,
                                    const Buffer& receive, int source, int receive_tag, const char* call) {
  check_receive(comm, receive, source, receive_tag, call, of_received);
  check_send(comm, send, destination, send_tag, call, of_sent);
  Posted sent = post_send_of(comm, send, destination, send_tag, SendMode::standard, call);
  return {std::move(sent), post_receive_of(comm, receive, source, receive_tag, call)};
}

Task<Status> sendrecv_task(const Comm& comm, const ConstBuffer& send, int destination, int send_tag,
                           const Buffer& receive, int source, int receive_tag, const char* call) {
  auto [sent, received] = post_both(comm, send, destination, send_tag, receive, source, receive_tag, call);
  return finish({comm, std::move(sent), std::move(received)});
}

Task<Status> sendrecv_replace_task(const Comm& comm, const Buffer& buffer, int destination, int send_tag,
                                   int source, int receive_tag, const char* call) {
  check_receive(comm, buffer, source, receive_tag, call, {.tag = of_received.tag});
  check_send(comm, buffer, destination, send_tag, call, {.tag = of_sent.tag});
  detail::ScratchVector packed;
  Posted sent;
  if (destination != MPI_PROC_NULL) {
    // What comes may take its place at once.
    const detail::TypeLayout layout = detail::TypeLayout::of(buffer.type);
    packed = detail::ScratchVector(buffer.count * layout.size);
    detail::pack(buffer, layout, packed.data());
    detail::Context& context = *CommAccess::context(comm).get();
    const int peer = comm.group().to_world(destination);
    const int sent_tag = bare_tag_of(comm, send_tag);
    constexpr std::size_t most_kept = 4096;  // whose memory nobody waits for
    sent = packed.bytes() <= most_kept && context.world->transport().has_room_for_kept()
               ? detail::send_owned(context, packed, peer, sent_tag, call)
               : detail::post_send(context, {packed.data(), packed.bytes(), MPI_PACKED}, peer, sent_tag,
                                   SendMode::standard, call);
  }
  InFlight messages(comm, std::move(sent), {}, std::move(packed));
  messages.received = post_receive_of(comm, buffer, source, receive_tag, call);
  return finish(std::move(messages));
}

/// Holds the engine for a call, whose arguments are not checked yet.
detail::EngineLock enter(const Comm& comm, const char* call) {
  return detail::lock(CommAccess::context(comm), call);
}

Request persistent_send(const Comm& comm, const ConstBuffer& buffer, int destination, int tag, SendMode mode,
                        const char* call) {
  const detail::EngineLock lock = enter(comm, call);
  check_send(comm, buffer, destination, tag, call);
  const auto types = std::make_shared<detail::KeptArguments>();
  return Request::persistent(
      [comm, types, buffer = types->keep(buffer), destination, tag, mode, call] {
        return running_send(post_send_of(comm, buffer, destination, tag, mode, call));
      },
      CommAccess::context(comm));
}

/// Blocks until the message is done; no coroutine is needed for one message.
[[gnu::hot]] Status wait_for(const Comm& comm, const Posted& posted) {
  if (!posted.done()) {
    detail::Engine& engine = CommAccess::world(comm).engine();
    if (!engine.can_wait()) {
      throw Error(MPI_ERR_OTHER, "wisp::Comm: a simulated rank cannot block; co_await the message instead");
    }
    const detail::ContextPtr& context = CommAccess::context(comm);
    const detail::TracedWait wait(context->world->recorder(), context.get());
    engine.run_until([&] { return posted.done(); }, context.get());
  }
  return status_of(posted.await_resume(), comm);
}

}  // namespace

std::size_t Status::count(MPI_Datatype type) const {
  if (type == MPI_DATATYPE_NULL)
    detail::throw_error(MPI_ERR_TYPE, "wisp::Status::count: type = MPI_DATATYPE_NULL");
  MPI_Count size = 0;
  detail::check_mpi(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  return size == 0 ? 0 : bytes / detail::as_size(size);
}

void Status::copy_to(MPI_Status* status) const {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  detail::check_mpi(MPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes)),
                    "MPI_Status_set_elements_x");
  detail::check_mpi(MPI_Status_set_cancelled(status, 0), "MPI_Status_set_cancelled");
}

[[gnu::hot]] void Comm::send(const ConstBuffer& buffer, int destination, int tag) const {
  constexpr const char* call = "wisp::Comm::send";
  const detail::EngineLock lock = enter(*this, call);
  wait_for(*this, post_checked_send(*this, buffer, destination, tag, SendMode::standard, call));
}

void Comm::ssend(const ConstBuffer& buffer, int destination, int tag) const {
  constexpr const char* call = "wisp::Comm::ssend";
  const detail::EngineLock lock = enter(*this, call);
  wait_for(*this, post_checked_send(*this, buffer, destination, tag, SendMode::synchronous, call));
}

[[gnu::hot]] Status Comm::receive(const Buffer& buffer, int source, int tag) const {
  constexpr const char* call = "wisp::Comm::receive";
  const detail::EngineLock lock = enter(*this, call);
  return wait_for(*this, post_checked_receive(*this, buffer, source, tag, call));
}

Status Comm::receive_whole(MPI_Datatype type, RoomFor room, int source, int tag) const {
  constexpr const char* call = "wisp::Comm::receive_whole";
  const detail::EngineLock lock = enter(*this, call);
  return Request(whole_task(*this, type, std::move(room), source, tag, call), context_,
                 Request::Unwinding::cancels)
      .wait();
}

Status Comm::sendrecv(const ConstBuffer& send, int destination, int send_tag, const Buffer& receive,
                      int source, int receive_tag) const {
  constexpr const char* call = "wisp::Comm::sendrecv";
  const detail::EngineLock lock = enter(*this, call);
  const auto [sent, received] =
      post_both(*this, send, destination, send_tag, receive, source, receive_tag, call);
  wait_for(*this, sent);
  return wait_for(*this, received);
}

Status Comm::sendrecv_replace(const Buffer& buffer, int destination, int send_tag, int source,
                              int receive_tag) const {
  constexpr const char* call = "wisp::Comm::sendrecv_replace";
  const detail::EngineLock lock = enter(*this, call);
  return Request(sendrecv_replace_task(*this, buffer, destination, send_tag, source, receive_tag, call),
                 context_)
      .wait();
}

Status Comm::probe(int source, int tag) const {
  constexpr const char* call = "wisp::Comm::probe";
  const detail::EngineLock lock = enter(*this, call);
  return wait_for(*this, post_checked_probe(*this, source, tag, call));
}

std::optional<Status> Comm::iprobe(int source, int tag) const {
  constexpr const char* call = "wisp::Comm::iprobe";
  const detail::EngineLock lock = enter(*this, call);
  detail::check_member(*this, call);
  check_source_and_tag(*this, source, tag, call);
  if (source == MPI_PROC_NULL) return Status{MPI_PROC_NULL, any_tag, 0};
  const detail::Mailbox::Pattern pattern = pattern_of(*this, source, tag);
  detail::World& world = *context_->world;
  if (world.engine().can_wait()) world.engine().look();
  const std::optional<detail::Envelope> found = world.mailbox().probe_now(pattern);
  if (!found) return std::nullopt;
  return status_of(*found, *this);
}

[[gnu::hot]] Request Comm::isend(const ConstBuffer& buffer, int destination, int tag) const {
  constexpr const char* call = "wisp::Comm::isend";
  const detail::EngineLock lock = enter(*this, call);
  return {running_send(post_checked_send(*this, buffer, destination, tag, SendMode::standard, call)),
          context_};
}

Request Comm::issend(const ConstBuffer& buffer, int destination, int tag) const {
  constexpr const char* call = "wisp::Comm::issend";
  const detail::EngineLock lock = enter(*this, call);
  return {running_send(post_checked_send(*this, buffer, destination, tag, SendMode::synchronous, call)),
          context_};
}

[[gnu::hot]] Request Comm::ireceive(const Buffer& buffer, int source, int tag) const {
  constexpr const char* call = "wisp::Comm::ireceive";
  const detail::EngineLock lock = enter(*this, call);
  Posted received = post_checked_receive(*this, buffer, source, tag, call);
  return {running_receive(std::move(received), group_, &context_->world->tags()), context_,
          Request::Unwinding::cancels};
}

Request Comm::ireceive_whole(MPI_Datatype type, RoomFor room, int source, int tag) const {
  constexpr const char* call = "wisp::Comm::ireceive_whole";
  const detail::EngineLock lock = enter(*this, call);
  return {whole_task(*this, type, std::move(room), source, tag, call), context_, Request::Unwinding::cancels};
}

Request Comm::isendrecv(const ConstBuffer& send, int destination, int send_tag, const Buffer& receive,
                        int source, int receive_tag) const {
  constexpr const char* call = "wisp::Comm::isendrecv";
  const detail::EngineLock lock = enter(*this, call);
  return {sendrecv_task(*this, send, destination, send_tag, receive, source, receive_tag, call), context_};
}

Request Comm::isendrecv_replace(const Buffer& buffer, int destination, int send_tag, int source,
                                int receive_tag) const {
  constexpr const char* call = "wisp::Comm::isendrecv_replace";
  const detail::EngineLock lock = enter(*this, call);
  return {sendrecv_replace_task(*this, buffer, destination, send_tag, source, receive_tag, call), context_};
}

Request Comm::send_init(const ConstBuffer& buffer, int destination, int tag) const {
  return persistent_send(*this, buffer, destination, tag, SendMode::standard, "wisp::Comm::send_init");
}

Request Comm::ssend_init(const ConstBuffer& buffer, int destination, int tag) const {
  return persistent_send(*this, buffer, destination, tag, SendMode::synchronous, "wisp::Comm::ssend_init");
}

Request Comm::receive_init(const Buffer& buffer, int source, int tag) const {
  constexpr const char* call = "wisp::Comm::receive_init";
  const detail::EngineLock lock = enter(*this, call);
  check_receive(*this, buffer, source, tag, call);
  const auto types = std::make_shared<detail::KeptArguments>();
  return Request::persistent(
      [comm = *this, types, buffer = types->keep(buffer), source, tag] {
        Posted received = post_receive_of(comm, buffer, source, tag, call);
        return running_receive(std::move(received), comm.group(), &CommAccess::world(comm).tags());
      },
      context_, Request::Unwinding::cancels);
}

Task<> send(const Comm& comm, const ConstBuffer& buffer, int destination, int tag) {
  constexpr const char* call = "wisp::send";
  const detail::EngineLock lock = enter(comm, call);
  return finish_send(
      InFlight(comm, post_checked_send(comm, buffer, destination, tag, SendMode::standard, call), {}));
}

Task<> ssend(const Comm& comm, const ConstBuffer& buffer, int destination, int tag) {
  constexpr const char* call = "wisp::ssend";
  const detail::EngineLock lock = enter(comm, call);
  return finish_send(
      InFlight(comm, post_checked_send(comm, buffer, destination, tag, SendMode::synchronous, call), {}));
}

Task<Status> receive(const Comm& comm, const Buffer& buffer, int source, int tag) {
  constexpr const char* call = "wisp::receive";
  const detail::EngineLock lock = enter(comm, call);
  return finish_receive(post_checked_receive(comm, buffer, source, tag, call), comm);
}

Task<Status> sendrecv(const Comm& comm, const ConstBuffer& send, int destination, int send_tag,
                      const Buffer& receive, int source, int receive_tag) {
  constexpr const char* call = "wisp::sendrecv";
  const detail::EngineLock lock = enter(comm, call);
  return sendrecv_task(comm, send, destination, send_tag, receive, source, receive_tag, call);
}

Task<Status> sendrecv_replace(const Comm& comm, const Buffer& buffer, int destination, int send_tag,
                              int source, int receive_tag) {
  constexpr const char* call = "wisp::sendrecv_replace";
  const detail::EngineLock lock = enter(comm, call);
  return sendrecv_replace_task(comm, buffer, destination, send_tag, source, receive_tag, call);
}

Task<Status> receive_whole(const Comm& comm, MPI_Datatype type, RoomFor room, int source, int tag) {
  constexpr const char* call = "wisp::receive_whole";
  const detail::EngineLock lock = enter(comm, call);
  return whole_task(comm, type, std::move(room), source, tag, call);
}

Task<Status> probe(const Comm& comm, int source, int tag) {
  constexpr const char* call = "wisp::probe";
  const detail::EngineLock lock = enter(comm, call);
  return finish_receive(post_checked_probe(comm, source, tag, call), comm);
}

}  // namespace wisp
