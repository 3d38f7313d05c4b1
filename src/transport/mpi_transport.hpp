#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/mpi_engine.hpp"
#include "transport/mpi_process.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

/// Messages over one MPI communicator, or over several with the same ranks, so that there are more tags.
class MpiTransport final : public Transport, private Closable {
 public:
  struct Options {
    bool owned = false;             ///< `close` frees the communicator
    MpiEngine::Copied copied = {};  ///< messages to others that are copied when they are sent
    int rank = -1;                  ///< of this process in the communicator
    bool is_traced = true;
  };

  MpiTransport(std::vector<MPI_Comm> comms, Options options);
  ~MpiTransport() override { close(); }

  /// The first one; MPI_COMM_NULL once it is closed.
  MPI_Comm comm() const { return comms_.front(); }
  /// That of a tag; an error once it is closed.
  MPI_Comm open_comm(WireTag of = 0) const;
  void close() noexcept override;

  Engine& engine() override { return *engine_; }
  Recorder* recorder() override { return options_.is_traced ? engine_->recorder() : nullptr; }
  std::vector<int> failed() override;
  Message* send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode, const char* operation,
                Message* message = nullptr) override;
  Message* send_packed(ScratchVector& packed, std::size_t bytes, int destination, WireTag tag,
                       const char* operation) override;
  bool has_room_for_kept() override { return engine_->has_room_for_kept(); }
  void send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) override;
  void receive(Message& message, const Buffer& buffer, int source, WireTag tag) override;
  std::optional<Envelope> peek(int source, WireTag tag) override;
  std::optional<Arrived> take_arrived(int source, WireTag tag) override;
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override;
  /// MPI's own, over all ranks of the communicator.
  Posted allgather(const ConstBuffer& send, const Buffer& receive);
  void watch(Watcher& watcher) override { engine_->watch(watcher); }
  void unwatch(Watcher& watcher) override { engine_->unwatch(watcher); }
  void complete(Message& message) override { engine_->complete(message); }
  void abandon(Message& message) noexcept override;
  void forget(Message& message) noexcept override { engine_->forget(message); }

 private:
  std::optional<SelfComm> self_;  ///< with sessions alone, kept as long as anything may have to be packed
  std::shared_ptr<MpiEngine> engine_;
  std::optional<Arrived> take_arrived_on(MPI_Comm comm, int source, WireTag tag);

  std::vector<MPI_Comm> comms_;
  MpiEngine::Clock::time_point patience_ends_;  ///< with what was sent before it was closed
  Options options_;
};

}  // namespace wisp::detail
