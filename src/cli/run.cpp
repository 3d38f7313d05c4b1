#include "cli/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"

// wisp run -- PROGRAM: sets what the preload reads, and becomes the program.

namespace wisp::cli {
namespace {

struct Arguments {
  std::string calls;
  std::string table;
  int after = -1;
  bool reports = false;
  std::vector<std::string> program;
};

void add_options(CLI::App& command, Arguments& arguments) {
  CLI::Option* calls = command.add_option(
      "--calls", arguments.calls,
      "What is taken over, as in gatherv,ibcast,bcast_init,reduce:4096,scan:64-4096 (all sizes, up to so "
      "many bytes, or between); 'all', 'iall', 'all_init', 'none'; without it, what pays");
  command.add_option("--table", arguments.table, "What wisp tune has measured")->excludes(calls);
  command.add_option("--after", arguments.after, "Calls of a communicator that are left to MPI (16)")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  command.add_flag("--report", arguments.reports, "Say at the end how often each call was taken over");
  command.add_option("PROGRAM", arguments.program, "The program, and its own arguments")->required();
  command.footer(
      "Examples:\n"
      "  mpirun -n 64 wisp run -- ./simulation input.txt\n"
      "  mpirun -n 64 wisp run --report --calls gatherv,alltoallv -- ./simulation input.txt");
}

/// Beside the program's folder, where it was built as where it is installed.
std::filesystem::path find_library() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* relative : {WISP_LIB_FROM_BIN, "../lib"}) {
    const std::filesystem::path file = folder / relative / "libwisp_preload.so";
    if (std::filesystem::exists(file, error)) return std::filesystem::canonical(file, error);
  }
  return {};
}

void set(const char* name, const std::string& value) {
  if (!value.empty()) ::setenv(name, value.c_str(), 1);
}

int become(const Arguments& arguments) {
  const std::filesystem::path library = find_library();
  if (library.empty()) {
    fmt::print(stderr, "wisp run: libwisp_preload.so is not where this program's library folder is\n");
    return 2;
  }
  if (library.string().find_first_of(" :") != std::string::npos) {
    fmt::print(stderr, "wisp run: {} cannot be preloaded: its path has a blank or a colon\n",
               library.string());
    return 2;
  }
  const char* before = std::getenv("LD_PRELOAD");
  set("LD_PRELOAD", before == nullptr ? library.string() : fmt::format("{}:{}", library.string(), before));
  set("WISP_PRELOAD", arguments.calls);
  // The program may go elsewhere before MPI_Init, where it is read.
  set("WISP_PRELOAD_TABLE",
      arguments.table.empty() ? "" : std::filesystem::absolute(arguments.table).string());
  if (arguments.after >= 0) set("WISP_PRELOAD_AFTER", fmt::format("{}", arguments.after));
  if (arguments.reports) set("WISP_PRELOAD_REPORT", "1");
  std::vector<char*> program;
  for (const std::string& one : arguments.program) program.push_back(const_cast<char*>(one.c_str()));
  program.push_back(nullptr);
  ::execvp(program.front(), program.data());
  fmt::print(stderr, "wisp run: {}: {}\n", program.front(), std::strerror(errno));
  return 127;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("run", "Run an unmodified MPI program with wisp's collectives under it");
  add_options(*command, *arguments);
  return {command, [] { return 2; }};  // run_preloaded has done it before
}

namespace {

/// The arguments behind `wisp run`, the last one first: options behind the program are the program's, also
/// where there is no -- before it.
std::vector<std::string> with_program_apart(const CLI::App& app, int argc, char** argv,
                                            std::vector<std::string>& of_program) {
  std::vector<std::string> all(argv + 2, argv + argc);
  auto next = all.begin();
  for (; next != all.end() && *next != "--"; ++next) {
    if (!next->starts_with('-')) {
      next = all.insert(next, "--");
      break;
    }
    const CLI::Option* option = app.get_option_no_throw(*next);
    const bool takes_value = option != nullptr && option->get_expected_max() > 0;
    if (takes_value && next + 1 != all.end()) ++next;
  }
  // CLI11 would take apart what is in brackets: it sees the program's name alone.
  if (all.end() - next > 2) {
    of_program.assign(next + 2, all.end());
    all.erase(next + 2, all.end());
  }
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace

int run_preloaded(int argc, char** argv) {
  CLI::App app("Run an unmodified MPI program with wisp's collectives under it", "wisp run");
  Arguments arguments;
  add_options(app, arguments);
  std::vector<std::string> of_program;
  try {
    app.parse(with_program_apart(app, argc, argv, of_program));
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "wisp run: {}\n", error.what());
    return 2;
  }
  arguments.program.insert(arguments.program.end(), of_program.begin(), of_program.end());
  return become(arguments);
}

}  // namespace wisp::cli
