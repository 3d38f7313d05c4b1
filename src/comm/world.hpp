#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "comm/mailbox.hpp"
#include "comm/tag_layout.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

/// What one process keeps for each attached MPI communicator (or simulated cluster).
class World {
 public:
  struct Facts {
    int rank = 0;
    int size = 0;
    int tag_upper_bound = 32767;
    bool shares_cores = false;  ///< some core runs more than one rank; the same on all ranks
  };

  World(std::unique_ptr<Transport> transport, const Facts& facts);

  /// The World of an isolated duplicate of `comm`, cached there. Collective over `comm` the first time.
  static std::shared_ptr<World> duplicate(MPI_Comm comm);
  /// The World of a communicator that nobody else uses; it is freed with the World.
  static std::shared_ptr<World> over_own(MPI_Comm comm, const Facts& facts);
  /// The World that shares the context of `comm`, cached there. Local.
  static std::shared_ptr<World> attach(MPI_Comm comm);

  const Facts& facts() const { return facts_; }
  int rank() const { return facts_.rank; }
  int size() const { return facts_.size; }
  bool shares_cores() const { return facts_.shares_cores; }
  const TagLayout& tags() const { return tags_; }
  Transport& transport() { return *transport_; }
  Engine& engine() { return transport_->engine(); }
  Mailbox& mailbox() { return mailbox_; }
  /// How many collectives the communicator of all ranks has started.
  std::uint32_t& root_sequence() { return root_sequence_; }

  /// MPI_COMM_NULL on a simulated cluster.
  MPI_Comm mpi_comm() const;
  bool closed() const { return closed_; }
  /// Gives the MPI communicator back; whatever still refers to this World can only be dropped.
  void close() noexcept;

 private:
  std::unique_ptr<Transport> transport_;
  TagLayout tags_;
  Mailbox mailbox_;
  Facts facts_;
  std::uint32_t root_sequence_ = 0;
  bool closed_ = false;
};

/// A communicator's own part: which World, and how many collectives it has started (it numbers them, so that
/// those in flight at one time do not meet).
struct Context {
  explicit Context(std::shared_ptr<World> of) : world(std::move(of)) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  std::shared_ptr<World> world;
  std::uint32_t own_sequence = 0;
  std::uint32_t* sequence = &own_sequence;
};

}  // namespace wisp::detail
