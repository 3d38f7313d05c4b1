#include "cli/sort_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
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
#include <utility>

#include "wisp/collectives.hpp"

namespace wisp::cli {
namespace {

/// Calls `move` with what is done already until all bytes are; 0 or an error.
template <class Move>
int move_all(std::size_t bytes, Move move) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return ENODATA;
    done += detail::as_size(moved);
  }
  return 0;
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

InputFile::InputFile(const Comm& comm, const std::string& path) : path_(path) {
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
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0)
    problem = fmt::format("wisp sort: the input {} cannot be opened: {}", path, std::strerror(errno));
  struct stat status = {};
  if (file_ >= 0 && fstat(file_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
  char first = 0;
  if (file_ >= 0 && size_ == 0 && pread(file_, &first, 1, 0) > 0)
    problem = fmt::format("wisp sort: the input {} does not tell its size, as files of /proc", path);
  try {
    agree_on_errors(comm, problem);
  } catch (...) {
    close(file_);
    throw;
  }
  comm.bcast(buffer_of(size_), 0);  // it may grow
}

InputFile::~InputFile() {
  transfer_.finish();
  close(file_);
}

void InputFile::start_read(std::uint64_t offset, void* into, std::size_t bytes) {
  transfer_.start_read(file_, offset, into, bytes);
}

std::string InputFile::finish_read() {
  const int error = transfer_.finish();
  if (error == 0) return {};
  return fmt::format("wisp sort: reading {} failed: {}", path_,
                     error == ENODATA ? "it has become shorter" : std::strerror(error));
}

void FileTransfer::start_read(int file, std::uint64_t offset, void* into, std::size_t bytes) {
  pending_ = std::async(std::launch::async, [=] {
    return move_all(bytes, [=](std::size_t done) {
      const auto from = static_cast<off_t>(offset + done);
      return pread(file, static_cast<std::byte*>(into) + done, bytes - done, from);
    });
  });
}

void FileTransfer::start_write(int file, std::uint64_t offset, const void* from, std::size_t bytes) {
  pending_ = std::async(std::launch::async, [=] {
    return move_all(bytes, [=](std::size_t done) {
      const auto to = static_cast<off_t>(offset + done);
      return pwrite(file, static_cast<const std::byte*>(from) + done, bytes - done, to);
    });
  });
}

namespace {

/// All ranks write, in parallel: while a block is written, the next one is made.
class OutputFile final : public Output {
 public:
  OutputFile(const Comm& comm, const std::string& name) : comm_(comm), path_(behind_links(name)) {
    const std::string& path = path_;
    std::string problem;
    int process = static_cast<int>(getpid());
    comm.bcast(buffer_of(process), 0);
    // As short for a long name, which may have as many letters as there can be.
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    temporary_ = folder / fmt::format(".wisp-sort-{}-{:x}", process, std::hash<std::string>()(path));
    RemovedWhenInterrupted::begin(temporary_);
    std::signal(SIGXFSZ, SIG_IGN);  // more than ulimit -f allows is an error of the write
    if (comm.rank() == 0) {
      std::error_code code;
      const auto status = std::filesystem::status(path, code);
      if (std::filesystem::is_symlink(path, code)) {
        problem = fmt::format("wisp sort: the output {} is not writable: {}", name, std::strerror(ELOOP));
      } else if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        problem = fmt::format("wisp sort: the output {} exists and is not a regular file", path);
      } else if ((std::filesystem::exists(status) && access(path.c_str(), W_OK) != 0) ||
                 !std::ofstream(temporary_)) {
        problem = fmt::format("wisp sort: the output {} is not writable: {}", path, std::strerror(errno));
      } else if (std::filesystem::exists(status)) {  // the mode stays as it was
        std::filesystem::permissions(temporary_, status.permissions(), code);
      }
    }
    try {
      agree_on_errors(comm, problem);
      file_ = open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
      if (file_ < 0)
        problem = fmt::format("wisp sort: the output {} cannot be opened: {}", path, std::strerror(errno));
      agree_on_errors(comm, problem);
    } catch (...) {
      leave();
      throw;
    }
  }
  /// What links name, whether it exists or not: they stay, and it is written. Still a link if there are too
  /// many.
  static std::string behind_links(std::filesystem::path path) {
    std::error_code error;
    constexpr int most = 40;  // as the system follows
    for (int i = 0; i < most && std::filesystem::is_symlink(path, error); ++i) {
      path = path.parent_path() / std::filesystem::read_symlink(path, error);
      if (error) break;
    }
    return path;
  }

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  ~OutputFile() override { leave(); }

  void append(std::string text) override {
    std::uint64_t bytes = text.size();
    std::uint64_t before = 0;
    std::uint64_t all = 0;
    comm_.exscan(buffer_of(bytes), buffer_of(before), MPI_SUM);
    comm_.allreduce(buffer_of(bytes), buffer_of(all), MPI_SUM);
    finish_write();
    agree_on_errors(comm_, problem_);
    writing_ = std::move(text);
    if (!writing_.empty()) transfer_.start_write(file_, size_ + before, writing_.data(), writing_.size());
    size_ += all;
  }

  void commit() override {
    finish_write();
    if (close(std::exchange(file_, -1)) != 0) fail(errno);
    agree_on_errors(comm_, problem_);
    if (comm_.rank() == 0) {
      std::error_code error;
      if (std::filesystem::file_size(temporary_, error) != size_) {
        problem_ = fmt::format(
            "wisp sort: writing {} failed: the file system took fewer bytes than there are", path_);
      } else if (std::filesystem::rename(temporary_, path_, error); error) {
        if (error.value() == EBUSY || error.value() == EPERM) {
          write_over();
        } else {
          problem_ = fmt::format("wisp sort: the output {} is not writable: {}", path_, error.message());
        }
      }
    }
    agree_on_errors(comm_, problem_);
    committed_ = true;
  }

 private:
  void fail(int error) {
    if (problem_.empty())
      problem_ = fmt::format("wisp sort: writing {} failed: {}", path_, std::strerror(error));
  }
  void finish_write() {
    if (const int error = transfer_.finish(); error != 0) fail(error);
  }
  /// What is mounted by itself, or somebody else's in a folder like /tmp, can be written, but not replaced.
  void write_over() {
    const int to = open(path_.c_str(), O_WRONLY | O_CLOEXEC);  // made anew it would be refused
    if (to < 0) return fail(errno);
    // Out of reach of who is interrupted: from here on it may be the only whole one.
    const std::string kept = temporary_ + "-kept";
    int error = std::rename(temporary_.c_str(), kept.c_str()) != 0 ? errno : 0;
    const int from = error == 0 ? open(kept.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (error == 0 && (from < 0 || ftruncate(to, 0) != 0)) error = errno;
    std::vector<char> part(std::size_t{1} << 20);
    for (std::uint64_t at = 0; at < size_ && error == 0; at += part.size()) {
      part.resize(std::min<std::uint64_t>(part.size(), size_ - at));
      const auto place = [&](std::size_t done) { return static_cast<off_t>(at + done); };
      error = move_all(part.size(), [&](std::size_t done) {
        return pread(from, part.data() + done, part.size() - done, place(done));
      });
      if (error == 0) {
        error = move_all(part.size(), [&](std::size_t done) {
          return pwrite(to, part.data() + done, part.size() - done, place(done));
        });
      }
    }
    close(from);
    if (close(to) != 0 && error == 0) error = errno;
    if (error == 0) {
      std::remove(kept.c_str());
    } else {
      fail(error);
      problem_ += "; all of it is in " + kept;
    }
  }
  /// Of this rank alone: others may not come, or be killed before they can.
  void leave() noexcept {
    transfer_.finish();
    if (file_ >= 0) close(file_);
    if (!committed_) std::remove(temporary_.c_str());
    RemovedWhenInterrupted::end();
  }

  const Comm& comm_;
  std::string path_;
  std::string temporary_;
  std::string problem_;
  int file_ = -1;
  std::string writing_;
  FileTransfer transfer_;
  std::uint64_t size_ = 0;
  bool committed_ = false;
};

/// Rank 0 writes what it gets from the others.
class StandardOutput final : public Output {
 public:
  explicit StandardOutput(const Comm& comm) : comm_(comm) {
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // errors of the write
  }

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
  const auto fail = [&](int error) {
    problem_ = fmt::format("wisp sort: temporary files in {} failed: {}; see --temporary-directory", folder_,
                           std::strerror(error));
  };
  if (file_ < 0) {
    std::string name = folder_ + "/wisp-sort-XXXXXX";
    file_ = mkstemp(name.data());
    if (file_ < 0) return fail(errno);
    unlink(name.c_str());  // nothing is left, however this ends
  }
  const auto write_rest = [&](std::size_t done) {
    return ::write(file_, block.bytes.get() + done, block.size - done);
  };
  if (const int error = move_all(block.size, write_rest)) return fail(error);
  file_bytes_ += block.size;
}

void RunStore::finish(const Comm& comm) {
  if (problem_.empty() && file_bytes_ > 0) {
    void* const mapped = mmap(nullptr, file_bytes_, PROT_READ, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED) {
      problem_ = fmt::format("wisp sort: mapping a temporary file failed: {}", std::strerror(errno));
    } else {
      mapped_ = static_cast<const std::byte*>(mapped);
      madvise(mapped, file_bytes_, MADV_RANDOM);
    }
  }
  agree_on_errors(comm, problem_);
}

std::span<const std::byte> RunStore::run(std::size_t i) const {
  if (i >= runs_.size()) return {};
  const Run& run = runs_[i];
  return run.block.bytes != nullptr ? run.block.span() : std::span(mapped_ + run.offset, run.size);
}

void RunStore::will_read(std::span<const std::byte> part) const {
  if (mapped_ == nullptr || part.empty() || part.data() < mapped_ || part.data() >= mapped_ + file_bytes_)
    return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t most_at_once = std::size_t{1} << 18;  // of more, systems take the beginning
  const auto begin = static_cast<std::size_t>(part.data() - mapped_);
  for (std::size_t at = begin / page * page; at < begin + part.size(); at += most_at_once) {
    madvise(const_cast<std::byte*>(mapped_) + at, std::min(most_at_once, begin + part.size() - at),
            MADV_WILLNEED);
  }
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

}  // namespace wisp::cli
