#pragma once

#include <string>
#include <vector>

#include "trace/record.hpp"

// What the ranks of a trace did together: their messages with both ends, their operations, and the chain of
// waits that decided how long it took.

namespace wisp::detail {

/// Times in seconds from the first event of all ranks.
struct TracedMessage {
  int from = -1;
  int to = -1;
  double sent = 0;    ///< posted by its sender …
  double left = 0;    ///< … who could go on without waiting for it from then
  double posted = 0;  ///< its receive
  double received = 0;
  double awaited = 0;           ///< since then its receiver has done nothing but wait
  double awaited_to_leave = 0;  ///< the same of its sender
  std::uint64_t bytes = 0;
  int operation = -1;  ///< a text
  int communicator = -1;
  int call = -1;
  int from_context = -1;  ///< which communicator of those of the same name, of the sender
  int to_context = -1;    ///< of the receiver
};

/// An operation on one rank, from its first message to its last; a blocking call from its begin to its end.
struct TracedOperation {
  int rank = -1;
  double begin = 0;
  double end = 0;
  int operation = -1;
  int communicator = -1;
  int call = -1;
  int context = -1;
};

/// The path goes along a rank, or from one rank to another with a message.
struct PathStep {
  int rank = -1;  ///< where it ends
  double begin = 0;
  double end = 0;
  int message = -1;  ///< that it goes along; -1: none
};

struct Timeline {
  int ranks = 0;
  double seconds = 0;
  std::vector<std::string> texts;
  std::vector<TracedMessage> messages;      ///< by the time of their sending
  std::vector<TracedOperation> operations;  ///< by rank and begin
  std::vector<PathStep> critical_path;      ///< forwards
  std::size_t unmatched = 0;                ///< sends and receives whose other end is not in the trace
};

/// `awaited` is told by the waits that a rank has recorded: a receive that was posted long before is not
/// waited for while its rank computes. Clocks of different hosts are set by the messages between them: as if
/// the fastest one each way had taken the same time.
Timeline timeline_of(const std::vector<RankTrace>& ranks);

}  // namespace wisp::detail
