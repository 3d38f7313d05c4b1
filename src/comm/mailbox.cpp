#include "comm/mailbox.hpp"

#include <algorithm>
#include <utility>

namespace wisp::detail {

Mailbox::~Mailbox() {
  if (!waiting_.empty()) transport_.unwatch(*this);
}

std::optional<Arrived> Mailbox::take_aside(const Pattern& pattern) {
  const auto found = std::find_if(aside_.begin(), aside_.end(), [&](const Arrived& arrived) {
    return pattern.matches(arrived.envelope, tags_);
  });
  if (found == aside_.end()) return std::nullopt;
  const Arrived taken = *found;
  aside_.erase(found);
  return taken;
}

bool Mailbox::someone_waits_for_messages_of(const Pattern& pattern) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    // Neither members nor codes are compared: to wait here needlessly is harmless, to overtake is not.
    const Pattern& other = waiting.pattern;
    const bool sources_meet = pattern.source < 0 || other.source < 0 || pattern.source == other.source;
    const bool tags_meet = pattern.is_any_number || other.is_any_number
                               ? tags_.kind_of(pattern.tag) == tags_.kind_of(other.tag) &&
                                     tags_.lane(pattern.tag) == tags_.lane(other.tag)
                               : pattern.tag == other.tag;
    return sources_meet && tags_meet;
  });
}

void Mailbox::receive(Message& message, const Buffer& buffer, const Pattern& pattern) {
  if (const std::optional<Arrived> arrived = take_aside(pattern)) {
    transport_.receive_arrived(message, buffer, *arrived);
  } else if (pattern.is_exact() && !someone_waits_for_messages_of(pattern)) {
    transport_.receive(message, buffer, pattern.source, pattern.wire_tag);
  } else {
    wait({&message, buffer, pattern, false});
  }
}

void Mailbox::probe(Message& message, const Pattern& pattern) {
  if (const std::optional<Envelope> found = probe_now(pattern)) {
    message.envelope = *found;
    message.done = true;
  } else {
    wait({&message, {}, pattern, true});
  }
}

std::optional<Envelope> Mailbox::probe_now(const Pattern& pattern) {
  const auto first_aside = [&]() -> std::optional<Envelope> {
    for (const Arrived& arrived : aside_) {
      if (pattern.matches(arrived.envelope, tags_)) return arrived.envelope;
    }
    return std::nullopt;
  };
  if (const std::optional<Envelope> found = first_aside()) return found;
  while (const std::optional<Arrived> arrived = transport_.take_arrived(pattern.source, pattern.wire_tag)) {
    hand_out(*arrived);
    if (const std::optional<Envelope> found = first_aside()) return found;
  }
  return std::nullopt;
}

void Mailbox::wait(Waiting waiting) {
  if (waiting_.empty()) transport_.watch(*this);
  waiting_.push_back(waiting);
  look();
}

bool Mailbox::look() {
  bool moved = false;
  for (std::size_t i = 0; i < waiting_.size();) {
    const Waiting waiting = waiting_[i];
    const std::optional<Arrived> arrived =
        transport_.take_arrived(waiting.pattern.source, waiting.pattern.wire_tag);
    if (!arrived) {
      ++i;
    } else if (hand_out(*arrived)) {
      moved = true;
      i = 0;  // the list has changed
    }
  }
  return moved;
}

bool Mailbox::hand_out(const Arrived& arrived) {
  bool moved = false;
  bool received = false;
  for (std::size_t i = 0; i < waiting_.size() && !received;) {
    const Waiting waiting = waiting_[i];
    if (!waiting.pattern.matches(arrived.envelope, tags_)) {
      ++i;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    moved = true;
    if (waiting.is_probe) {
      waiting.message->envelope = arrived.envelope;
      transport_.complete(*waiting.message);
    } else {
      received = true;
      transport_.receive_arrived(*waiting.message, waiting.buffer, arrived);
    }
  }
  if (!received) aside_.push_back(arrived);
  if (moved && waiting_.empty()) transport_.unwatch(*this);
  return moved;
}

void Mailbox::close() noexcept {
  if (waiting_.empty()) return;
  transport_.unwatch(*this);
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    waiting.message->error = MPI_ERR_COMM;
    transport_.complete(*waiting.message);
  }
}

void Mailbox::abandon(Message& message) noexcept {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& waiting) { return waiting.message == &message; });
  if (found == waiting_.end()) {
    transport_.abandon(message);
    return;
  }
  waiting_.erase(found);
  if (waiting_.empty()) transport_.unwatch(*this);
}

}  // namespace wisp::detail
