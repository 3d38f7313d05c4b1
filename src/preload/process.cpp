#include "preload/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "preload/progress.hpp"
#include "transport/mpi_engine.hpp"
#include "transport/mpi_library.hpp"
#include "transport/throw_error.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::preload {
namespace {

using detail::as_size;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The four texts that say everything, each with a zero behind it.
std::string read_environment() {
  std::string table;
  if (const std::string file = variable("WISP_PRELOAD_TABLE"); !file.empty()) {
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file))
      detail::throw_error(MPI_ERR_ARG, "WISP_PRELOAD_TABLE: {} cannot be read", file);
    table.assign(std::istreambuf_iterator<char>(in), {});
    if (table.empty()) detail::throw_error(MPI_ERR_ARG, "WISP_PRELOAD_TABLE: {} is empty", file);
  }
  std::string all;
  for (const std::string& text :
       {variable("WISP_PRELOAD"), variable("WISP_PRELOAD_AFTER"), variable("WISP_PRELOAD_REPORT"), table}) {
    all += text;
    all += '\0';
  }
  return all;
}

Settings parse(const std::string& all) {
  std::array<std::string_view, 4> texts;
  std::string_view rest = all;
  for (std::string_view& text : texts) {
    text = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(text.size() + 1);
  }
  return Settings::parse(texts[0], texts[1], texts[2], texts[3]);
}

[[noreturn]] void refuse(const char* sentence) {
  std::fprintf(stderr, "wisp preload: %s\n", sentence);
  std::fflush(stderr);
  // MPICH's mpiexec ends without what it has not read by then.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  PMPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

}  // namespace

constinit Process process;

bool Process::wants_threads() {
  try {
    return Settings::parse(variable("WISP_PRELOAD"), "", "", "").may_start_any();
  } catch (const std::exception&) {
    return false;  // said when all have begun
  }
}

Process::ThreadsSetting::ThreadsSetting() {
  const bool is_open_mpi = detail::is_open_mpi();
  if (is_open_mpi || detail::library_version().starts_with("MPICH"))
    name_ = is_open_mpi ? "OMPI_MPI_THREAD_LEVEL" : "MPIR_CVAR_DEFAULT_THREAD_LEVEL";
  if (name_ == nullptr) return;
  const char* const wanted = is_open_mpi ? "3" : "MPI_THREAD_MULTIPLE";
  if (const char* const users = std::getenv(name_)) {
    if (std::string_view(users) != wanted) name_ = nullptr;  // the call that asks for more has the last word
    return;
  }
  is_ours_ = setenv(name_, wanted, 0) == 0;
  if (!is_ours_) name_ = nullptr;
}

Process::ThreadsSetting::~ThreadsSetting() {
  if (is_ours_) unsetenv(name_);  // what the program starts does not get it
}

