#pragma once

#include <mpi.h>

#include <memory>

#include "transport/mpi_engine.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

/// Messages over one MPI communicator.
class MpiTransport final : public Transport, private Closable {
 public:
  /// An owned communicator is freed by `close`.
  MpiTransport(MPI_Comm comm, bool owned);
  ~MpiTransport() override { close(); }

  MPI_Comm comm() const { return comm_; }
  void close() noexcept override;

  Engine& engine() override { return *engine_; }
  void send(Message& message, const ConstBuffer& buffer, int destination, int tag, SendMode mode) override;
  void receive(Message& message, const Buffer& buffer, int source, int tag) override;
  std::optional<Arrived> take_arrived(int source, int tag) override;
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override;
  void watch(Watcher& watcher) override { engine_->watch(watcher); }
  void unwatch(Watcher& watcher) override { engine_->unwatch(watcher); }
  void complete(Message& message) override { engine_->complete(message); }
  void abandon(Message& message) noexcept override { engine_->abandon(message); }

 private:
  std::shared_ptr<MpiEngine> engine_;
  MPI_Comm comm_;
  bool owned_;
};

}  // namespace wisp::detail
