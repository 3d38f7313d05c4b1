#include "trace/traced_transport.hpp"

#include <utility>

#include "comm/describe.hpp"
#include "comm/world.hpp"
#include "wisp/detail/mix.hpp"

namespace wisp::detail {

namespace {

int global(const std::vector<int>& ranks, int rank) {
  return ranks.empty() || rank < 0 ? rank : ranks[as_size(rank)];
}

}  // namespace

class TracedTransport::Pending final : public MessageObserver {
 public:
  static void* operator new(std::size_t bytes) { return FramePool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { FramePool::release(memory, bytes); }

  explicit Pending(Recorder& recorder) : recorder_(recorder) {}

  TraceRecord& record() { return record_; }
  /// Its peer, a rank of these, is known when it has ended.
  void ask_peer(std::shared_ptr<const std::vector<int>> ranks) { ranks_ = std::move(ranks); }

  [[gnu::hot]] void ended(const Message& message) noexcept override {
    const std::uint64_t now = recorder_.now();
    recorder_.add([&](TraceRecord& record) {
      record = record_;
      record.end = now;
      if (ranks_) record.peer = global(*ranks_, message.envelope.source);
    });
    delete this;
  }

 private:
  Recorder& recorder_;
  std::shared_ptr<const std::vector<int>> ranks_;  ///< of a message from anyone
  TraceRecord record_;
};

TracedTransport::TracedTransport(std::unique_ptr<Transport> inner, Recorder& recorder, std::vector<int> ranks)
    : ForwardingTransport(std::move(inner)),
      recorder_(recorder),
      ranks_(std::make_shared<const std::vector<int>>(std::move(ranks))) {
  const EngineLock lock(inner_->engine());
  std::uint64_t members = ranks_->size();
  for (const int rank : *ranks_) members = mix(members + static_cast<std::uint64_t>(rank));
  constexpr std::uint64_t few_bytes = (1 << 20) - 1;
  world_ = recorder_.number_of_world(static_cast<std::uint32_t>(members & few_bytes));
}

[[gnu::hot]] Message* TracedTransport::sent(Message* message, const Recorder::Sending& sending,
                                            std::size_t bytes, int destination, WireTag tag,
                                            const char* operation) noexcept {
  const auto fill = [&](TraceRecord& record) {
    record.kind = TraceRecord::Kind::send;
    record.begin = sending.begin;
    record.end = sending.begin;
    record.peer = global(*ranks_, destination);
    record.world = world_;
    record.tag = tag;
    record.bytes = bytes;
    record.operation = recorder_.operation(operation);
    if (sending.context == nullptr) return;
    record.communicator = recorder_.communicator(*sending.context);
    record.call = call_of(*sending.context, sending.tag);
  };
  if (message == nullptr || message->done) {
    recorder_.add(fill);
    return message;
  }
  auto* const pending = new Pending(recorder_);
  fill(pending->record());
  message->observer = pending;
  return message;
}

[[gnu::hot]] Message* TracedTransport::send(const ConstBuffer& buffer, int destination, WireTag tag,
                                            SendMode mode, const char* operation, Message* message) {
  const Recorder::Sending sending = recorder_.begin_send();
  Message* const posted = inner_->send(buffer, destination, tag, mode, operation, message);
  return sent(posted, sending, buffer.count * TypeLayout::of(buffer.type).size, destination, tag, operation);
}

[[gnu::hot]] Message* TracedTransport::send_packed(ScratchVector& packed, std::size_t bytes, int destination,
                                                   WireTag tag, const char* operation) {
  const Recorder::Sending sending = recorder_.begin_send();
  return sent(inner_->send_packed(packed, bytes, destination, tag, operation), sending, bytes, destination,
              tag, operation);
}

void TracedTransport::send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) {
  const Recorder::Sending sending = recorder_.begin_send();
  const std::size_t bytes = packed.bytes();
  inner_->send_owned(std::move(packed), destination, tag, operation);
  sent(nullptr, sending, bytes, destination, tag, operation);
}

[[gnu::hot]] void TracedTransport::observe_receive(Message& message, TraceRecord::Kind kind, int source,
                                                   WireTag tag) {
  auto* const pending = new Pending(recorder_);
  TraceRecord& record = pending->record();
  record.kind = kind;
  record.begin = recorder_.now();
  record.peer = global(*ranks_, source);
  record.world = world_;
  record.tag = tag;
  record.operation = recorder_.operation(message.operation);
  if (message.context != nullptr) {
    record.communicator = recorder_.communicator(*message.context);
    record.call = call_of(*message.context, message.tag);
  }
  if (source < 0) {
    message.wants_envelope = true;  // it tells whose it was
    pending->ask_peer(ranks_);
  }
  message.observer = pending;
}

[[gnu::hot]] void TracedTransport::receive(Message& message, const Buffer& buffer, int source, WireTag tag) {
  observe_receive(message, TraceRecord::Kind::receive, source, tag);
  inner_->receive(message, buffer, source, tag);
  // One that fails at once is not completed.
  if (message.done && message.observer != nullptr) std::exchange(message.observer, nullptr)->ended(message);
}

void TracedTransport::receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) {
  observe_receive(message, TraceRecord::Kind::arrival, arrived.envelope.source, arrived.envelope.tag);
  inner_->receive_arrived(message, buffer, arrived);
}

void TracedTransport::abandon(Message& message) noexcept {
  MessageObserver* const observer = std::exchange(message.observer, nullptr);
  if (message.is_receive) {
    delete observer;
  } else if (observer != nullptr) {
    observer->ended(message);  // it arrives all the same
  }
  inner_->abandon(message);
}

std::unique_ptr<Transport> traced(std::unique_ptr<Transport> transport, Recorder* recorder,
                                  std::vector<int> ranks) {
  if (recorder == nullptr) return transport;
  return std::make_unique<TracedTransport>(std::move(transport), *recorder, std::move(ranks));
}

}  // namespace wisp::detail
