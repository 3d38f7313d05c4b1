#include "comm/mailbox.hpp"

#include <algorithm>
#include <utility>

#include "comm/world.hpp"
#include "trace/recorder.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

// Of patterns neither members nor codes are compared: to wait here, or to take a message, needlessly is
// harmless, to overtake is not.

bool sources_meet(const Mailbox::Pattern& one, const Mailbox::Pattern& other) {
  return one.source < 0 || other.source < 0 || one.source == other.source;
}

bool meet(const Mailbox::Pattern& one, const Mailbox::Pattern& other, const TagLayout& tags) {
  return sources_meet(one, other) &&
         (one.is_any_number || other.is_any_number
              ? tags.kind_of(one.tag) == tags.kind_of(other.tag) && tags.lane(one.tag) == tags.lane(other.tag)
              : one.tag == other.tag);
}

/// All messages that MPI finds by its tag, and source if it has one, are for it.
bool is_found_by_tag(const Mailbox::Pattern& pattern) {
  return pattern.wire_tag >= 0 && (pattern.is_any_source || pattern.source >= 0 ||
                                   pattern.members.size() == pattern.context->world->size());
}

}  // namespace

Mailbox::~Mailbox() {
  if (is_watching_) transport_.unwatch(*this);
}

void Mailbox::watch_if_needed() {
  const bool is_needed = !waiting_.empty() || !parked_.empty();
  if (is_needed == is_watching_) return;
  is_watching_ = is_needed;
  is_needed ? transport_.watch(*this) : transport_.unwatch(*this);
}

void Mailbox::send(Message& message, const Sending& sending) {
  codes_.need(sending.peer, sending.context->number_with(sending.peer));
  Parked& parked = parked_.emplace_back(Parked{&message, sending, {}, shared(sending.context), {}});
  parked.sending.buffer = parked.types.keep(sending.buffer);
  watch_if_needed();
  look();
}

bool Mailbox::find_code(Pattern& pattern) {
  if (!pattern.lacks_code()) return true;
  const auto number = pattern.context->number_with(pattern.source);
  codes_.need(pattern.source, number);
  const bool is_refused = codes_.is_refused(pattern.source, number);
  use_codes();
  if (!pattern.is_any_number) pattern.wire_tag = pattern.context->tag_from(pattern.tag, pattern.source);
  return !is_refused;
}

void Mailbox::refuse(Message& message) {
  message.error = MPI_ERR_COMM;
  message.lacks_code = true;
  message.expected = as_size(codes_.code_count());
  transport_.complete(message);
}

void Mailbox::send_parked(Parked& parked, WireTag tag) {
  const Sending& sending = parked.sending;
  if (Recorder* const recorder = transport_.recorder()) recorder->sending(*sending.context, sending.tag);
  Message* const message = parked.message;
  const Message* sent = nullptr;
  // An error is that of who waits, not of who happens to look, and others wait behind it.
  try {
    if (message == nullptr) {
      transport_.send_owned(std::move(parked.left), sending.peer, tag, sending.operation);
    } else {
      sent = transport_.send(sending.buffer, sending.peer, tag, sending.mode, sending.operation, message);
    }
  } catch (const Error& error) {
    if (message != nullptr) message->error = error.error_class();
  } catch (const std::exception&) {
    if (message != nullptr) message->error = MPI_ERR_NO_MEM;
  }
  if (message == nullptr) return;
  if (sent == nullptr || sent->done) transport_.complete(*message);  // done: its receiver has failed
}

/// Nobody waits for it any more, and its memory may be gone when it can be sent.
void Mailbox::leave(Parked& parked) noexcept {
  parked.message = nullptr;
  try {
    const ConstBuffer& buffer = parked.sending.buffer;
    const TypeLayout layout = TypeLayout::of(buffer.type);
    parked.left = ScratchVector(buffer.count * layout.size);
    pack(buffer, layout, parked.left.data());
  } catch (const std::exception&) {
    std::erase_if(parked_, [&](const Parked& one) { return &one == &parked; });
  }
}

