#include "cli/sort_file.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "cli/terminal.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::cli {
namespace {

// A rank in the middle of a call hears of no signal, and what has ended it may not wait for long.
constexpr std::uint64_t largest_call = std::uint64_t{4} << 20;

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, detail::as_size(length)};
}

/// How many calls the rank with most bytes needs; every rank makes as many, for they are collective.
std::uint64_t agreed_calls(const Comm& comm, std::uint64_t bytes) {
  std::uint64_t calls = (bytes + largest_call - 1) / largest_call;
  comm.allreduce(in_place(), buffer_of(calls), MPI_MAX);
  return calls;
}

std::uint64_t machine_memory() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word) {
    if (word != "MemAvailable:") continue;
    std::uint64_t kibibytes = 0;
    info >> kibibytes;
    return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// What one rank may use: its limit by the system, and its part of what the machine has left.
std::uint64_t memory_of_a_rank() {
  MPI_Comm node = MPI_COMM_NULL;
  int ranks_here = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks_here);
  MPI_Comm_free(&node);
  std::uint64_t limit = machine_memory() / static_cast<std::uint64_t>(ranks_here);
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    limit = std::min<std::uint64_t>(limit, address_space.rlim_cur);
  }
  return limit;
}

/// Removes the file that is being written when somebody ends the program.
class RemovedWhenInterrupted {
 public:
  static void begin(const std::string& path) {
    if (path.size() >= sizeof(path_)) return;
    std::memcpy(path_, path.c_str(), path.size() + 1);
    for (std::size_t i = 0; i < std::size(signals); ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;  // as under nohup
      struct sigaction ours = {};
      ours.sa_handler = remove_and_end;
      sigaction(signals[i], &ours, nullptr);
    }
    has_begun_ = true;
  }
  static void end() {
    if (!std::exchange(has_begun_, false)) return;
    for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
  }

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

  static void remove_and_end(int signal) {
    unlink(path_);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }

  static inline struct sigaction before_[std::size(signals)];
  static inline bool has_begun_ = false;
  static inline char path_[4096];  // a handler of signals reaches nothing else
};

}  // namespace

void agree_on_errors(const Comm& comm, const std::string& message) {
  int first = message.empty() ? comm.size() : comm.rank();
  comm.allreduce(in_place(), buffer_of(first), MPI_MIN);
  if (first == comm.size()) return;
  std::string text = message;
  unsigned long length = text.size();
  comm.bcast(buffer_of(length), first);
  text.resize(length);
  comm.bcast(Buffer(text.data(), length, MPI_CHAR), first);
  throw BadInput(text);
}

InputFile::InputFile(const Comm& comm, const std::string& path) : comm_(comm) {
  std::string problem;
  if (comm.rank() == 0) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status)) {
      problem = fmt::format("wisp sort: the input {} does not exist", path);
    } else if (!std::filesystem::is_regular_file(status)) {
      problem = fmt::format("wisp sort: the input {} is not a regular file", path);
    } else if (access(path.c_str(), R_OK) != 0) {
      problem = fmt::format("wisp sort: the input {} is not readable: {}", path, std::strerror(errno));
    }
  }
  agree_on_errors(comm, problem);
  const int code = MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file_);
  agree_on_errors(comm, code == MPI_SUCCESS ? std::string()
                                            : fmt::format("wisp sort: the input {} cannot be opened: {}",
                                                          path, mpi_text(code)));
  MPI_Offset bytes = 0;
  wisp::detail::check_mpi(MPI_File_get_size(file_, &bytes), "MPI_File_get_size");
  size_ = static_cast<std::uint64_t>(bytes);
}

InputFile::~InputFile() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void InputFile::read_all(const Bytes& bytes, void* into) const {
  const std::uint64_t calls = agreed_calls(comm_, bytes.size());
  for (std::uint64_t call = 0; call < calls; ++call) {
    const std::uint64_t done = std::min(bytes.size(), call * largest_call);
    const std::uint64_t part = std::min(largest_call, bytes.size() - done);
    wisp::detail::check_mpi(MPI_File_read_at_all(file_, static_cast<MPI_Offset>(bytes.begin + done),
                                                 static_cast<char*>(into) + done, static_cast<int>(part),
                                                 MPI_CHAR, MPI_STATUS_IGNORE),
                            "MPI_File_read_at_all");
  }
}

void InputFile::read(const Bytes& bytes, void* into) const {
  wisp::detail::check_mpi(MPI_File_read_at(file_, static_cast<MPI_Offset>(bytes.begin), into,
                                           static_cast<int>(bytes.size()), MPI_CHAR, MPI_STATUS_IGNORE),
                          "MPI_File_read_at");
}

