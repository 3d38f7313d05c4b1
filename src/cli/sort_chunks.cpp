#include "cli/sort_chunks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "wisp/detail/balance.hpp"

namespace wisp::cli {
namespace {

/// Cuts what is read into whole elements; what is left waits for more.
class Cutter {
 public:
  explicit Cutter(ElementShape shape) : shape_(shape) {}

  /// Room in front of what is read, for what was left.
  std::size_t lead() const { return shape_.width > 0 ? 0 : std::size_t{1} << 16; }

  /// `size` bytes behind the lead, from `place` of the input on.
  Chunk cut(Block block, std::size_t size, std::uint64_t place, bool is_last) {
    Chunk chunk{std::move(block), lead(), size, place};
    put_in_front(chunk);
    const std::string_view text = chunk.text();
    const std::size_t whole = is_last ? text.size() : whole_bytes(text);
    left_.assign(text.substr(whole));
    chunk.size = whole;
    return chunk;
  }
  std::size_t left() const { return left_.size(); }

 private:
  std::size_t whole_bytes(std::string_view text) const {
    if (shape_.width > 0) return text.size() - text.size() % shape_.width;
    return text.rfind('\n') + 1;  // 0 if there is none
  }
  void put_in_front(Chunk& chunk) {
    chunk.place -= left_.size();
    if (left_.size() > chunk.begin) {
      Block larger(left_.size() + chunk.size);
      std::memcpy(larger.data() + left_.size(), chunk.text().data(), chunk.size);
      chunk.memory = std::move(larger);
      chunk.begin = left_.size();
    }
    chunk.begin -= left_.size();
    std::memcpy(chunk.memory.data() + chunk.begin, left_.data(), left_.size());
    chunk.size += left_.size();
  }

  ElementShape shape_;
  std::string left_;
};

/// The elements that begin in this rank's part of a file.
class FileChunks final : public ChunkReader {
 public:
  FileChunks(const Comm& comm, const std::string& path, ElementShape shape, std::size_t chunk_bytes)
      : comm_(comm), file_(comm, path), shape_(shape), cutter_(shape), chunk_bytes_(chunk_bytes) {
    const std::uint64_t unit = std::max<std::size_t>(shape.width, 1);
    if (file_.size() % unit != 0) {
      throw BadInput(fmt::format("wisp sort: {} has {} bytes, which is not a multiple of the element's {}",
                                 path, file_.size(), unit));
    }
    const wisp::detail::Balance balance(file_.size() / unit, comm.size());
    begin_ = balance.begin(comm.rank()) * unit;
    end_ = balance.begin(comm.rank() + 1) * unit;
    next_ = begin_;
    // One byte before the part tells whether a line begins with it.
    if (shape.width == 0 && begin_ > 0) --next_;
    skips_line_ = next_ < begin_;
    if (begin_ < end_) start();
  }

  std::optional<Chunk> next() override {
    while (is_reading_) {
      is_reading_ = false;
      problem_ = file_.finish_read();
      if (!problem_.empty()) break;
      Block block = std::move(incoming_);
      const std::uint64_t place = next_;
      std::size_t size = block.size - cutter_.lead();
      next_ += size;
      const std::string_view text(block.data() + cutter_.lead(), size);
      const std::optional<std::size_t> end = end_in(text, place);
      if (end) size = *end;
      if (!end) start();
      std::size_t skipped = 0;
      if (skips_line_) {
        const std::size_t newline = text.substr(0, size).find('\n');
        if (newline == text.npos) continue;
        skipped = newline + 1;
        skips_line_ = false;
        std::memmove(block.data() + cutter_.lead(), text.data() + skipped, size - skipped);
      }
      Chunk chunk = cutter_.cut(std::move(block), size - skipped, place + skipped, end.has_value());
      if (chunk.size > 0) return chunk;
    }
    return std::nullopt;
  }
  void finish() override { agree_on_errors(comm_, problem_); }
  std::optional<std::uint64_t> bytes() const override { return end_ - begin_; }

 private:
  /// Where in the text this rank's elements end, if they do.
  std::optional<std::size_t> end_in(std::string_view text, std::uint64_t place) const {
    const std::uint64_t text_end = place + text.size();
    if (text_end < end_) return std::nullopt;
    if (skips_line_ && text.find('\n') == text.npos) return text.size();  // no line begins in the part
    if (text_end == file_.size()) {
      if (shape_.width > 0 || end_ == file_.size()) return text.size();
    }
    if (shape_.width > 0) return end_ - place;
    // The line that has the last byte of the part.
    const std::size_t newline = text.find('\n', end_ - 1 > place ? end_ - 1 - place : 0);
    if (newline != text.npos) return newline + 1;
    if (text_end == file_.size()) return text.size();
    return std::nullopt;
  }

