#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace wisp::detail {

/// What differs between MPI libraries and no call of MPI tells. Times were measured between ranks on one
/// machine (docs/results.md).
struct MpiLibrary {
  /// It says how long a message was that was too long for its buffer.
  bool tells_truncated_length;
  /// The request of a send that has ended at once is a constant: nobody counts who holds it.
  bool has_constant_ended_request;
  /// MPI_Reduce_local works in a program that has sessions alone.
  bool joins_in_sessions;
  /// Tests of one request in a row; each gives the core away if MPI is told to, and keeps nobody waiting.
  int looks_in_turn;
  /// Sends of so many bytes are copied: a library may end a longer one only when the receiver has taken it.
  std::size_t least_copied;
  std::size_t largest_copied;
  std::size_t largest_copied_on_shared_cores;

  // Messages of neighborhoods. A turn is how long a rank waits for a core that others share.
  double eager_bytes;          ///< a longer message waits until its receiver has answered
  double least_typed_block;    ///< from here on MPI's datatypes are faster than a loop, …
  double least_typed_message;  ///< … in messages as long as this
  double short_bytes;          ///< such a message leaves at once
  double short_of_turn;        ///< its work, in parts of a turn
  double message_of_turn;      ///< and that of a longer one
  double handshake_of_turn;    ///< what waiting for the receiver's answer adds
  double queued_seconds;       ///< of each message, for each that is queued before it
};

/// Of the library that is loaded.
const MpiLibrary& mpi_library();
std::string library_version();  ///< what it says of itself
bool is_open_mpi();
/// Whether it sends and receives what is in the memory of CUDA's devices, where it says so.
std::optional<bool> is_aware_of_cuda();

}  // namespace wisp::detail
