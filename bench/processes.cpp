#include "processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <thread>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "wisp/detail/frame_pool.hpp"
#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct Pipe {
  File from;
  File to;

  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw Error(MPI_ERR_OTHER, "wisp simulate: no pipe to another process");
    from.reset(fdopen(ends[0], "r"));
    to.reset(fdopen(ends[1], "w"));
  }
};

/// Where an answer begins: which task it is of, how long it is, and whether it is what was thrown.
struct AnswerHead {
  std::uint32_t task;
  std::uint32_t bytes;
  bool is_error;
};

/// What is freed stays with this process: the system clears a page once, not for each simulation.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
  wisp::detail::FramePool::let_rest(std::size_t{1} << 30);  // what many thousands of ranks hold
}
/// As much as possible in one piece, as in a new process: in memory that lies about, a simulation takes a
/// fifth longer.
void tidy_memory() {
  wisp::detail::FramePool::clear();
  ::operator delete(::operator new(1 << 20));  // malloc joins small pieces when a large one is freed
}

/// Tasks whose numbers come, one after the other, until there is none or one throws.
void compute(const std::vector<std::function<std::string()>>& tasks, int numbers, std::FILE* to) {
  keep_memory();
  std::uint32_t task = 0;
  // Other processes read there too: not more than one number at a time.
  while (read(numbers, &task, sizeof(task)) == sizeof(task)) {
    bool is_error = false;
    std::string text;
    try {
      text = tasks[task]();
    } catch (const std::exception& error) {
      is_error = true;
      text = error.what();
    }
    const AnswerHead head{task, static_cast<std::uint32_t>(text.size()), is_error};
    std::fwrite(&head, sizeof(head), 1, to);
    std::fwrite(text.data(), 1, text.size(), to);
    if (std::fflush(to) != 0 || is_error) return;
    tidy_memory();
  }
}

/// The texts of one process, until it ends.
void read_texts(std::FILE* from, std::vector<std::string>& texts, std::size_t& told) {
  AnswerHead head{};
  while (std::fread(&head, sizeof(head), 1, from) == 1) {
    std::string text(head.bytes, '\0');
    if (std::fread(text.data(), 1, text.size(), from) != text.size()) return;
    if (head.is_error) throw Error(MPI_ERR_OTHER, text);
    texts[head.task] = text;
    ++told;
  }
}

}  // namespace

std::vector<std::string> run_in_processes(const std::vector<std::function<std::string()>>& tasks) {
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> texts(tasks.size());
  Pipe numbers;
  // Each process takes the next number, of those that a pipe holds. From the end: benchmarks list what is
  // short before what is long, and what is short shall come last.
  constexpr std::size_t pipe_bytes = 65536;
  if (tasks.size() > pipe_bytes / sizeof(std::uint32_t))
    throw Error(MPI_ERR_OTHER, "wisp simulate: more simulations than a pipe holds numbers");
  for (auto task = static_cast<std::uint32_t>(tasks.size()); task-- > 0;) {
    std::fwrite(&task, sizeof(task), 1, numbers.to.get());
  }
  numbers.to.reset();
  std::fflush(nullptr);  // or children write it again
  std::vector<pid_t> children;
  std::vector<File> answers;
  for (std::size_t i = 0; i < std::min(most, tasks.size()); ++i) {
    Pipe told;
    const pid_t child = fork();
    if (child < 0 && children.empty()) throw Error(MPI_ERR_OTHER, "wisp simulate: no other process");
    if (child < 0) break;  // fewer do
    if (child == 0) {
      compute(tasks, fileno(numbers.from.get()), told.to.get());
      _exit(0);  // nothing of MPI's is ended here: it is the parent's
    }
    children.push_back(child);
    answers.push_back(std::move(told.from));
  }
  std::size_t told = 0;
  for (const File& from : answers) read_texts(from.get(), texts, told);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  if (told < tasks.size()) {
    throw Error(MPI_ERR_OTHER, "wisp simulate: a process ended before its simulation did (memory?)");
  }
  return texts;
}

}  // namespace wisp::bench
