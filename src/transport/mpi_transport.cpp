#include "transport/mpi_transport.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "transport/device_memory.hpp"
#include "transport/int_count.hpp"
#include "transport/process_failure.hpp"
#include "transport/type_layout.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {
namespace {

/// Whoever waits for it gets the error.
Message* ended_by_failure(int code, Message* message) {
  if (message == nullptr) message = new Message;
  message->error = code;
  message->done = true;
  return message;
}

}  // namespace

MpiTransport::MpiTransport(std::vector<MPI_Comm> comms, Options options)
    : engine_(MpiEngine::of_process(comms.front())), comms_(std::move(comms)), options_(options) {
  find_devices();
  if (!has_mpi_world()) self_.emplace();
  const EngineLock lock(*engine_);
  engine_->register_closable(*this);
}

[[gnu::hot]] MPI_Comm MpiTransport::open_comm(WireTag of) const {
  const MPI_Comm comm = comms_[as_size(mpi_comm_of(of))];
  if (comm == MPI_COMM_NULL) [[unlikely]] {
    throw Error(MPI_ERR_COMM, "wisp: the MPI communicator below has been freed");
  }
  return comm;
}

std::vector<int> MpiTransport::failed() {
  return is_closed_ ? std::vector<int>() : failed_ranks(comms_.front());
}

void MpiTransport::close() noexcept {
  const EngineLock lock(*engine_);
  if (is_closed_) return;
  is_closed_ = true;
  engine_->unregister_closable(*this);
  for (MPI_Comm& comm : comms_) {
    MPI_Comm closing = std::exchange(comm, MPI_COMM_NULL);
    if (options_.owned) MPI_Comm_free(&closing);
  }
}

void MpiTransport::abandon(Message& message) noexcept {
  // Also when the communicator is gone, MPI goes on reading what it sends, and it gives up no collective (no
  // receive, and without a peer). What has been sent to here comes, and its sender may wait for that.
  const bool is_collective = message.peer < 0;
  if (!message.is_receive && (is_closed_ || is_collective)) engine_->finish(message, is_closed_);
  if (!is_closed_) return engine_->abandon(message);
  using Clock = MpiEngine::Clock;
  if (patience_ends_ == Clock::time_point()) patience_ends_ = Clock::now() + std::chrono::seconds(1);
  engine_->abandon(message, patience_ends_);
}

[[gnu::hot]] Message* MpiTransport::send(const ConstBuffer& buffer, int destination, WireTag tag,
                                         SendMode mode, const char*, Message* message) {
  // MPICH ends a send to oneself only when it is received: who sends first and receives then would hang.
  constexpr MpiEngine::Copied to_self{.least = 0, .largest = 4096, .largest_in_a_row = 4096};
  const MpiEngine::Copied& copied = destination == options_.rank ? to_self : options_.copied;
  if (mode == SendMode::standard &&
      engine_->send_buffered(buffer, copied, destination, mpi_tag(tag), open_comm(tag))) {
    return nullptr;
  }
  const IntCount counted(buffer);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto send = mode == SendMode::standard ? MPI_Isend : MPI_Issend;
  const int code = send(buffer.address, counted.count(), counted.type(), destination, mpi_tag(tag),
                        open_comm(tag), &request);
  if (is_process_failure(code)) [[unlikely]]
    return ended_by_failure(code, message);
  check_mpi(code, mode == SendMode::standard ? "MPI_Isend" : "MPI_Issend");
  if (engine_->take_ended(request)) return nullptr;
  // Not tested here: where MPI yields in a test, the core would be gone before the next message is posted.
  if (message == nullptr) message = new Message;
  engine_->add(request, *message);
  return message;
}

Message* MpiTransport::send_packed(ScratchVector& packed, std::size_t bytes, int destination, WireTag tag,
                                   const char* operation) {
  const bool is_kept =
      destination != options_.rank && bytes >= options_.copied.least && bytes <= options_.copied.largest;
  if (is_kept && engine_->has_room_for_kept()) {
    engine_->send_kept(packed, bytes, destination, mpi_tag(tag), open_comm(tag));
    return nullptr;
  }
  return send({packed.data(), bytes, MPI_PACKED}, destination, tag, SendMode::standard, operation, nullptr);
}

void MpiTransport::send_owned(ScratchVector packed, int destination, WireTag tag, const char*) {
  const std::size_t bytes = packed.bytes();
  engine_->has_room_for_kept(bytes);  // makes some, now and then
  engine_->send_kept(packed, bytes, destination, mpi_tag(tag), open_comm(tag));
}

