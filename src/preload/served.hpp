#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>

#include "preload/settings.hpp"
#include "preload/topology.hpp"
#include "wisp/comm.hpp"

namespace wisp::preload {

/// An MPI communicator whose collectives may be wisp's: kept as its attribute, and gone with it. It is
/// duplicated after as many calls as the settings leave to MPI, so that one that comes and goes is not.
class Served {
 public:
  /// Null: all of its collectives are MPI's, for it is an intercommunicator, has one rank, or ranks of other
  /// worlds.
  static Served* find(MPI_Comm comm);

  /// Whether wisp takes this call, which all ranks answer alike. `bytes` is what all know of its size: of one
  /// vector or block; -1: arguments that MPI will refuse.
  bool takes(Form form, Call call, std::int64_t bytes);
  /// What must be known before. Only a blocking call may duplicate, or ask who the neighbors are; nonblocking
  /// ones before are left to MPI (false). It waits for the other ranks without the lock: they may wait for
  /// what is in flight here.
  bool prepare(Form form, Call call, std::int64_t bytes);

  const Comm& comm() const { return comm_; }
  /// Whose error handler hears of errors: of what outlives the communicator, as MPI has it, that of the
  /// world.
  MPI_Comm mpi_comm() const { return is_freed_ ? MPI_COMM_WORLD : mpi_comm_; }
  Topology& topology() { return *topology_; }

  /// Operations that have been started and have not ended, and persistent requests. They go on when the
  /// communicator is freed; with the last of them it goes.
  void begin_operation() { ++in_flight_; }
  void end_operation() {
    --in_flight_;
    drop_if_done();
  }
  /// When the communicator is freed.
  void drop() {
    is_freed_ = true;
    drop_if_done();
  }

 private:
  explicit Served(MPI_Comm comm) : mpi_comm_(comm) {}
  ~Served();

  void drop_if_done() {
    if (is_freed_ && in_flight_ == 0) delete this;
  }

  bool pays(Call call, std::int64_t bytes);
  double promised_gain(Call call, std::size_t bytes);

  MPI_Comm mpi_comm_;
  bool is_refused_ = false;
  bool is_freed_ = false;
  int in_flight_ = 0;
  int calls_ = 0;
  Comm comm_;  ///< empty until it is duplicated
  std::optional<Topology> topology_;

  /// By the number of bits of the size: what is known to pay, or not to.
  struct Decided {
    std::uint64_t is_known;
    std::uint64_t pays;
  };
  std::array<Decided, call_count> decided_ = {};
};

/// While the program frees a communicator. Delete callbacks of its attributes may still call collectives on
/// it: they are served as before until ours is deleted, and then MPI's. Served anew it would be so for ever,
/// and so would the next with its handle.
class BeingFreed {
 public:
  explicit BeingFreed(MPI_Comm comm);
  ~BeingFreed();
  BeingFreed(const BeingFreed&) = delete;
  BeingFreed& operator=(const BeingFreed&) = delete;

  /// Null: it is not being freed.
  static BeingFreed* find(MPI_Comm comm);
  Served* served() const { return served_; }
  void end_service() { served_ = nullptr; }

 private:
  MPI_Comm comm_;
  Served* served_ = nullptr;
  BeingFreed* outer_;  ///< a callback may free another
};

}  // namespace wisp::preload