/// What waited for a code goes on, in the order of posting.
bool Mailbox::use_codes() {
  if (!codes_.take_learned()) return false;
  const auto is_refused = [&](const Context& context, int peer) {
    return codes_.is_refused(peer, context.number_with(peer));
  };
  for (Parked& parked : std::exchange(parked_, {})) {
    const Sending& sending = parked.sending;
    if (const WireTag tag = sending.context->tag_to(sending.tag, sending.peer); tag >= 0) {
      send_parked(parked, tag);
    } else if (is_refused(*sending.context, sending.peer)) {
      if (parked.message != nullptr) refuse(*parked.message);
    } else {
      parked_.push_back(std::move(parked));
    }
  }
  for (Waiting& waiting : waiting_) {
    Pattern& pattern = waiting.pattern;
    if (pattern.source < 0 || pattern.wire_tag >= 0) continue;
    const WireTag tag = pattern.context->tag_from(pattern.tag, pattern.source);
    if (tag >= 0 && !pattern.is_any_number) pattern.wire_tag = tag;
    if (tag < 0 && is_refused(*pattern.context, pattern.source)) {
      refuse(*std::exchange(waiting.message, nullptr));
    }
  }
  std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.message == nullptr; });
  codes_.forget_refusals();
  // They may have been looked at before anybody could know whose they are.
  for (const Arrived& arrived : std::exchange(aside_, {})) hand_out(arrived);
  watch_if_needed();
  return true;
}

std::vector<Arrived>::const_iterator Mailbox::find_aside(const Pattern& pattern) const {
  return std::ranges::find_if(
      aside_, [&](const Arrived& arrived) { return pattern.matches(arrived.envelope, tags_); });
}

std::optional<Arrived> Mailbox::take_aside(const Pattern& pattern) {
  const auto found = find_aside(pattern);
  if (found == aside_.end()) return std::nullopt;
  const Arrived taken = *found;
  aside_.erase(found);
  return taken;
}

/// The next message that may be one for the pattern; of any tag, if it may have to lie aside, or another.
std::optional<Arrived> Mailbox::take_arrived(const Pattern& pattern, bool is_probe) {
  if (pattern.lacks_code()) return std::nullopt;
  if (!transport_.is_shared() || pattern.context->kind == TagLayout::Kind::raw) {
    const bool may_lie_aside = !transport_.is_shared() && (is_probe || !is_found_by_tag(pattern));
    const bool as_they_come = may_lie_aside || someone_takes_any_tag(pattern);
    return transport_.take_arrived(pattern.source, as_they_come ? -1 : pattern.wire_tag);
  }
  if (pattern.wire_tag >= 0) return transport_.take_arrived(pattern.source, pattern.wire_tag);
  // Not any message: it might be the caller's own.
  const auto from = [&](int source) -> std::optional<Arrived> {
    const WireTag tag = pattern.context->tag_from(pattern.tag, source);
    return tag < 0 ? std::nullopt : transport_.take_arrived(source, tag);
  };
  if (pattern.source >= 0) return from(pattern.source);
  for (int member = 0; member < pattern.members.size(); ++member) {
    if (std::optional<Arrived> arrived = from(pattern.members.to_world(member))) return arrived;
  }
  return std::nullopt;
}

bool Mailbox::someone_waits_for_messages_of(const Pattern& pattern, std::size_t before) const {
  return std::any_of(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const Waiting& waiting) { return meet(pattern, waiting.pattern, tags_); });
}

/// Of an attached communicator, only raw ones take what may not be wisp's own.
bool Mailbox::someone_takes_any_tag(const Pattern& pattern) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& waiting) {
    const Pattern& other = waiting.pattern;
    return other.is_any_number && sources_meet(pattern, other) &&
           (!transport_.is_shared() || other.context->kind == TagLayout::Kind::raw);
  });
}

/// Whether a probe may leave its message in MPI; not if one of those that wait before it may be served first.
bool Mailbox::may_peek(const Pattern& pattern, std::size_t before) const {
  return is_found_by_tag(pattern) && transport_.can_post(pattern.wire_tag) &&
         !someone_waits_for_messages_of(pattern, before);
}

