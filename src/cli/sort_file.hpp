#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bad_input.hpp"
#include "wisp/comm.hpp"

// The files of a sort: its input and output, which all ranks share, and what a rank keeps for itself.

namespace wisp::cli {

/// Memory that nobody has set to zero.
struct Block {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;

  Block() = default;
  explicit Block(std::size_t bytes_of_it)
      : bytes(std::make_unique_for_overwrite<std::byte[]>(bytes_of_it)), size(bytes_of_it) {}
  char* data() { return reinterpret_cast<char*>(bytes.get()); }
  std::span<const std::byte> span() const { return {bytes.get(), size}; }
};

/// The name that stands for standard input or output.
constexpr std::string_view standard_stream = "-";

/// One read or write of a file that goes on by itself. Not MPI's: neither Open MPI nor MPICH survives one
/// that fails.
class FileTransfer {
 public:
  void start_read(int file, std::uint64_t offset, void* into, std::size_t bytes);
  void start_write(int file, std::uint64_t offset, const void* from, std::size_t bytes);
  /// Waits for it, if there is one; 0 or what errno would be (ENODATA: the file has ended).
  int finish() { return pending_.valid() ? pending_.get() : 0; }

 private:
  std::future<int> pending_;  // dropped, it waits
};

/// An open file that all ranks read, in parallel.
class InputFile {
 public:
  InputFile(const Comm& comm, const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// As rank 0 saw it when the file was opened.
  std::uint64_t size() const { return size_; }
  /// Of this rank alone: begins, and waits for the end, with a sentence if it failed; one at a time.
  void start_read(std::uint64_t offset, void* into, std::size_t bytes);
  std::string finish_read();

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  FileTransfer transfer_;
};

/// Where sorted bytes go, the next ones of all ranks in their order. All members are collective.
class Output {
 public:
  virtual ~Output() = default;
  /// Takes the text; it may still be written when this returns.
  virtual void append(std::string text) = 0;
  virtual void commit() = 0;
};

/// A file under a name of its own until it is whole; then it takes the name it is to have. Dropped before
/// that, nothing is left.
std::unique_ptr<Output> open_output(const Comm& comm, const std::string& path);

/// What a rank keeps: in memory, and from a limit on in a temporary file without a name.
class RunStore {
 public:
  RunStore(std::string folder, std::uint64_t memory_limit)
      : folder_(std::move(folder)), memory_limit_(memory_limit) {}
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  void add(Block block);
  /// Something cannot be kept, for another reason.
  void refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  /// After the last: what could not be kept is an error on all ranks.
  void finish(const Comm& comm);
  std::size_t count() const { return runs_.size(); }
  std::span<const std::byte> run(std::size_t i) const;
  /// Part of a run that will be read: where it is in the file, reading it begins. All else is read as it is
  /// touched, page by page: who looks for a place in a run needs nothing around it.
  void will_read(std::span<const std::byte> part) const;
  /// What was read from the file need not stay in memory.
  void forget_pages() const;

 private:
  void write(const Block& block);

  struct Run {
    Block block;
    std::uint64_t offset = 0;  ///< in the file, if there is no block
    std::size_t size = 0;
  };
  std::vector<Run> runs_;
  std::string folder_;
  std::uint64_t memory_limit_;
  std::uint64_t in_memory_ = 0;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  const std::byte* mapped_ = nullptr;
  std::string problem_;
};

/// Throws BadInput on all ranks, with the message of the first rank that has one.
void agree_on_errors(const Comm& comm, const std::string& message);

void check_different_files(const Comm& comm, const std::string& input, const std::string& output);

}  // namespace wisp::cli
