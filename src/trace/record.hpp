#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// What a trace holds, and how it is written: chunks of one rank's records each, about 15 bytes a record.
//
//   chunk    "wisptrace3\n"; rank, number of ranks, bytes of what follows, 4 bytes each; host; records
//   record   a kind; then numbers of 7 bits a byte: times as differences to the record before; whose it is,
//            if that has changed; peer and bytes
//
// Texts are written before the first record that names them, later by their number: the name of an operation
// once a rank, that of a communicator once for each.

namespace wisp::detail {

struct TraceRecord {
  /// An arrival is a receive that took what had come: nobody knows since when it was waited for.
  enum class Kind : std::uint8_t { text, send, receive, arrival, wait };

  std::uint64_t begin = 0;  ///< in nanoseconds of the host's clock: posted, or the wait's begin
  std::uint64_t end = 0;    ///< done; of a send that nobody has to wait for: the same
  std::uint64_t bytes = 0;  ///< of a send
  std::int64_t tag = 0;     ///< with which it travels …
  std::uint32_t world = 0;  ///< … in which communicator below
  int peer = -1;            ///< rank in MPI_COMM_WORLD
  int operation = -1;       ///< the text with this number
  int communicator = -1;    ///< the same; -1: it is not told
  int call = -1;            ///< which one on that communicator, from 0; -1: not numbered
  Kind kind = Kind::wait;

  bool operator==(const TraceRecord&) const = default;
};

/// The records of one rank.
struct RankTrace {
  int rank = -1;
  int ranks = 0;  ///< in all
  std::string host;
  std::vector<std::string> texts;
  std::vector<TraceRecord> records;
};

/// Writes the records of one rank, as bytes.
class TraceWriter {
 public:
  /// Its number from now on.
  int add_text(const std::string& text);
  void add(const TraceRecord& record);

  std::size_t bytes() const { return bytes_.size(); }
  /// A chunk of what was added since the last one.
  std::vector<std::byte> take_chunk(int rank, int ranks, const std::string& host);

 private:
  std::vector<std::byte> bytes_;
  TraceRecord latest_;
  int texts_ = 0;
};

/// What chunks hold, added to the rank's earlier ones. An Error names what is no trace. True, if the last
/// chunk is not whole: whoever wrote it has been killed.
bool read_trace(std::span<const std::byte> chunks, const std::string& file, std::vector<RankTrace>& ranks);

}  // namespace wisp::detail