[[gnu::hot]] void MpiTransport::receive(Message& message, const Buffer& buffer, int source, WireTag tag) {
  const IntCount counted(buffer);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(buffer.address, counted.count(), counted.type(),
                             source < 0 ? MPI_ANY_SOURCE : source, mpi_tag(tag), open_comm(tag), &request);
  if (is_process_failure(code)) [[unlikely]] {
    ended_by_failure(code, &message);
    return;
  }
  check_mpi(code, "MPI_Irecv");
  engine_->add(request, message);
}

Posted MpiTransport::allgather(const ConstBuffer& send, const Buffer& receive) {
  const IntCount counted(send);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(send.address, counted.count(), counted.type(), receive.address, counted.count(),
                           counted.type(), open_comm(), &request),
            "MPI_Iallgather");
  Posted posted(new Message);
  engine_->add(request, *posted.message());
  return posted;
}

namespace {

/// Whether a probe that ended with `code` has found a message.
bool has_found(int code, int found, MPI_Comm comm, const char* call) {
  if (is_process_failure(code)) [[unlikely]] {
    failed_ranks(comm);  // so the next look finds messages of the others
    return false;
  }
  check_mpi(code, call);
  return found != 0;
}

}  // namespace

std::optional<Envelope> MpiTransport::peek(int source, WireTag tag) {
  const MPI_Comm comm = open_comm(tag);
  int found = 0;
  MPI_Status status;
  const int code = MPI_Iprobe(source < 0 ? MPI_ANY_SOURCE : source, mpi_tag(tag), comm, &found, &status);
  if (!has_found(code, found, comm, "MPI_Iprobe")) return std::nullopt;
  Envelope envelope = envelope_of(status);
  envelope.tag = tag;
  return envelope;
}

std::optional<Arrived> MpiTransport::take_arrived(int source, WireTag tag) {
  if (tag >= 0) return take_arrived_on(open_comm(tag), source, tag);
  for (std::size_t i = 0; i < comms_.size(); ++i) {
    const WireTag of = to_wire(static_cast<int>(i), 0);
    if (std::optional<Arrived> arrived = take_arrived_on(open_comm(of), source, -1)) {
      arrived->envelope.tag |= of;
      return arrived;
    }
  }
  return std::nullopt;
}

#ifdef SMPI_H

// SMPI has no matched probe: a message that has arrived is received at once, as bytes, and unpacked later.

std::optional<Arrived> MpiTransport::take_arrived_on(MPI_Comm comm, int source, WireTag tag) {
  int found = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(source < 0 ? MPI_ANY_SOURCE : source, tag < 0 ? MPI_ANY_TAG : mpi_tag(tag), comm,
                       &found, &status),
            "MPI_Iprobe");
  if (found == 0) return std::nullopt;
  Envelope envelope = envelope_of(status);
  auto bytes = std::make_unique<std::vector<std::byte>>(envelope.bytes);
  check_mpi(MPI_Recv(bytes->data(), static_cast<int>(envelope.bytes), MPI_BYTE, envelope.source,
                     mpi_tag(envelope.tag), comm, MPI_STATUS_IGNORE),
            "MPI_Recv");
  if (tag >= 0) envelope.tag = tag;
  return Arrived{envelope, MPI_MESSAGE_NULL, bytes.release()};
}

void MpiTransport::receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) {
  const std::unique_ptr<std::vector<std::byte>> bytes(static_cast<std::vector<std::byte>*>(arrived.held));
  if (!unpack_message(bytes->data(), bytes->size(), buffer, TypeLayout::of(buffer.type))) {
    message.error = MPI_ERR_TRUNCATE;
  }
  if (message.wants_envelope) message.set_envelope(arrived.envelope);
  engine_->complete(message);
}

#else

std::optional<Arrived> MpiTransport::take_arrived_on(MPI_Comm comm, int source, WireTag tag) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  const int code = MPI_Improbe(source < 0 ? MPI_ANY_SOURCE : source, tag < 0 ? MPI_ANY_TAG : mpi_tag(tag),
                               comm, &found, &message, &status);
  if (!has_found(code, found, comm, "MPI_Improbe")) return std::nullopt;
  Envelope envelope = envelope_of(status);
  if (tag >= 0) envelope.tag = tag;
  return Arrived{envelope, message, nullptr};
}

void MpiTransport::receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) {
  const IntCount counted(buffer);
  MPI_Message handle = arrived.mpi_message;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Imrecv(buffer.address, counted.count(), counted.type(), &handle, &request), "MPI_Imrecv");
  engine_->add(request, message);
}

#endif

}  // namespace wisp::detail
