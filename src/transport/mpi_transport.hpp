#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "transport/mpi_engine.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

/// Messages over one MPI communicator.
class MpiTransport final : public Transport, private Closable {
 public:
  struct Options {
    bool owned = false;            ///< `close` frees the communicator
    std::size_t least_copied = 0;  ///< bytes of a message that is copied when it is sent
    std::size_t largest_copied = 0;
    int rank = -1;  ///< of this process in the communicator
  };

  MpiTransport(MPI_Comm comm, Options options);
  ~MpiTransport() override { close(); }

  MPI_Comm comm() const { return comm_; }
  /// An error once it is closed.
  MPI_Comm open_comm() const;
  void close() noexcept override;

  Engine& engine() override { return *engine_; }
  Message* send(const ConstBuffer& buffer, int destination, int tag, SendMode mode,
                const char* operation) override;
  Message* send_packed(ScratchVector& packed, std::size_t bytes, int destination, int tag,
                       const char* operation) override;
  void receive(Message& message, const Buffer& buffer, int source, int tag) override;
  std::optional<Arrived> take_arrived(int source, int tag) override;
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override;
  /// MPI's own, over all ranks of the communicator.
  Posted allgather(const ConstBuffer& send, const Buffer& receive);
  void watch(Watcher& watcher) override { engine_->watch(watcher); }
  void unwatch(Watcher& watcher) override { engine_->unwatch(watcher); }
  void complete(Message& message) override { engine_->complete(message); }
  void abandon(Message& message) noexcept override { engine_->abandon(message); }
  void forget(Message& message) noexcept override { engine_->forget(message); }

 private:
  std::shared_ptr<MpiEngine> engine_;
  MPI_Comm comm_;
  Options options_;
};

}  // namespace wisp::detail
