#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/sort_file.hpp"
#include "wisp/comm.hpp"

// The input of a sort, as chunks of whole elements: of a file, every rank has its part; of standard input,
// rank 0 deals chunks to all.

namespace wisp::cli {

/// What elements are in a file: so many bytes, or (0) lines, whose ends belong to them.
struct ElementShape {
  std::size_t width = 0;
};

struct Chunk {
  Block memory;
  std::size_t begin = 0;
  std::size_t size = 0;
  std::uint64_t place = 0;  ///< of its first byte in the input

  std::string_view text() const { return {reinterpret_cast<const char*>(memory.bytes.get()) + begin, size}; }
};

class ChunkReader {
 public:
  virtual ~ChunkReader() = default;
  /// The next chunk of this rank, while the one after it is read. Not collective.
  virtual std::optional<Chunk> next() = 0;
  /// When all ranks have theirs: an input that is wrong is an error on all of them.
  virtual void finish() = 0;
  /// Of this rank, if that is known.
  virtual std::optional<std::uint64_t> bytes() const = 0;
};

/// Chunks of about so many bytes. Collective.
std::unique_ptr<ChunkReader> read_chunks(const Comm& comm, const std::string& path, ElementShape shape,
                                         std::size_t chunk_bytes);

}  // namespace wisp::cli
