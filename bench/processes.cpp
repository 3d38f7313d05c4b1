#include "processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <thread>

#include "wisp/error.hpp"

namespace wisp::bench {
namespace {

struct Child {
  std::size_t task;
  std::FILE* told;
};

[[noreturn]] void compute(const std::function<std::string()>& task, int pipe) {
  std::string text;
  try {
    text = '+' + task();
  } catch (const std::exception& error) {
    text = std::string("-") + error.what();
  }
  std::FILE* const to = fdopen(pipe, "w");
  const bool is_written =
      to != nullptr && std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fclose(to) == 0;
  _exit(is_written ? 0 : 1);  // nothing of MPI's is ended here: it is the parent's
}

std::string read_all(std::FILE* from) {
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), from)) > 0;)
    text.append(part.data(), n);
  std::fclose(from);
  return text;
}

}  // namespace

std::vector<std::string> run_in_processes(const std::vector<std::function<std::string()>>& tasks) {
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> texts(tasks.size());
  std::map<pid_t, Child> running;
  std::fflush(nullptr);  // or children write it again
  for (std::size_t next = 0; next < tasks.size() || !running.empty();) {
    if (next < tasks.size() && running.size() < most) {
      int ends[2];
      if (pipe(ends) != 0) throw Error(MPI_ERR_OTHER, "wisp simulate: no pipe to another process");
      const pid_t child = fork();
      if (child < 0) throw Error(MPI_ERR_OTHER, "wisp simulate: no other process");
      if (child == 0) {
        close(ends[0]);
        compute(tasks[next], ends[1]);
      }
      close(ends[1]);
      running[child] = {next++, fdopen(ends[0], "r")};
      continue;
    }
    int status = 0;
    const pid_t ended = wait(&status);
    const auto found = running.find(ended);
    if (found == running.end()) continue;
    std::string text = read_all(found->second.told);
    if (text.empty() || text.front() != '+') {
      throw Error(MPI_ERR_OTHER, text.empty()
                                     ? "wisp simulate: a process ended before its simulation did (memory?)"
                                     : text.substr(1));
    }
    texts[found->second.task] = text.substr(1);
    running.erase(found);
  }
  return texts;
}

}  // namespace wisp::bench
