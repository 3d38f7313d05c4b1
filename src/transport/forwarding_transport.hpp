#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace wisp::detail {

/// Hands everything on to another transport, which it owns.
class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  Engine& engine() override { return inner_->engine(); }
  Transport& inner() override { return inner_->inner(); }
  Recorder* recorder() override { return inner_->recorder(); }
  std::vector<int> failed() override { return inner_->failed(); }
  bool is_shared() const override { return inner_->is_shared(); }
  bool meters_joins() const override { return inner_->meters_joins(); }
  bool join(std::size_t bytes) override { return inner_->join(bytes); }
  bool can_post(WireTag tag) const override { return inner_->can_post(tag); }

  Message* send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode, const char* operation,
                Message* message) override {
    return inner_->send(buffer, destination, tag, mode, operation, message);
  }
  Message* send_packed(ScratchVector& packed, std::size_t bytes, int destination, WireTag tag,
                       const char* operation) override {
    return inner_->send_packed(packed, bytes, destination, tag, operation);
  }
  bool has_room_for_kept() override { return inner_->has_room_for_kept(); }
  void send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) override {
    inner_->send_owned(std::move(packed), destination, tag, operation);
  }
  void receive(Message& message, const Buffer& buffer, int source, WireTag tag) override {
    inner_->receive(message, buffer, source, tag);
  }
  std::optional<Envelope> peek(int source, WireTag tag) override { return inner_->peek(source, tag); }
  std::optional<Arrived> take_arrived(int source, WireTag tag) override {
    return inner_->take_arrived(source, tag);
  }
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override {
    inner_->receive_arrived(message, buffer, arrived);
  }
  void watch(Watcher& watcher) override { inner_->watch(watcher); }
  void unwatch(Watcher& watcher) override { inner_->unwatch(watcher); }
  void complete(Message& message) override { inner_->complete(message); }
  void abandon(Message& message) noexcept override { inner_->abandon(message); }
  void forget(Message& message) noexcept override { inner_->forget(message); }

 protected:
  std::unique_ptr<Transport> inner_;
};

}  // namespace wisp::detail
