#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

// What the program writes for people: lines of tables, a moving line, colours where a terminal shows them.

namespace wisp::cli {

enum class Color { none, green, red, yellow, bold };

struct Cell {
  std::string text;
  Color color = Color::none;
};

struct Column {
  std::size_t width;
  enum class Side { left, right } side = Side::right;
};

/// One line of a table. Cells that are too long push the others; width counts characters, not bytes.
void print_row(const std::vector<Column>& columns, const std::vector<Cell>& cells);

/// "1 rank", "2 ranks".
std::string counted(long long count, std::string_view noun);

/// The text, coloured if WISP_COLOR is "always", or "auto" (the default) and `file` is a terminal. Ranks
/// under mpirun cannot know whether somebody watches: scripts/mpirun tells them.
std::string in_color(Color color, std::string_view text, std::FILE* file = stdout);

/// A line on standard error that takes the place of the one before on a terminal.
void show_progress(std::string_view line);

}  // namespace wisp::cli