void Mailbox::receive(Message& message, const Buffer& buffer, Pattern pattern) {
  if (!find_code(pattern)) {
    refuse(message);
  } else if (const std::optional<Arrived> arrived = take_aside(pattern)) {
    transport_.receive_arrived(message, buffer, *arrived);
  } else if (can_post(pattern) && !someone_waits_for_messages_of(pattern, waiting_.size())) {
    transport_.receive(message, buffer, pattern.source, pattern.wire_tag);
  } else {
    wait({&message, buffer, pattern, false, {}, shared(pattern.context)});
  }
}

void Mailbox::receive_whole(Message& message, MPI_Datatype type, RoomFor room, Pattern pattern) {
  if (!find_code(pattern)) return refuse(message);
  Waiting waiting{&message, {nullptr, 0, type}, pattern, false, {}, shared(pattern.context), std::move(room)};
  const auto found = find_aside(pattern);
  if (found == aside_.end()) return wait(std::move(waiting));
  const Arrived arrived = *found;
  const std::ptrdiff_t place = found - aside_.begin();
  aside_.erase(found);  // `room` may make calls that look at what is left
  if (!find_room(waiting, arrived)) {
    aside_.insert(aside_.begin() + std::min(place, std::ssize(aside_)), arrived);
    return;
  }
  transport_.receive_arrived(message, waiting.buffer, arrived);
}

/// Where a message of any size goes to. False: nowhere, which ends the receive, and the message stays.
bool Mailbox::find_room(Waiting& waiting, const Arrived& arrived) {
  if (!waiting.room) return true;
  Buffer& buffer = waiting.buffer;
  const std::size_t bytes = arrived.envelope.bytes;
  const std::size_t element = TypeLayout::of(buffer.type).size;
  const std::size_t count = (bytes + element - 1) / element;
  try {
    buffer = {waiting.room(count), count, buffer.type};
  } catch (const std::exception&) {
    waiting.message->error = MPI_ERR_NO_MEM;
    transport_.complete(*waiting.message);
    return false;
  }
  // What is no whole number of elements is said when it is there.
  if (count * element != bytes) buffer = {buffer.address, bytes, MPI_BYTE};
  return true;
}

void Mailbox::probe(Message& message, const Pattern& pattern) {
  if (const std::optional<Envelope> found = probe_now(pattern)) {
    message.envelope = *found;
    message.done = true;
  } else {
    wait({&message, {}, pattern, true, {}, shared(pattern.context)});
  }
}

std::optional<Envelope> Mailbox::probe_now(Pattern pattern) {
  // Where the code is not known, whoever sends asks for it.
  codes_.look();
  use_codes();
  if (pattern.lacks_code() && !pattern.is_any_number) {
    pattern.wire_tag = pattern.context->tag_from(pattern.tag, pattern.source);
  }
  if (const std::optional<Envelope> found = first_aside(pattern)) return found;
  if (may_peek(pattern, waiting_.size())) return transport_.peek(pattern.source, pattern.wire_tag);
  while (const std::optional<Arrived> arrived = take_arrived(pattern, true)) {
    hand_out(*arrived);
    if (const std::optional<Envelope> found = first_aside(pattern)) return found;
  }
  return std::nullopt;
}

std::optional<Envelope> Mailbox::first_aside(const Pattern& pattern) const {
  const auto found = find_aside(pattern);
  return found == aside_.end() ? std::nullopt : std::optional(found->envelope);
}

void Mailbox::wait(Waiting waiting) {
  waiting.buffer = waiting.types.keep(waiting.buffer);
  waiting_.push_back(std::move(waiting));
  watch_if_needed();
  look();
}

std::optional<bool> Mailbox::may_come_from(const Message& message, int rank) const {
  const auto found =
      std::ranges::find_if(waiting_, [&](const Waiting& waiting) { return waiting.message == &message; });
  if (found == waiting_.end() || found->pattern.is_any_source) return std::nullopt;
  return found->pattern.members.from_world(rank) >= 0;
}

