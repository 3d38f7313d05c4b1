#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/bad_input.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cli/trace_picture.hpp"
#include "cli/world_rank.hpp"
#include "trace/timeline.hpp"
#include "wisp/error.hpp"

// wisp trace: a page about what WISP_TRACE or wisp simulate --trace has recorded.

namespace wisp::cli {
namespace {

namespace fs = std::filesystem;

struct TraceArguments {
  std::string file;
  std::string output;
  double begin = 0;
  double end = 0;
  std::size_t messages = 5000;
  std::size_t operations = 20000;
};

/// The file, or those of ranks: FILE.0, FILE.1, …; what is newer.
std::vector<fs::path> files_of(const fs::path& file) {
  const fs::path first = file.string() + ".0";
  const bool has_ranks = fs::is_regular_file(first);
  if (fs::is_regular_file(file) && (!has_ranks || fs::last_write_time(file) > fs::last_write_time(first)))
    return {file};
  std::vector<fs::path> files;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const std::string begin = file.filename().string() + ".";
  std::error_code no_folder;
  for (const auto& entry : fs::directory_iterator(folder, no_folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || name.size() == begin.size()) continue;
    if (std::ranges::all_of(name.substr(begin.size()), [](char c) { return c >= '0' && c <= '9'; }))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

detail::Timeline read(const std::string& name) {
  const std::vector<fs::path> files = files_of(name);
  if (files.empty())
    throw BadInput(fmt::format("wisp trace: there is no file {0}, and none of ranks ({0}.0, …)", name));
  std::vector<detail::RankTrace> ranks;
  auto newest = fs::file_time_type::min();
  int all = 0;
  for (const fs::path& file : files) {
    const std::size_t before = ranks.size();
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (in.bad()) throw BadInput(fmt::format("wisp trace: {} cannot be read", file.string()));
    try {
      if (detail::read_trace(std::as_bytes(std::span(bytes)), file.string(), ranks))
        fmt::print(stderr, "wisp trace: {} is cut off; its last records are left out\n", file.string());
    } catch (const Error& error) {
      throw BadInput(error.what());
    }
    if (ranks.size() > before && fs::last_write_time(file) > newest) {
      newest = fs::last_write_time(file);
      all = ranks.back().ranks;
    }
  }
  // Those of an earlier run with more ranks have not been written again.
  const auto left_over = std::erase_if(
      ranks, [all](const detail::RankTrace& one) { return one.ranks != all || one.rank >= all; });
  if (left_over > 0) {
    fmt::print(stderr, "wisp trace: {} of an earlier run, with another number of ranks, left out\n",
               counted(static_cast<long long>(left_over), "file"));
  }
  return detail::timeline_of(ranks);
}

int trace(const TraceArguments& arguments) {
  const detail::Timeline timeline = read(arguments.file);
  if (timeline.messages.empty())
    throw BadInput(fmt::format("wisp trace: {} holds no message", arguments.file));
  const Window window{arguments.begin, arguments.end > 0 ? arguments.end : timeline.seconds,
                      arguments.messages, arguments.operations};
  if (window.begin >= window.end) {
    throw BadInput(fmt::format("wisp trace: nothing is between --begin {} and the end, {}",
                               time_text(window.begin), time_text(window.end)));
  }
  for (const fs::path& file : files_of(arguments.file)) {
    std::error_code is_new;
    if (!fs::equivalent(file, arguments.output, is_new) || is_new) continue;
    throw BadInput(
        fmt::format("wisp trace: {} is the trace; the page needs a file of its own", arguments.output));
  }
  const bool is_picture = fs::path(arguments.output).extension() == ".svg";
  std::ofstream out(arguments.output, std::ios::binary);
  out << (is_picture ? picture(timeline, window)
                     : page(timeline, window, fs::path(arguments.file).filename().string()));
  out.close();
  if (!out) {
    throw BadInput(
        fmt::format("wisp trace: {} cannot be written: {}", arguments.output, std::strerror(errno)));
  }
  double in_messages = 0;
  for (const detail::PathStep& step : timeline.critical_path)
    in_messages += step.message >= 0 ? step.end - step.begin : 0;
  fmt::print("{}, {}, {}; the critical path passes {} in them\n{}\n", counted(timeline.ranks, "rank"),
             counted(static_cast<long long>(timeline.messages.size()), "message"),
             time_text(timeline.seconds), time_text(in_messages), arguments.output);
  return 0;
}

}  // namespace

Command add_trace(CLI::App& app) {
  auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command =
      app.add_subcommand("trace", "Make a page of what WISP_TRACE or wisp simulate --trace has recorded");
  command->add_option("FILE", arguments->file, "The trace: the value of WISP_TRACE")->required();
  command->add_option("--output", arguments->output,
                      "The page, or, with the ending .svg, the picture alone; without it, FILE.html");
  const std::map<std::string, double> seconds = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  command
      ->add_option("--begin", arguments->begin, "Draw from here on, as in 20ms; without it, from the start")
      ->transform(with_unit(seconds, Zero::allowed));
  command->add_option("--end", arguments->end, "Draw up to here; without it, to the end")
      ->transform(with_unit(seconds));
  command->add_option("--messages", arguments->messages, "Draw no more than these")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()))
      ->capture_default_str();
  command->add_option("--operations", arguments->operations, "The same, the longest of them")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  WISP_TRACE=run.trace mpirun -n 16 ./simulation && wisp trace run.trace\n"
      "  wisp simulate collective --op bcast --count 1000 --ranks 13 --trace bcast.trace\n"
      "  wisp trace bcast.trace --output bcast.svg");
  return {command, [arguments] {
            if (arguments->output.empty()) arguments->output = arguments->file + ".html";
            return world_rank() == 0 ? trace(*arguments) : 0;
          }};
}

}  // namespace wisp::cli
