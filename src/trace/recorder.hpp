#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "trace/record.hpp"
#include "wisp/posted.hpp"

namespace wisp::detail {

/// A file that traces are written to, whole chunks at a time.
class TraceFile {
 public:
  /// An Error if it cannot be written.
  explicit TraceFile(std::string name);

  void append(const std::vector<std::byte>& chunk) noexcept;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  bool has_failed_ = false;
};

/// Records what one rank does. Under its engine's lock.
class Recorder {
 public:
  /// Nanoseconds.
  using Clock = std::function<std::uint64_t()>;

  Recorder(int rank, std::string host, Clock clock, std::shared_ptr<TraceFile> file)
      : rank_(rank), host_(std::move(host)), now_(std::move(clock)), file_(std::move(file)) {}
  ~Recorder() { flush(); }

  std::uint64_t now() const { return now_(); }
  /// What a record is told of an operation, which stays, and of a context.
  int operation(const char* name);
  int communicator(const Context& context);
  /// Which World of those with so many members, the same on all of them, if they make theirs in one order.
  std::uint64_t number_of_world(std::uint64_t members) { return members + worlds_[members]++; }

  void add(const TraceRecord& record);
  /// From `begin` on, until now.
  void add_wait(const Context& context, std::uint64_t begin);
  void flush() noexcept;

 private:
  int rank_;
  std::string host_;
  Clock now_;
  std::shared_ptr<TraceFile> file_;
  TraceWriter writer_;
  std::unordered_map<const char*, int> operations_;
  std::map<std::string, int> texts_;
  std::map<std::uint64_t, std::uint64_t> worlds_;
};

/// Of the process: writes to the file WISP_TRACE.RANK; null where that is not set.
std::unique_ptr<Recorder> recorder_of_environment();

}  // namespace wisp::detail
