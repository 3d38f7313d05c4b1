#include "cli/terminal.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace wisp::cli {
namespace {

/// Characters of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_started_by_mpirun() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  return is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMI_SIZE") || is_set("PMIX_RANK");
}

bool shows_colors(std::FILE* file) {
  const char* wish = std::getenv("WISP_COLOR");
  const std::string_view when = wish != nullptr ? wish : "auto";
  if (when == "always" || when == "never") return when == "always";
  if (const char* no = std::getenv("NO_COLOR"); no != nullptr && *no != '\0') return false;
  // Open MPI gives every rank a terminal of its own making.
  return isatty(fileno(file)) != 0 && !is_started_by_mpirun();
}

fmt::text_style style_of(Color color) {
  switch (color) {
    case Color::green:
      return fmt::fg(fmt::terminal_color::green);
    case Color::red:
      return fmt::fg(fmt::terminal_color::red);
    case Color::yellow:
      return fmt::fg(fmt::terminal_color::yellow);
    case Color::bold:
      return fmt::emphasis::bold;
    case Color::none:
      break;
  }
  return {};
}

}  // namespace

void print_row(const std::vector<Column>& columns, const std::vector<Cell>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Column& column = columns[std::min(i, columns.size() - 1)];
    const std::size_t used = width_of(cells[i].text);
    const std::string padding(column.width > used ? column.width - used : 0, ' ');
    if (i > 0) line += "  ";
    if (column.side == Column::Side::right) line += padding;
    line += in_color(cells[i].color, cells[i].text);
    if (column.side == Column::Side::left) line += padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
}

std::string counted(long long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string in_color(Color color, std::string_view text, std::FILE* file) {
  if (color == Color::none || !shows_colors(file)) return std::string(text);
  return fmt::format(style_of(color), "{}", text);
}

void show_progress(std::string_view line) {
  const bool moves = isatty(STDERR_FILENO) != 0 && !is_started_by_mpirun();
  fmt::print(stderr, "{}{}{}", moves ? "\r\033[K" : "", line, moves ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace wisp::cli
