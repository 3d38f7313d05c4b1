#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cli/bad_input.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/run.hpp"
#include "cli/terminal.hpp"
#include "cli/world_rank.hpp"
#include "harness.hpp"
#include "wisp/error.hpp"
#include "wisp/version.h"

namespace wisp::cli {
namespace {

constexpr const char* unwritable_output = "wisp: standard output cannot be written";

/// To stderr, if it can be written.
void say(const std::string& sentence) noexcept {
  std::fputs((sentence + "\n").c_str(), stderr);
  std::fflush(stderr);
}

/// Says on rank 0 what is wrong with the call.
int refuse(int rank, const std::string& sentence) {
  if (rank == 0) say(in_color(Color::red, sentence, stderr));
  return 2;
}

/// Of what each rank found wrong with the call (in its own files and environment) the first, on all ranks; or
/// that their calls differ. Empty: it is right everywhere. Collective.
std::string agree_on_call(int argc, char** argv, const std::string& sentence) {
  std::string call;
  for (int i = 1; i < argc; ++i) call += std::string(argv[i]) + '\0';
  const auto hash = static_cast<unsigned long long>(std::hash<std::string>()(call));
  const int rank = world_rank();
  const int size = world_size();
  // The smallest hash, the largest as its complement, and the first rank that has something to say.
  unsigned long long least[] = {hash, ~hash, static_cast<unsigned long long>(sentence.empty() ? size : rank)};
  detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD),
                    "MPI_Allreduce");
  if (least[0] != ~least[1]) return "wisp: the ranks were called with different arguments";
  const int first = static_cast<int>(least[2]);
  if (first == size) return "";
  std::array<char, 1024> text{};
  sentence.copy(text.data(), text.size() - 1);
  detail::check_mpi(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first, MPI_COMM_WORLD),
                    "MPI_Bcast");
  return first == 0 ? text.data() : fmt::format("{} (on rank {})", text.data(), first);
}

Command add_completion(CLI::App& app, int rank) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* command =
      app.add_subcommand("completion", "Print a script with which a shell completes commands");
  command->add_option("SHELL", *shell, "The shell")
      ->check(one_of({"bash", "zsh", "fish"}))
      ->capture_default_str();
  command->footer(
      "  mkdir -p ~/.local/share/bash-completion/completions\n"
      "  wisp completion bash > ~/.local/share/bash-completion/completions/wisp");
  return {command, [&app, shell, rank] {
            if (rank == 0) fmt::print("{}", completion(app, *shell));
            return 0;
          }};
}

Command add_man(CLI::App& app, int rank) {
  CLI::App* command = app.add_subcommand("man", "Print this program's manual page");
  command->footer("  wisp man > wisp.1 && man -l wisp.1");
  return {command, [&app, rank] {
            if (rank == 0) fmt::print("{}", man_page(app));
            return 0;
          }};
}

/// Reads the command line and runs the command on every rank; only rank 0 speaks.
int run(int argc, char** argv) {
  const int rank = world_rank();
  CLI::App app("Weightless process groups and collectives for MPI", "wisp");
  app.set_version_flag("--version", fmt::format("wisp {} on {}", WISP_VERSION, bench::mpi_name()));
  app.require_subcommand(1);
  const auto commands = {add_doctor(app),   add_groups(app), add_sort(app),
                         add_run(app),      add_tune(app),   add_bench(app),
                         add_simulate(app), add_trace(app),  add_completion(app, rank),
                         add_man(app, rank)};
  std::string wrong;
  if (argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const Command& command : commands) names.push_back(command.app->get_name());
    if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
      wrong = fmt::format("wisp: there is no command '{}'{}\ncommands: {}", argv[1],
                          suggestion(argv[1], names), fmt::join(names, ", "));
    }
  }
  std::optional<CLI::Success> help;
  try {
    if (wrong.empty()) app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    help = asked;
  } catch (const CLI::ParseError& error) {
    wrong = fmt::format("wisp: {}", error.what());
  }
  wrong = agree_on_call(argc, argv, wrong);
  if (!wrong.empty()) return refuse(rank, wrong);
  if (help) return rank == 0 ? app.exit(*help) : 0;
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    try {
      return command.run();
    } catch (const BadInput& error) {
      return refuse(rank, error.what());
    }
  }
  return 2;
}

/// A simulation waits mostly for memory: with pages of 2 MiB it takes a sixth to a half less. malloc asks for
/// them only if it is told so before the program begins.
void begin_with_huge_pages(char** argv) {
  // Begun already, or the user knows better; under SMPI the program is a library of another one.
  if (std::getenv("GLIBC_TUNABLES") != nullptr || bench::is_simulated_mpi()) return;
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0);
  std::error_code error;
  ::execv(std::filesystem::read_symlink("/proc/self/exe", error).c_str(), argv);
}

}  // namespace
}  // namespace wisp::cli

int main(int argc, char** argv) {
  using namespace std::string_view_literals;
  if (argc > 1 && argv[1] == "run"sv) return wisp::cli::run_preloaded(argc, argv);
  if (argc > 1 && argv[1] == "simulate"sv) wisp::cli::begin_with_huge_pages(argv);
  // Only one benchmark calls MPI from several threads, which costs all others something.
  const bool wants_threads = argc > 2 && argv[1] == "bench"sv && argv[2] == "threads"sv;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // errors become exceptions
  int code = 1;
  try {
    code = wisp::cli::run(argc, argv);
  } catch (const std::exception& error) {
    // What was not foreseen may have happened on this rank alone: the others must not wait for it.
    const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    const char* const why = is_memory ? "wisp: a rank has no memory left" : error.what();
    wisp::cli::say(std::ferror(stdout) != 0 ? wisp::cli::unwritable_output : why);
    // MPICH's mpiexec ends without what it has not read by then.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == 0) {
    wisp::cli::say(wisp::cli::unwritable_output);
    code = 1;
  }
  MPI_Finalize();
  return code;
}
