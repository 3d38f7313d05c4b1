#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "async/engine.hpp"
#include "trace/record.hpp"
#include "trace/trace_clock.hpp"
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

/// Records what one rank does. Under its engine's lock. What has been recorded is written when it is much,
/// after a second, and when nothing moves: whoever looks for a program that hangs or crashes finds it.
class Recorder final : public Attendant {
 public:
  Recorder(int rank, int ranks, std::string host, TraceClock clock, std::shared_ptr<TraceFile> file)
      : rank_(rank),
        ranks_(ranks),
        host_(std::move(host)),
        clock_(std::move(clock)),
        file_(std::move(file)) {}
  ~Recorder() override { flush(); }

  void attend_wait(std::chrono::nanoseconds idle, const Context*) override { attend_look(idle); }
  void attend_look(std::chrono::nanoseconds idle) override {
    if (idle > std::chrono::nanoseconds(longest_kept)) flush();
  }
  void attend_end() noexcept override { flush(); }

  /// In ticks of the clock, as the times of records that are added.
  std::uint64_t now() const { return clock_.ticks(); }
  /// What a record is told of an operation, which stays, and of a context.
  int operation(const char* name);
  int communicator(const Context& context);
  /// Whose the next message is that is sent, and with which tag there.
  void sending(const Context& context, int tag) { next_ = {0, &context, tag}; }
  /// What is known of it before it leaves.
  struct Sending {
    std::uint64_t begin = 0;
    const Context* context = nullptr;
    int tag = -1;
  };
  Sending begin_send() {
    Sending sending = std::exchange(next_, {});
    sending.begin = now();
    return sending;
  }
  /// Which World of those with so many members, the same on all of them, if they make theirs in one order.
  std::uint32_t number_of_world(std::uint32_t members) { return members + worlds_[members]++; }

  /// A new record, which `fill(record)` fills in its place: a copy of what has just been written takes ten
  /// times as long (wide loads wait for narrow stores).
  template <class Fill>
  void add(Fill fill) {
    constexpr std::size_t enough_to_pack = 512;
    TraceRecord& record = records_.emplace_back();
    fill(record);
    if (records_.size() >= enough_to_pack || record.end > flush_due_) [[unlikely]]
      write_some();
  }
  /// From `begin` on, until now; null: for messages of several contexts.
  void add_wait(const Context* context, std::uint64_t begin);
  void flush() noexcept;

 private:
  void write_some();
  void pack();

  static constexpr std::uint64_t longest_kept = 1'000'000'000;

  int rank_;
  int ranks_;
  std::string host_;
  TraceClock clock_;
  std::shared_ptr<TraceFile> file_;
  std::vector<TraceRecord> records_;  ///< not packed yet
  TraceWriter writer_;
  std::pair<const char*, int> latest_operation_{nullptr, -1};
  std::unordered_map<const char*, int> operations_;
  std::map<std::string, int> texts_;  ///< names of operations
  std::map<std::uint32_t, std::uint32_t> worlds_;
  Sending next_;                 ///< that is about to begin
  std::uint64_t flush_due_ = 0;  ///< in ticks
};

/// What passes while this lives is a wait, if there is a recorder.
class TracedWait {
 public:
  TracedWait(Recorder* recorder, const Context* context)
      : recorder_(recorder), context_(context), begin_(recorder != nullptr ? recorder->now() : 0) {}
  TracedWait(const TracedWait&) = delete;
  TracedWait& operator=(const TracedWait&) = delete;
  ~TracedWait() {
    if (recorder_ != nullptr) [[unlikely]]
      recorder_->add_wait(context_, begin_);
  }

 private:
  Recorder* recorder_;
  const Context* context_;
  std::uint64_t begin_;
};

/// Of the process: writes to the file WISP_TRACE.RANK, or WISP_TRACE.copyN.RANK; null where that is not set,
/// or cannot be written. Where there is no MPI_COMM_WORLD, the rank is that in `any`.
std::unique_ptr<Recorder> recorder_of_environment(MPI_Comm any);

}  // namespace wisp::detail
