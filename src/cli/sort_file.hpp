#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/bad_input.hpp"
#include "wisp/comm.hpp"
#include "wisp/sort_options.hpp"

namespace wisp::cli {

struct SortArguments {
  std::string input;
  std::string output;
  std::string type;          ///< i32, u32, …; empty: another kind of element
  std::uint64_t record = 0;  ///< bytes of a record; 0: another kind
  std::string key;           ///< FIRST:LAST bytes of a record; empty: all
  bool lines = false;
  std::uint64_t max_line = 256;
  bool check = false;
  std::uint64_t memory_limit = 0;  ///< bytes of one rank; 0: what the machine has
  std::string progress = "auto";
  std::string assignment = "greedy";
};

/// Bytes begin … end-1 of a file.
struct Bytes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size() const { return end - begin; }
};

/// An open file that all ranks read, in parallel.
class InputFile {
 public:
  InputFile(const Comm& comm, const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Collective: every rank reads its own bytes.
  void read_all(const Bytes& bytes, void* into) const;
  /// Of this rank alone, less than 2 GiB.
  void read(const Bytes& bytes, void* into) const;

 private:
  const Comm& comm_;
  MPI_File file_ = MPI_FILE_NULL;
  std::uint64_t size_ = 0;
};

/// The output under a name of its own until it is whole; then it takes the name it is to have. Dropped before
/// that, nothing is left. All members are collective.
class OutputFile {
 public:
  OutputFile(const Comm& comm, const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write_all(std::uint64_t offset, const char* data, std::uint64_t bytes);
  void commit(std::uint64_t size);

 private:
  const Comm& comm_;
  std::string path_;
  std::string temporary_;
  MPI_File file_ = MPI_FILE_NULL;
  bool committed_ = false;
};

/// What a sort of a file says about itself; the same on all ranks.
struct SortSummary {
  std::uint64_t elements = 0;
  std::uint64_t fewest = 0;  ///< elements of a rank after sorting
  std::uint64_t most = 0;
  double read_seconds = 0;
  double sort_seconds = 0;
  double write_seconds = 0;
  bool checked = false;
};

/// Throws BadInput on all ranks, with the message of the first rank that has one.
void agree_on_errors(const Comm& comm, const std::string& message);

void check_different_files(const Comm& comm, const std::string& input, const std::string& output);

/// Throws BadInput unless the elements of `file_bytes`, in memory `factor` times, fit into a rank's limit.
void check_memory(const Comm& comm, const SortArguments& arguments, std::uint64_t file_bytes, double factor);

SortOptions sort_options(const Comm& comm, const SortArguments& arguments);

}  // namespace wisp::cli
