#include "trace/recorder.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "comm/describe.hpp"
#include "comm/world.hpp"
#include "transport/mpi_process.hpp"
#include "transport/throw_error.hpp"

namespace wisp::detail {

TraceFile::TraceFile(std::string name) : name_(std::move(name)), file_(std::fopen(name_.c_str(), "wb")) {
  if (file_ == nullptr)
    throw_error(MPI_ERR_FILE, "wisp: the trace {} cannot be written: {}", name_, std::strerror(errno));
}

void TraceFile::append(const std::vector<std::byte>& chunk) noexcept {
  if (has_failed_) return;
  has_failed_ = std::fwrite(chunk.data(), 1, chunk.size(), file_.get()) != chunk.size() ||
                std::fflush(file_.get()) != 0;
  if (has_failed_)
    std::fprintf(stderr, "wisp: the trace %s ends here: %s\n", name_.c_str(), std::strerror(errno));
}

int Recorder::operation(const char* name) {
  const auto [known, is_new] = operations_.try_emplace(name, -1);
  if (is_new) {
    const auto [text, is_new_text] = texts_.try_emplace(name, -1);
    if (is_new_text) text->second = writer_.add_text(name);
    known->second = text->second;
  }
  return known->second;
}

int Recorder::communicator(const Context& context) {
  if (context.traced_name < 0) {
    const auto [text, is_new] = texts_.try_emplace(describe(context), -1);
    if (is_new) text->second = writer_.add_text(text->first);
    context.traced_name = text->second;
  }
  return context.traced_name;
}

void Recorder::add(const TraceRecord& record) {
  constexpr std::size_t enough = 1 << 20;
  writer_.add(record);
  if (writer_.bytes() > enough) flush();
}

void Recorder::add_wait(const Context& context, std::uint64_t begin) {
  TraceRecord record;
  record.begin = begin;
  record.end = now();
  record.communicator = communicator(context);
  add(record);
}

void Recorder::flush() noexcept {
  if (writer_.bytes() > 0) file_->append(writer_.take_chunk(rank_, host_));
}

std::unique_ptr<Recorder> recorder_of_environment() {
  const char* name = std::getenv("WISP_TRACE");
  if (name == nullptr || *name == '\0') return nullptr;
  int rank = 0;
  if (has_mpi_world()) check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
  const auto clock = [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  };
  const auto file = std::make_shared<TraceFile>(formatted("{}.{}", name, rank));
  return std::make_unique<Recorder>(rank, host, clock, file);
}

}  // namespace wisp::detail
