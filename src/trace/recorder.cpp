#include "trace/recorder.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "comm/describe.hpp"
#include "comm/world.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

// Emptied once it is locked: what another one writes is left as it is. Not kept open by programs that this
// one starts ("e").
TraceFile::TraceFile(std::string name) : name_(std::move(name)), file_(std::fopen(name_.c_str(), "abe")) {
  if (file_ == nullptr)
    throw_error(MPI_ERR_FILE, "wisp: the trace {} cannot be written: {}", name_, std::strerror(errno));
  const int file = fileno(file_.get());
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_error(MPI_ERR_FILE_IN_USE, "wisp: the trace {} cannot be written: another recorder writes it",
                name_);
  if (ftruncate(file, 0) != 0 && errno != EINVAL)  // EINVAL: it is no file on a disk
    throw_error(MPI_ERR_FILE, "wisp: the trace {} cannot be emptied: {}", name_, std::strerror(errno));
}

void TraceFile::append(const std::vector<std::byte>& chunk) noexcept {
  if (has_failed_) return;
  has_failed_ = std::fwrite(chunk.data(), 1, chunk.size(), file_.get()) != chunk.size() ||
                std::fflush(file_.get()) != 0;
  if (has_failed_)
    std::fprintf(stderr, "wisp: the trace %s ends here: %s\n", name_.c_str(), std::strerror(errno));
}

[[gnu::hot]] int Recorder::operation(const char* name) {
  if (name == latest_operation_.first) return latest_operation_.second;
  const auto [known, is_new] = operations_.try_emplace(name, -1);
  if (is_new) {
    const auto [text, is_new_text] = texts_.try_emplace(name, -1);
    if (is_new_text) text->second = writer_.add_text(name);
    known->second = text->second;
  }
  latest_operation_ = {name, known->second};
  return known->second;
}

[[gnu::hot]] int Recorder::communicator(const Context& context) {
  // Written for each, also where others have the same name: so they can be told apart.
  if (context.traced_name < 0) context.traced_name = writer_.add_text(describe(context));
  return context.traced_name;
}

void Recorder::write_some() {
  // Many are packed in a row: what a message finds in the cache is that of the program.
  constexpr std::size_t enough_to_write = 1 << 16;
  const bool is_due = records_.back().end > flush_due_;
  pack();
  if (is_due || writer_.bytes() > enough_to_write) flush();
}

void Recorder::pack() {
  clock_.compare(now());
  for (TraceRecord& record : records_) {
    record.begin = clock_.nanoseconds(record.begin);
    record.end = std::max(record.begin, clock_.nanoseconds(record.end));
    writer_.add(record);
  }
  records_.clear();
}

[[gnu::hot]] void Recorder::add_wait(const Context* context, std::uint64_t begin) {
  const int of = context != nullptr ? communicator(*context) : -1;
  add([&](TraceRecord& record) {
    record.begin = begin;
    record.end = now();
    record.communicator = of;
  });
}

void Recorder::flush() noexcept {
  pack();
  flush_due_ = now() + clock_.ticks_of(longest_kept);
  if (writer_.bytes() > 0) file_->append(writer_.take_chunk(rank_, ranks_, host_));
}

namespace {

/// Processes that others have started count their ranks from 0, too.
bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
#ifndef SMPI_H
  if (has_mpi_world()) check_mpi(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
#endif
  return parent != MPI_COMM_NULL;
}

/// NAME.RANK, or NAME.copyN.RANK where the copies of wisp before have theirs in this process: a program that
/// has wisp in it and runs on the preload, or one with several plugins.
std::shared_ptr<TraceFile> file_of_copy(const std::string& name, int rank) {
  constexpr int most = 64;
  for (int copy = 1;; ++copy) {
    const std::string own_name = copy > 1 ? formatted("{}.copy{}", name, copy) : name;
    try {
      auto file = std::make_shared<TraceFile>(formatted("{}.{}", own_name, rank));
      if (copy > 1 && rank == 0)
        std::fprintf(stderr, "wisp: another recorder writes the trace %s, this one %s\n", name.c_str(),
                     own_name.c_str());
      return file;
    } catch (const Error& error) {
      if (error.error_class() != MPI_ERR_FILE_IN_USE || copy == most) throw;
    }
  }
}

}  // namespace

std::unique_ptr<Recorder> recorder_of_environment(MPI_Comm any) {
  const char* name = std::getenv("WISP_TRACE");
  if (name == nullptr || *name == '\0') return nullptr;
  const MPI_Comm all = has_mpi_world() ? MPI_COMM_WORLD : any;
  int rank = 0;
  int ranks = 0;
  check_mpi(MPI_Comm_rank(all, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(all, &ranks), "MPI_Comm_size");
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
  try {
    const auto file = file_of_copy(formatted("{}{}", name, is_spawned() ? ".spawned" : ""), rank);
    return std::make_unique<Recorder>(rank, ranks, host, TraceClock(), file);
  } catch (const Error& error) {  // of one rank alone: the program goes on, and the others do
    std::fprintf(stderr, "%s (WISP_TRACE = %s): nothing is recorded\n", error.what(), name);
    return nullptr;
  }
}

}  // namespace wisp::detail