OutputFile::OutputFile(const Comm& comm, const std::string& path) : comm_(comm), path_(path) {
  std::string problem;
  int process = static_cast<int>(getpid());
  comm.bcast(buffer_of(process), 0);
  temporary_ = fmt::format("{}.wisp-{}", path, process);
  if (comm.rank() == 0) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      problem = fmt::format("wisp sort: the output {} exists and is not a regular file", path);
    } else if (std::filesystem::exists(status) && access(path.c_str(), W_OK) != 0) {
      problem = fmt::format("wisp sort: the output {} is not writable: {}", path, std::strerror(errno));
    } else if (RemovedWhenInterrupted::begin(temporary_); !std::ofstream(temporary_)) {
      problem = fmt::format("wisp sort: the output {} is not writable: {}", path, std::strerror(errno));
    }
  }
  agree_on_errors(comm, problem);
  const int code = MPI_File_open(MPI_COMM_WORLD, temporary_.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file_);
  agree_on_errors(comm, code == MPI_SUCCESS ? std::string()
                                            : fmt::format("wisp sort: the output {} cannot be opened: {}",
                                                          path, mpi_text(code)));
}

OutputFile::~OutputFile() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  if (comm_.rank() != 0) return;
  if (!committed_) std::remove(temporary_.c_str());
  RemovedWhenInterrupted::end();
}

void OutputFile::write_all(std::uint64_t offset, const char* data, std::uint64_t bytes) {
  const std::uint64_t calls = agreed_calls(comm_, bytes);
  std::string problem;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const std::uint64_t done = std::min(bytes, call * largest_call);
    const std::uint64_t part = std::min(largest_call, bytes - done);
    const int code = MPI_File_write_at_all(file_, static_cast<MPI_Offset>(offset + done), data + done,
                                           static_cast<int>(part), MPI_CHAR, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) problem = fmt::format("wisp sort: writing {} failed: {}", path_, mpi_text(code));
  }
  agree_on_errors(comm_, problem);
}

void OutputFile::commit(std::uint64_t size) {
  const int code = MPI_File_close(&file_);
  std::string problem;
  if (code != MPI_SUCCESS) problem = fmt::format("wisp sort: writing {} failed: {}", path_, mpi_text(code));
  agree_on_errors(comm_, problem);
  if (comm_.rank() == 0) {
    std::error_code error;
    if (std::filesystem::file_size(temporary_, error) != size) {
      problem =
          fmt::format("wisp sort: writing {} failed: the file system took fewer bytes than there are", path_);
    } else if (std::filesystem::rename(temporary_, path_, error); error) {
      problem = fmt::format("wisp sort: the output {} is not writable: {}", path_, error.message());
    }
  }
  agree_on_errors(comm_, problem);
  committed_ = true;
}

void check_different_files(const Comm& comm, const std::string& input, const std::string& output) {
  std::string problem;
  std::error_code code;
  if (comm.rank() == 0 && std::filesystem::equivalent(input, output, code)) {
    problem = fmt::format("wisp sort: input and output are the same file, {}", input);
  }
  agree_on_errors(comm, problem);
}

void check_memory(const Comm& comm, const SortArguments& arguments, std::uint64_t file_bytes, double factor) {
  std::uint64_t limit = arguments.memory_limit == 0 ? memory_of_a_rank() : arguments.memory_limit;
  comm.allreduce(in_place(), buffer_of(limit), MPI_MIN);
  const double needed = factor * static_cast<double>(file_bytes) / comm.size();
  if (needed <= static_cast<double>(limit)) return;
  constexpr double mebibyte = 1024.0 * 1024.0;
  throw BadInput(
      fmt::format("wisp sort: the input is too large: each of {} would need {:.1f} MiB of memory, and has "
                  "{:.1f} MiB; use more nodes",
                  counted(comm.size(), "rank"), needed / mebibyte, static_cast<double>(limit) / mebibyte));
}

SortOptions sort_options(const Comm& comm, const SortArguments& arguments) {
  SortOptions options;
  if (arguments.assignment == "deterministic") options.assignment = SortOptions::Assignment::deterministic;
  const bool watched =
      arguments.progress == "always" || (arguments.progress == "auto" && isatty(STDERR_FILENO) != 0);
  if (comm.rank() == 0 && watched) {
    // Short runs say nothing; then a line at most every tenth of a second.
    options.progress = [start = MPI_Wtime(), said = 0.1](const SortProgress& progress) mutable {
      const double elapsed = MPI_Wtime() - start;
      if (elapsed < said) return;
      said = elapsed + 0.1;
      show_progress(fmt::format("wisp sort: {:.1f} s, {}, level {}, {} elements in the group of rank 0",
                                elapsed, progress.phase, progress.level, progress.elements));
    };
  }
  return options;
}

}  // namespace wisp::cli
