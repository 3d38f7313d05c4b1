#pragma once

#include <memory>
#include <vector>

#include "trace/recorder.hpp"
#include "transport/forwarding_transport.hpp"

namespace wisp::detail {

/// Records the messages that pass it: when they were posted, and when they were done.
class TracedTransport final : public ForwardingTransport {
 public:
  /// `ranks`: those of the World in MPI_COMM_WORLD; empty: the same.
  TracedTransport(std::unique_ptr<Transport> inner, Recorder& recorder, std::vector<int> ranks);

  Recorder* recorder() override { return &recorder_; }

  Message* send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode, const char* operation,
                Message* message) override;
  Message* send_packed(ScratchVector& packed, std::size_t bytes, int destination, WireTag tag,
                       const char* operation) override;
  void send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) override;
  void receive(Message& message, const Buffer& buffer, int source, WireTag tag) override;
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override;
  void abandon(Message& message) noexcept override;

 private:
  /// A message that is on its way.
  class Pending;

  /// What has been sent. When it has left: it does not wait for its record.
  Message* sent(Message* message, const Recorder::Sending& sending, std::size_t bytes, int destination,
                WireTag tag, const char* operation) noexcept;
  void observe_receive(Message& message, TraceRecord::Kind kind, int source, WireTag tag);

  Recorder& recorder_;
  std::shared_ptr<const std::vector<int>> ranks_;  ///< messages may outlive this
  std::uint32_t world_;
};

/// The same transport, traced where its messages are to be.
std::unique_ptr<Transport> traced(std::unique_ptr<Transport> transport, Recorder* recorder,
                                  std::vector<int> ranks);

}  // namespace wisp::detail
