#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "wisp/collectives.hpp"
#include "wisp/split.hpp"

// wisp groups: which ranks share a host, the value of an environment variable, or what a command says.

namespace wisp::cli {
namespace {

struct GroupsArguments {
  bool by_memory = false;
  std::string variable;
  std::vector<std::string> command;
};

/// For the shell, whatever is in it.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// What a command writes to standard output, without the line ends behind it.
std::string output_of(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += quoted(word) + " ";
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return "(cannot be run)";
  std::string output;
  std::array<char, 256> part;
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    output.append(part.data(), n);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fmt::format("(exit code {})", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  output.erase(output.find_last_not_of("\r\n") + 1);
  return output;
}

std::string color_of(const GroupsArguments& arguments) {
  if (!arguments.command.empty()) return output_of(arguments.command);
  if (arguments.by_memory) return shared_memory_name();
  if (arguments.variable.empty()) return host_name();
  const char* value = std::getenv(arguments.variable.c_str());
  return value == nullptr ? "(not set)" : value;
}

std::string title_of(const GroupsArguments& arguments) {
  if (!arguments.command.empty()) return fmt::format("{}", fmt::join(arguments.command, " "));
  if (arguments.by_memory) return "shared memory";
  return arguments.variable.empty() ? "host" : arguments.variable;
}

/// 0-3,8,10-11
std::string ranges_of(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < ranks.size(); first = end) {
    for (end = first + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;) ++end;
    if (!text.empty()) text += ",";
    text += end - first == 1 ? fmt::format("{}", ranks[first])
                             : fmt::format("{}-{}", ranks[first], ranks[end - 1]);
  }
  return text;
}

/// One piece of text of each rank of a communicator, at rank 0.
std::vector<std::string> gather_texts(const Comm& comm, const std::string& mine) {
  const auto size = static_cast<int>(mine.size());
  std::vector<int> sizes(comm.rank() == 0 ? detail::as_size(comm.size()) : 0);
  comm.gather(buffer_of(size), sizes, 0);
  std::string all(detail::as_size(std::reduce(sizes.begin(), sizes.end())), '\0');
  comm.gatherv(mine, Blocks(Buffer(all), sizes), 0);
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const int of : sizes) {
    texts.push_back(all.substr(at, detail::as_size(of)));
    at += detail::as_size(of);
  }
  return texts;
}

/// So that a line of the table is a line, and no more.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    if (c == '\n') {
      line += "\\n";
    } else if (is_control) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

int run_groups(const GroupsArguments& arguments) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const std::string color = color_of(arguments);
  const TwoLevels levels = two_level(comm, color);

  const Chain& members = levels.members;
  const bool is_leader = !levels.leaders.empty();
  std::vector<int> ranks(is_leader ? detail::as_size(members.size()) : 0);
  members.gather(buffer_of(comm.rank()), ranks, 0);
  if (!is_leader) return 0;

  const Comm leaders = levels.leaders.to_comm();
  const std::vector<std::string> names = gather_texts(leaders, on_one_line(color));
  const std::vector<std::string> lists = gather_texts(leaders, ranges_of(ranks));
  std::vector<int> sizes(leaders.rank() == 0 ? detail::as_size(leaders.size()) : 0);
  leaders.gather(buffer_of(members.size()), sizes, 0);
  if (leaders.rank() != 0) return 0;

  const std::string title = title_of(arguments);
  const std::string heading = arguments.command.empty() ? title : "output";
  std::size_t width = heading.size();
  for (const std::string& name : names) width = std::max(width, name.size());
  fmt::print("{} in {} by {}\n\n", counted(comm.size(), "rank"), counted(leaders.size(), "group"), title);
  const std::vector<Column> columns = {{5}, {6}, {width, Column::Side::left}, {0, Column::Side::left}};
  print_row(columns,
            {{"group", Color::bold}, {"size", Color::bold}, {heading, Color::bold}, {"ranks", Color::bold}});
  for (std::size_t g = 0; g < names.size(); ++g) {
    print_row(columns, {{fmt::format("{}", g)}, {fmt::format("{}", sizes[g])}, {names[g]}, {lists[g]}});
  }
  return 0;
}

}  // namespace

Command add_groups(CLI::App& app) {
  auto arguments = std::make_shared<GroupsArguments>();
  CLI::App* command = app.add_subcommand(
      "groups", "Print which ranks are on the same host, or have the same variable or output of a command");
  CLI::Option* by_memory = command->add_flag("--memory", arguments->by_memory,
                                             "Group the ranks that can share memory (MPI_COMM_TYPE_SHARED)");
  CLI::Option* variable = command->add_option(
      "--env", arguments->variable, "Group the ranks with the same value of this environment variable");
  variable->check([](const std::string& name) { return name.empty() ? "--env '' is no variable" : ""; });
  CLI::Option* by_command =
      command->add_option("command", arguments->command,
                          "Group the ranks on which this command writes the same: -- COMMAND ARGUMENTS…");
  command->footer(
      "Examples:\n"
      "  mpirun -n 64 wisp groups\n"
      "  mpirun -n 64 wisp groups --env SLURM_TOPOLOGY_ADDR\n"
      "  mpirun -n 64 wisp groups -- cat /sys/class/net/ib0/address");
  by_memory->excludes(variable)->excludes(by_command);
  variable->excludes(by_command);
  return {command, [arguments] { return run_groups(*arguments); }};
}

}  // namespace wisp::cli
