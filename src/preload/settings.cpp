#include "preload/settings.hpp"

#include <mpi.h>

#include <bit>
#include <cstdlib>
#include <sstream>
#include <string>

#include "transport/throw_error.hpp"

namespace wisp::preload {
namespace {

using detail::throw_error;

constexpr std::array<std::string_view, call_count> names = {
    "barrier",
#define WISP_FACES(Name, name, parameters, arguments) #name,
#define WISP_ONLY_OF_MPI
#include "c/collective_faces.inc"
#include "c/neighbor_faces.inc"
#undef WISP_ONLY_OF_MPI
#undef WISP_FACES
};

/// Takes the text before the next separator off `text`.
std::string_view take_until(char separator, std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

/// Digits first, so nothing below 0. Not std::from_chars: clang's library has none for fractions.
template <class Number>
bool read(std::string_view text, Number& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  std::istringstream reader{std::string(text)};
  return reader >> number && reader.eof();
}

/// The call whose form it is; empty: it is none.
std::string_view without_form(std::string_view name, Form form) {
  constexpr std::string_view of_persistent = "_init";
  if (form == Form::nonblocking) return name.starts_with('i') ? name.substr(1) : "";
  if (form == Form::persistent) {
    return name.ends_with(of_persistent) ? name.substr(0, name.size() - of_persistent.size()) : "";
  }
  return name;
}

/// "name", "name:most" or "name:least-most".
void parse_entry(std::string_view entry, Settings& settings) {
  std::string_view rest = entry;
  const std::string_view name = take_until(':', rest);
  Settings::Named taken{true};
  if (name != entry) {
    const std::string_view sizes = rest;
    const std::string_view first = take_until('-', rest);
    const bool has_both = first != sizes;
    const bool is_read =
        has_both ? read(first, taken.least) && read(rest, taken.most) : read(first, taken.most);
    if (!is_read || taken.least > taken.most) {
      throw_error(MPI_ERR_ARG, "WISP_PRELOAD: {}: sizes are most, or least-most, in bytes", entry);
    }
  }
  if (name == "none") return;
  for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
    const std::string_view of_call = without_form(name, form);
    Settings::OfCalls& of_form = settings.named[static_cast<std::size_t>(form)];
    if (of_call == "all") {
      of_form.fill(taken);
      return;
    }
    if (const std::optional<Call> call = find_call(of_call)) {
      of_form[static_cast<std::size_t>(*call)] = taken;
      return;
    }
  }
  throw_error(MPI_ERR_ARG,
              "WISP_PRELOAD: '{}' is none of all, none, {}, nor the nonblocking or persistent form of one, "
              "as ibcast or bcast_init",
              name, detail::joined(names));
}

/// How far apart two numbers are, in powers of two.
int distance(std::int64_t a, std::int64_t b) {
  const auto bits = [](std::int64_t n) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  };
  return std::abs(bits(a) - bits(b));
}

}  // namespace

std::string name_of(Call call, Form form) {
  std::string name(form == Form::nonblocking ? "i" : "");
  name += names[static_cast<std::size_t>(call)];
  if (form == Form::persistent) name += "_init";
  return name;
}

std::optional<Call> find_call(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Call>(i);
  }
  return std::nullopt;
}

Tuning Tuning::parse(std::string_view text) {
  Tuning tuning;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = take_until('\n', text);
    while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const std::string_view whole = line;
    const std::optional<Call> call = find_call(take_until(' ', line));
    Line read_line{};
    const bool is_read = call && read(take_until(' ', line), read_line.ranks) &&
                         read(take_until(' ', line), read_line.nodes) &&
                         read(take_until(' ', line), read_line.bytes) && read(line, read_line.times_faster);
    if (!is_read || read_line.ranks < 1 || read_line.nodes < 1) {
      throw_error(MPI_ERR_ARG,
                  "WISP_PRELOAD_TABLE: line {}, '{}', is not 'operation ranks nodes bytes times-faster'",
                  number, whole);
    }
    read_line.call = *call;
    tuning.lines_.push_back(read_line);
  }
  return tuning;
}

std::optional<double> Tuning::times_faster(Call call, int ranks, int nodes, std::int64_t bytes) const {
  const Line* nearest = nullptr;
  const auto is_nearer = [&](const Line& a, const Line& b) {
    const int by_ranks = std::abs(a.ranks - ranks) - std::abs(b.ranks - ranks);
    return by_ranks != 0 ? by_ranks < 0 : distance(a.bytes, bytes) < distance(b.bytes, bytes);
  };
  for (const Line& line : lines_) {
    if (line.call != call || (line.nodes > 1) != (nodes > 1)) continue;
    if (line.ranks > 2 * ranks || ranks > 2 * line.ranks) continue;
    if (nearest == nullptr || is_nearer(line, *nearest)) nearest = &line;
  }
  if (nearest == nullptr) return std::nullopt;
  return nearest->times_faster;
}

Settings Settings::parse(std::string_view calls, std::string_view after, std::string_view report,
                         std::string_view table) {
  Settings settings;
  settings.is_named = !calls.empty();
  const std::string_view all = calls;
  if (all.ends_with(','))
    throw_error(MPI_ERR_ARG, "WISP_PRELOAD: {}: there is nothing behind the last comma", all);
  while (!calls.empty()) {
    const std::string_view entry = take_until(',', calls);
    if ((entry == "none" || entry.starts_with("none:")) && all != "none") {
      throw_error(MPI_ERR_ARG, "WISP_PRELOAD: {}: none stands alone", all);
    }
    parse_entry(entry, settings);
  }
  if (!after.empty() && !read(after, settings.calls_before)) {
    throw_error(MPI_ERR_ARG, "WISP_PRELOAD_AFTER = {} is not a number from 0 on", after);
  }
  if (!report.empty() && report != "0" && report != "1") {
    throw_error(MPI_ERR_ARG, "WISP_PRELOAD_REPORT = {} is neither 1 nor 0", report);
  }
  settings.reports = report == "1";
  settings.tuning = Tuning::parse(table);
  return settings;
}

}  // namespace wisp::preload