/// Whether both are one question to MPI: whose a message is, is seen when it is there.
bool Mailbox::asks_the_same(const Waiting& one, const Waiting& other) {
  const Pattern& a = one.pattern;
  const Pattern& b = other.pattern;
  return !one.is_probe && !other.is_probe && a.context == b.context && a.source == b.source &&
         a.wire_tag >= 0 && a.wire_tag == b.wire_tag && a.members.size() == b.members.size();
}

bool Mailbox::look() {
  codes_.look();
  bool moved = use_codes();
  constexpr std::size_t many = 16;
  if (waiting_.size() > many && !transport_.is_shared()) {
    // One question for all, instead of one for each.
    std::optional<Arrived> arrived;
    while (!waiting_.empty() && (arrived = transport_.take_arrived(-1, -1))) moved |= hand_out(*arrived);
    return moved;
  }
  for (std::size_t i = 0; i < waiting_.size();) {
    const Waiting& waiting = waiting_[i];
    bool has_changed = false;
    if (i > 0 && asks_the_same(waiting, waiting_[i - 1])) {  // and there was no answer
      ++i;
      continue;
    }
    if (waiting.is_probe && may_peek(waiting.pattern, i)) {
      const auto found = transport_.peek(waiting.pattern.source, waiting.pattern.wire_tag);
      if (found) end_probe(i, *found);
      has_changed = found.has_value();
      if (!found) ++i;
    } else if (const auto arrived = take_arrived(waiting.pattern, waiting.is_probe)) {
      has_changed = hand_out(*arrived);
    } else {
      ++i;
    }
    if (!has_changed) continue;
    moved = true;
    i = 0;
  }
  return moved;
}

Mailbox::Waiting Mailbox::take_waiting(std::size_t place) {
  Waiting taken = std::move(waiting_[place]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
  return taken;
}

void Mailbox::end_probe(std::size_t place, const Envelope& found) {
  const Waiting ended = take_waiting(place);
  ended.message->envelope = found;
  transport_.complete(*ended.message);
  watch_if_needed();
}

/// An error is that of who waits, not of who happens to look.
void Mailbox::receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) {
  try {
    transport_.receive_arrived(message, buffer, arrived);
  } catch (const Error& error) {
    message.error = error.error_class();
    transport_.complete(message);
  }
}

bool Mailbox::hand_out(const Arrived& arrived) {
  for (ServiceMessages* service : services_) {
    if (arrived.envelope.tag != service->tag()) continue;
    service->take(arrived);
    return false;
  }
  bool moved = false;
  bool received = false;
  const std::ptrdiff_t place = std::ssize(aside_);
  for (std::size_t i = 0; i < waiting_.size() && !received;) {
    if (!waiting_[i].pattern.matches(arrived.envelope, tags_)) {
      ++i;
      continue;
    }
    moved = true;
    if (waiting_[i].is_probe) {
      end_probe(i, arrived.envelope);
    } else {
      Waiting waiting = take_waiting(i);
      received = find_room(waiting, arrived);
      if (received) receive_arrived(*waiting.message, waiting.buffer, arrived);
      i = 0;  // `room` may look, which changes both lists
    }
  }
  if (!received) aside_.insert(aside_.begin() + std::min(place, std::ssize(aside_)), arrived);
  watch_if_needed();
  return moved;
}

void Mailbox::close() noexcept {
  const auto end = [this](Message& message) {
    message.error = MPI_ERR_COMM;
    transport_.complete(message);
  };
  for (const Waiting& waiting : std::exchange(waiting_, {})) end(*waiting.message);
  for (const Parked& parked : std::exchange(parked_, {})) {
    if (parked.message != nullptr) end(*parked.message);
  }
  watch_if_needed();
}

void Mailbox::abandon(Message& message) noexcept {
  const auto is_it = [&](const auto& one) { return one.message == &message; };
  if (const auto parked = std::find_if(parked_.begin(), parked_.end(), is_it); parked != parked_.end()) {
    leave(*parked);
  } else if (std::erase_if(waiting_, is_it) == 0) {
    transport_.abandon(message);
  }
  watch_if_needed();
}

}  // namespace wisp::detail