  void start() {
    constexpr std::size_t beyond_end = std::size_t{1} << 16;
    const std::size_t wanted =
        next_ < end_ ? std::max(chunk_bytes_, cutter_.left()) : std::max(beyond_end, cutter_.left());
    const std::uint64_t limit = next_ < end_ ? end_ : file_.size();
    const std::size_t size = std::min(wanted, detail::as_size(limit - next_));
    incoming_ = Block(cutter_.lead() + size);
    file_.start_read(next_, incoming_.data() + cutter_.lead(), size);
    is_reading_ = true;
  }

  const Comm& comm_;
  Block incoming_;  // what is being read goes there
  InputFile file_;
  ElementShape shape_;
  Cutter cutter_;
  std::size_t chunk_bytes_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t next_ = 0;
  bool skips_line_ = false;
  bool is_reading_ = false;
  std::string problem_;
};

/// What rank 0 deals: each rank gets the next chunk in turn.
class StandardInputChunks final : public ChunkReader {
 public:
  StandardInputChunks(const Comm& comm, ElementShape shape, std::size_t chunk_bytes)
      : comm_(comm), shape_(shape), cutter_(shape), chunk_bytes_(chunk_bytes) {}

  std::optional<Chunk> next() override { return comm_.rank() == 0 ? deal() : take(); }
  void finish() override { agree_on_errors(comm_, problem_); }
  std::optional<std::uint64_t> bytes() const override { return std::nullopt; }

 private:
  struct Header {
    std::uint64_t size = 0;  ///< 0: that was all
    std::uint64_t place = 0;
  };

  std::optional<Chunk> take() const {
    Header header;
    comm_.receive(Buffer(&header, sizeof(header), MPI_BYTE), 0);
    if (header.size == 0) return std::nullopt;
    Chunk chunk{Block(header.size), 0, header.size, header.place};
    comm_.receive(Buffer(chunk.memory.data(), header.size, MPI_BYTE), 0);
    return chunk;
  }

  std::optional<Chunk> deal() {
    while (!is_at_end_) {
      Chunk chunk = read();
      if (chunk.size == 0) continue;
      const int rank = turn_++ % comm_.size();
      if (rank == 0) return chunk;
      const Header header{chunk.size, chunk.place};
      comm_.send(ConstBuffer(&header, sizeof(header), MPI_BYTE), rank);
      comm_.send(ConstBuffer(chunk.text().data(), chunk.size, MPI_BYTE), rank);
    }
    const Header end;
    for (int rank = 1; rank < comm_.size() && !has_ended_; ++rank)
      comm_.send(ConstBuffer(&end, sizeof(end), MPI_BYTE), rank);
    has_ended_ = true;
    return std::nullopt;
  }

  Chunk read() {
    const std::size_t wanted = std::max(chunk_bytes_, cutter_.left());
    Block block(cutter_.lead() + wanted);
    std::size_t size = 0;
    while (size < wanted && !is_at_end_) {
      const ssize_t got = ::read(STDIN_FILENO, block.data() + cutter_.lead() + size, wanted - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        problem_ = fmt::format("wisp sort: reading standard input failed: {}", std::strerror(errno));
      if (got <= 0) is_at_end_ = true;
      if (got > 0) size += detail::as_size(got);
    }
    const std::uint64_t place = std::exchange(place_, place_ + size);
    if (is_at_end_ && shape_.width > 0 && place_ % shape_.width != 0 && problem_.empty()) {
      problem_ =
          fmt::format("wisp sort: standard input has {} bytes, which is not a multiple of the element's {}",
                      place_, shape_.width);
    }
    return cutter_.cut(std::move(block), size, place, is_at_end_ && problem_.empty());
  }

  const Comm& comm_;
  ElementShape shape_;
  Cutter cutter_;
  std::size_t chunk_bytes_;
  std::uint64_t place_ = 0;
  int turn_ = 0;
  bool is_at_end_ = false;
  bool has_ended_ = false;
  std::string problem_;
};

}  // namespace

std::unique_ptr<ChunkReader> read_chunks(const Comm& comm, const std::string& path, ElementShape shape,
                                         std::size_t chunk_bytes) {
  if (shape.width > 0) chunk_bytes = std::max<std::size_t>(chunk_bytes / shape.width, 1) * shape.width;
  if (path == standard_stream) return std::make_unique<StandardInputChunks>(comm, shape, chunk_bytes);
  return std::make_unique<FileChunks>(comm, path, shape, chunk_bytes);
}

}  // namespace wisp::cli
