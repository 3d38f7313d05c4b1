#include "comm/shared_transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/type_layout.hpp"

namespace wisp::detail {
namespace {

struct Head {
  std::int32_t tag;
  std::int32_t data_follow;
  std::uint64_t bytes;
};

/// Numbers of the two messages.
constexpr int of_head = 0;
constexpr int of_data = 1;

/// Up to here a copy costs less than one more message.
constexpr std::size_t largest_within = 4096;

Head head_of(const std::vector<std::byte>& bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

}  // namespace

SharedTransport::~SharedTransport() {
  for (std::unique_ptr<Opening>& opening : opening_) {
    if (opening->received->done) continue;
    [[maybe_unused]] Opening* const left = opening.release();  // MPI may still write to it
  }
}

bool SharedTransport::send_head(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                                const char* operation) {
  const TypeLayout layout = TypeLayout::of(buffer.type);
  const std::size_t bytes = buffer.count * layout.size;
  // What goes to oneself may have to end before its receive.
  const bool is_kept = destination == rank_ || inner_->has_room_for_kept();
  const bool is_within = mode == SendMode::standard && bytes <= largest_within && is_kept;
  const Head head{tags_.number(tag), is_within ? 0 : 1, bytes};
  ScratchVector packed(sizeof head + (is_within ? bytes : 0));
  std::memcpy(packed.data(), &head, sizeof head);
  if (is_within) pack(buffer, layout, packed.data() + sizeof head);
  inner_->send_owned(std::move(packed), destination, tags_.with_number(tag, of_head), operation);
  return !is_within;
}

Message* SharedTransport::send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                               const char* operation, Message* message) {
  if (!is_told(tag)) return inner_->send(buffer, destination, tag, mode, operation, message);
  if (!send_head(buffer, destination, tag, mode, operation)) return nullptr;
  return inner_->send(buffer, destination, tags_.with_number(tag, of_data), mode, operation, message);
}

void SharedTransport::send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) {
  const ConstBuffer buffer(packed.data(), packed.bytes(), MPI_PACKED);
  if (is_told(tag)) {
    if (!send_head(buffer, destination, tag, SendMode::standard, operation)) return;
    tag = tags_.with_number(tag, of_data);
  }
  inner_->send_owned(std::move(packed), destination, tag, operation);
}

void SharedTransport::open(const Arrived& head) {
  Opening& opening = *opening_.emplace_back(std::make_unique<Opening>());
  opening.envelope = head.envelope;
  opening.bytes.resize(head.envelope.bytes);
  inner_->receive_arrived(*opening.received, {opening.bytes.data(), opening.bytes.size(), MPI_BYTE}, head);
}

/// Raw messages are looked for among all, told ones and their data too.
std::optional<Arrived> SharedTransport::take_any(int source) {
  while (std::optional<Arrived> arrived = inner_->take_arrived(source, -1)) {
    const WireTag tag = arrived->envelope.tag;
    if (!is_told(tag)) return arrived;
    if (tags_.number(tag) == of_head) {
      open(*arrived);
    } else {
      data_.push_back(*arrived);
    }
  }
  return std::nullopt;
}

std::optional<Arrived> SharedTransport::take_data(int source, WireTag tag) {
  const auto found = std::ranges::find_if(
      data_, [&](const Arrived& data) { return data.envelope.source == source && data.envelope.tag == tag; });
  if (found == data_.end()) return inner_->take_arrived(source, tag);
  const Arrived taken = *found;
  data_.erase(found);
  return taken;
}

std::optional<Arrived> SharedTransport::take_arrived(int source, WireTag tag) {
  if (tag < 0) return take_any(source);
  if (!is_told(tag)) return inner_->take_arrived(source, tag);
  const WireTag told = tags_.with_number(tag, of_head);
  if (const std::optional<Arrived> head = inner_->take_arrived(source, told)) open(*head);
  const auto first = std::find_if(opening_.begin(), opening_.end(), [&](const auto& opening) {
    return (source < 0 || opening->envelope.source == source) && opening->envelope.tag == told;
  });
  if (first == opening_.end() || !(*first)->received->done) return std::nullopt;
  const int from = (*first)->envelope.source;
  const Head head = head_of((*first)->bytes);
  if (head.data_follow != 0) {
    (*first)->data = take_data(from, tags_.with_number(tag, of_data));
    if (!(*first)->data) return std::nullopt;
  }
  std::unique_ptr<Opening> opened = std::move(*first);
  opening_.erase(first);
  const Envelope envelope{from, tags_.with_number(told, head.tag), head.bytes};
  return Arrived{envelope, MPI_MESSAGE_NULL, opened.release()};
}

void SharedTransport::receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) {
  if (!is_told(arrived.envelope.tag)) {
    inner_->receive_arrived(message, buffer, arrived);
    return;
  }
  const std::unique_ptr<Opening> opened(static_cast<Opening*>(arrived.held));
  if (opened->data) {
    message.told_tag = arrived.envelope.tag;
    inner_->receive_arrived(message, buffer, *opened->data);
    return;
  }
  if (!unpack_message(opened->bytes.data() + sizeof(Head), opened->bytes.size() - sizeof(Head), buffer,
                      TypeLayout::of(buffer.type))) {
    message.error = MPI_ERR_TRUNCATE;
  }
  message.set_envelope(arrived.envelope);
  inner_->complete(message);
}

}  // namespace wisp::detail
