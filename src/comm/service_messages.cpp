#include "comm/service_messages.hpp"

#include <utility>

#include "comm/messages.hpp"
#include "comm/world.hpp"

namespace wisp::detail {

void ServiceMessages::tell(int peer, Words words) {
  while (!outgoing_.empty() && outgoing_.front().sent.done()) outgoing_.pop_front();
  Outgoing& outgoing = outgoing_.emplace_back();
  outgoing.words = std::move(words);
  outgoing.sent =
      post_send(world_, std::as_const(outgoing.words), peer, tag_, SendMode::standard, operation_);
  if (!outgoing.sent.done()) outgoing.sent.message()->is_background = is_background_;
}

void ServiceMessages::take(const Arrived& arrived) {
  Incoming& incoming = incoming_.emplace_back();
  incoming.source = arrived.envelope.source;
  incoming.words.resize(arrived.envelope.bytes / sizeof(std::int64_t));
  incoming.received = Posted(new Message);
  Message& message = *incoming.received.message();
  message.operation = operation_;
  message.is_receive = true;
  message.is_background = is_background_;
  message.world = &world_;
  world_.transport().receive_arrived(message, incoming.words, arrived);
}

void ServiceMessages::take_arrived() {
  while (const auto arrived = world_.transport().take_arrived(-1, tag_)) take(*arrived);
}

std::optional<ServiceMessages::Received> ServiceMessages::next() {
  if (incoming_.empty() || !incoming_.front().received.done()) return std::nullopt;
  Incoming incoming = std::move(incoming_.front());
  incoming_.pop_front();
  incoming.received.await_resume();  // throws the error, if there is one
  return Received{incoming.source, std::move(incoming.words)};
}

void ServiceMessages::close() noexcept {
  // Somebody was told what it never asked for after all; MPI may still read or write it.
  const auto leave = [](const Posted& posted, Words& words) {
    if (!posted.done()) new Words(std::move(words));
  };
  for (Incoming& incoming : incoming_) leave(incoming.received, incoming.words);
  for (Outgoing& outgoing : outgoing_) leave(outgoing.sent, outgoing.words);
  incoming_.clear();
  outgoing_.clear();
}

}  // namespace wisp::detail