void Process::begin(int level) {
  level_ = level;
  int rank = 0;
  int size = 0;
  int served_level = MPI_THREAD_SINGLE;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Query_thread(&served_level);
  // Ranks may have other levels.
  int serves[] = {level < MPI_THREAD_MULTIPLE ? 1 : 0, served_level == MPI_THREAD_MULTIPLE ? 1 : 0};
  PMPI_Allreduce(MPI_IN_PLACE, serves, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);

  try {
    std::string all = rank == 0 ? read_environment() : std::string();
    unsigned long long length = all.size();
    PMPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    all.resize(length);
    PMPI_Bcast(all.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
    settings_ = new Settings(parse(all));
  } catch (const std::exception& error) {
    // The same on all ranks, but for a file that rank 0 cannot read.
    if (rank == 0) refuse(error.what());
    return;
  }
  counts_ = settings_->reports;
  if (serves[0] == 0) {
    refusal_ =
        "the program asks for MPI_THREAD_MULTIPLE (one of mpi4py does not with MPI4PY_RC_THREADS=0 in its "
        "environment)";
  } else if (size < 2) {
    refusal_ = "there is one rank";
  }
  if (refusal_ != nullptr) return;
  // Who calls MPI from a thread that may not did so before, and most MPIs bear it.
  detail::MpiEngine::of_process(MPI_COMM_SELF)->trust_threads();
  const std::size_t forms = serves[1] != 0 ? form_count : 1;
  for (std::size_t form = 0; form < forms; ++form) {
    for (std::size_t i = 0; i < call_count; ++i) {
      if (settings_->may_take(static_cast<Form>(form), static_cast<Call>(i))) {
        may_take_[form] |= std::uint32_t{1} << i;
      }
    }
  }
  if (!settings_->may_start_any()) return;
  if (forms == 1) {
    lacks_threads_ = true;
    return;
  }
  // Any blocking call prepares its communicator for those that do not block.
  for (std::size_t i = 0; i < call_count; ++i) {
    const auto call = static_cast<Call>(i);
    const bool is_started = may_take(Form::nonblocking, call) || may_take(Form::persistent, call);
    if (is_started || !is_of_neighbors(call)) may_take_[0] |= std::uint32_t{1} << i;
  }
  progress.begin();
}

void Process::report() const {
  constexpr int numbers = 4;  // calls and nanoseconds, native and taken
  std::vector<unsigned long long> mine;
  for (const auto& of_call : counters_) {
    for (const Counter& counter : of_call) {
      mine.push_back(counter.calls);
      mine.push_back(counter.nanoseconds);
    }
  }
  std::vector<unsigned long long> most(mine.size());
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(mine.data(), most.data(), static_cast<int>(mine.size()), MPI_UNSIGNED_LONG_LONG, MPI_MAX, 0,
              MPI_COMM_WORLD);
  if (rank != 0) return;
  std::fprintf(stderr,
               "wisp preload: calls and milliseconds of the rank that has most\n  %-24s%12s%12s%12s%12s\n",
               "", "by wisp", "ms", "by MPI", "ms");
  unsigned long long by_wisp = 0;
  unsigned long long by_mpi = 0;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const unsigned long long* of_call = most.data() + numbers * i;
    if (of_call[0] + of_call[2] == 0) continue;
    by_mpi += of_call[0];
    by_wisp += of_call[2];
    const std::string name = name_of(static_cast<Call>(i % call_count), static_cast<Form>(i / call_count));
    std::fprintf(stderr, "  %-24s%12llu%12.3f%12llu%12.3f\n", name.c_str(), of_call[2],
                 static_cast<double>(of_call[3]) * 1e-6, of_call[0], static_cast<double>(of_call[1]) * 1e-6);
  }
  if (lacks_threads_) {
    std::fprintf(stderr,
                 "  nonblocking and persistent calls are MPI's: it does not serve MPI_THREAD_MULTIPLE, or "
                 "not every rank's environment names them\n");
  }
  if (by_wisp == 0 && by_mpi > 0)
    std::fprintf(stderr, "  nothing was taken over: %s\n", why_nothing(by_mpi).c_str());
  std::fflush(stderr);
}

std::string Process::why_nothing(unsigned long long calls) const {
  if (refusal_ != nullptr) return refusal_;
  const Settings& of = settings();
  if (calls <= static_cast<unsigned long long>(of.calls_before)) {
    return "no communicator had more than " + std::to_string(of.calls_before) + " of them (--after)";
  }
  if (of.is_named) return "it is not named (--calls), or not with its size, or is among the first (--after)";
  if (shares_cores_) {
    return "without a table for this many ranks (wisp tune, --table) nothing is where ranks outnumber cores";
  }
  return "by the cost model, or the table, nothing pays (wisp tune measures, --calls names what is taken)";
}

void Process::end() {
  progress.end();
  if (counts_) report();
  take_no_more();
  counts_ = false;
}

}  // namespace wisp::preload
