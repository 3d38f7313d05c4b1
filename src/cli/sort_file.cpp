#include "cli/sort_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

namespace wisp::cli {
namespace {

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, detail::as_size(length)};
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

std::uint64_t memory_of_this_rank() {
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

/// Removes the file that is being written when somebody ends the program, and what Open MPI tries locks with
/// beside it.
class RemovedWhenInterrupted {
 public:
  static void begin(const std::string& path, int rank) {
    const std::string lock = fmt::format("{}.locktest.{}", path, rank);
    if (lock.size() >= sizeof(path_)) return;
    std::memcpy(path_, path.c_str(), path.size() + 1);
    std::memcpy(lock_, lock.c_str(), lock.size() + 1);
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
    unlink(lock_);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }

  static inline struct sigaction before_[std::size(signals)];
  static inline bool has_begun_ = false;
  static inline char path_[4096];  // a handler of signals reaches nothing else
  static inline char lock_[4096];
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

InputFile::InputFile(const Comm& comm, const std::string& path) {
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
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void InputFile::start_read(std::uint64_t offset, void* into, std::size_t bytes) {
  wisp::detail::check_mpi(MPI_File_iread_at(file_, static_cast<MPI_Offset>(offset), into,
                                            static_cast<int>(bytes), MPI_CHAR, &request_),
                          "MPI_File_iread_at");
}

void InputFile::finish_read() {
  wisp::detail::check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait after MPI_File_iread_at");
}

namespace {

/// Through MPI-IO, in parallel: while a block is written, the next one is made.
class OutputFile final : public Output {
 public:
  OutputFile(const Comm& comm, const std::string& path) : comm_(comm), path_(path) {
    std::string problem;
    int process = static_cast<int>(getpid());
    comm.bcast(buffer_of(process), 0);
    temporary_ = fmt::format("{}.wisp-{}", path, process);
    RemovedWhenInterrupted::begin(temporary_, comm.rank());
    if (comm.rank() == 0) {
      std::error_code code;
      const auto status = std::filesystem::status(path, code);
      if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        problem = fmt::format("wisp sort: the output {} exists and is not a regular file", path);
      } else if (std::filesystem::exists(status) && access(path.c_str(), W_OK) != 0) {
        problem = fmt::format("wisp sort: the output {} is not writable: {}", path, std::strerror(errno));
      } else if (!std::ofstream(temporary_)) {
        problem = fmt::format("wisp sort: the output {} is not writable: {}", path, std::strerror(errno));
      }
    }
    agree_on_errors(comm, problem);
    const int code =
        MPI_File_open(MPI_COMM_WORLD, temporary_.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file_);
    agree_on_errors(comm, code == MPI_SUCCESS ? std::string()
                                              : fmt::format("wisp sort: the output {} cannot be opened: {}",
                                                            path, mpi_text(code)));
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  ~OutputFile() override {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    if (comm_.rank() == 0 && !committed_) std::remove(temporary_.c_str());
    RemovedWhenInterrupted::end();
  }

  void append(std::string text) override {
    std::uint64_t bytes = text.size();
    std::uint64_t before = 0;
    std::uint64_t all = 0;
    comm_.exscan(buffer_of(bytes), buffer_of(before), MPI_SUM);
    comm_.allreduce(buffer_of(bytes), buffer_of(all), MPI_SUM);
    finish_write();
    agree_on_errors(comm_, problem_);
    writing_ = std::move(text);
    offset_ = size_ + before;
    done_ = 0;
    start_write();
    // More than one call takes is not overlapped.
    while (writing_.size() - done_ > largest_call) {
      finish_write();
      done_ += largest_call;
      start_write();
    }
    size_ += all;
  }

  void commit() override {
    finish_write();
    const int code = MPI_File_close(&file_);
    if (code != MPI_SUCCESS) fail(code);
    agree_on_errors(comm_, problem_);
    if (comm_.rank() == 0) {
      std::error_code error;
      if (std::filesystem::file_size(temporary_, error) != size_) {
        problem_ = fmt::format(
            "wisp sort: writing {} failed: the file system took fewer bytes than there are", path_);
      } else if (std::filesystem::rename(temporary_, path_, error); error) {
        problem_ = fmt::format("wisp sort: the output {} is not writable: {}", path_, error.message());
      }
    }
    agree_on_errors(comm_, problem_);
    committed_ = true;
  }

 private:
  static constexpr std::size_t largest_call = std::size_t{256} << 20;

  void fail(int code) { problem_ = fmt::format("wisp sort: writing {} failed: {}", path_, mpi_text(code)); }
  void start_write() {
    const std::size_t bytes = std::min(largest_call, writing_.size() - done_);
    if (bytes == 0) return;
    const int code =
        MPI_File_iwrite_at(file_, static_cast<MPI_Offset>(offset_ + done_), writing_.data() + done_,
                           static_cast<int>(bytes), MPI_CHAR, &request_);
    if (code != MPI_SUCCESS) fail(code);
  }
  void finish_write() {
    if (request_ == MPI_REQUEST_NULL) return;
    const int code = MPI_Wait(&request_, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) fail(code);
  }

  const Comm& comm_;
  std::string path_;
  std::string temporary_;
  std::string problem_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::string writing_;
  std::uint64_t offset_ = 0;
  std::size_t done_ = 0;
  std::uint64_t size_ = 0;
  bool committed_ = false;
};

/// Rank 0 writes what it gets from the others.
class StandardOutput final : public Output {
 public:
  explicit StandardOutput(const Comm& comm) : comm_(comm) { std::signal(SIGPIPE, SIG_IGN); }

  void append(std::string text) override {
    std::vector<std::uint64_t> sizes(detail::as_size(comm_.size()));
    std::uint64_t own = text.size();
    comm_.gather(buffer_of(own), Buffer(sizes.data(), sizes.size() * sizeof(own), MPI_BYTE), 0);
    if (comm_.rank() > 0) {
      comm_.send(ConstBuffer(text.data(), text.size(), MPI_BYTE), 0);
    } else {
      write(text);
      for (int rank = 1; rank < comm_.size(); ++rank) {
        text.resize(sizes[detail::as_size(rank)]);
        comm_.receive(Buffer(text.data(), text.size(), MPI_BYTE), rank);
        write(text);
      }
    }
    agree_on_errors(comm_, problem_);
  }
  void commit() override {
    if (comm_.rank() == 0 && std::fflush(stdout) != 0) fail();
    agree_on_errors(comm_, problem_);
  }

 private:
  void fail() {
    problem_ = fmt::format("wisp sort: writing to standard output failed: {}", std::strerror(errno));
  }
  void write(const std::string& text) {
    if (problem_.empty() && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail();
  }

  const Comm& comm_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<Output> open_output(const Comm& comm, const std::string& path) {
  if (path == standard_stream) return std::make_unique<StandardOutput>(comm);
  return std::make_unique<OutputFile>(comm, path);
}

RunStore::~RunStore() {
  if (mapped_ != nullptr) munmap(const_cast<std::byte*>(mapped_), file_bytes_);
  if (file_ >= 0) close(file_);
}

void RunStore::add(Block block) {
  Run& run = runs_.emplace_back();
  run.size = block.size;
  if (file_ < 0 && in_memory_ + block.size <= memory_limit_) {
    in_memory_ += block.size;
    run.block = std::move(block);
    return;
  }
  run.offset = file_bytes_;
  if (problem_.empty()) write(block);
}

void RunStore::write(const Block& block) {
  const auto fail = [&] {
    problem_ = fmt::format("wisp sort: temporary files in {} failed: {}; see --temporary-directory", folder_,
                           std::strerror(errno));
  };
  if (file_ < 0) {
    std::string name = folder_ + "/wisp-sort-XXXXXX";
    file_ = mkstemp(name.data());
    if (file_ < 0) return fail();
    unlink(name.c_str());  // nothing is left, however this ends
  }
  for (std::size_t done = 0; done < block.size;) {
    const ssize_t written = ::write(file_, block.bytes.get() + done, block.size - done);
    if (written < 0 && errno != EINTR) return fail();
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  file_bytes_ += block.size;
}

void RunStore::finish(const Comm& comm) {
  if (problem_.empty() && file_bytes_ > 0) {
    void* const mapped = mmap(nullptr, file_bytes_, PROT_READ, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED) {
      problem_ = fmt::format("wisp sort: mapping a temporary file failed: {}", std::strerror(errno));
    } else {
      mapped_ = static_cast<const std::byte*>(mapped);
    }
  }
  agree_on_errors(comm, problem_);
}

std::span<const std::byte> RunStore::run(std::size_t i) const {
  if (i >= runs_.size()) return {};
  const Run& run = runs_[i];
  return run.block.bytes != nullptr ? run.block.span() : std::span(mapped_ + run.offset, run.size);
}

void RunStore::forget_pages() const {
  if (mapped_ != nullptr) madvise(const_cast<std::byte*>(mapped_), file_bytes_, MADV_DONTNEED);
}

void check_different_files(const Comm& comm, const std::string& input, const std::string& output) {
  std::string problem;
  std::error_code code;
  if (input == standard_stream || output == standard_stream) return;
  if (comm.rank() == 0 && std::filesystem::equivalent(input, output, code)) {
    problem = fmt::format("wisp sort: input and output are the same file, {}", input);
  }
  agree_on_errors(comm, problem);
}

std::uint64_t memory_of_a_rank(const Comm& comm) {
  std::uint64_t limit = memory_of_this_rank();
  comm.allreduce(in_place(), buffer_of(limit), MPI_MIN);
  return limit;
}

}  // namespace wisp::cli
