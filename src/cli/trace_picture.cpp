#include "cli/trace_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace wisp::cli {
namespace {

using detail::as_size;
using detail::PathStep;
using detail::Timeline;
using detail::TracedMessage;
using detail::TracedOperation;

constexpr int width = 1200;
constexpr int margin = 64;
constexpr std::array<std::string_view, 10> colors = {"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2",
                                                     "#edc948", "#9c755f", "#ff9da7", "#8cd17d", "#79706e"};

std::string_view color_of(int operation) {
  return operation < 0 ? "#bbbbbb" : colors[as_size(operation) % colors.size()];
}

std::string in_html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') {
      safe += ' ';
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string text_of(const Timeline& timeline, int number) {
  return number < 0 ? "(not told)" : in_html(timeline.texts[as_size(number)]);
}

/// "wisp::bcast, call 3 on world".
std::string name_of(const Timeline& timeline, int operation, int communicator, int call) {
  std::string name = text_of(timeline, operation);
  if (communicator < 0) return name;
  const std::string place = text_of(timeline, communicator);
  return call < 0 ? fmt::format("{} on {}", name, place)
                  : fmt::format("{}, call {} on {}", name, call + 1, place);
}

/// Where times and ranks are in the picture.
struct Scale {
  Window window;
  double row;

  double x(double seconds) const {
    const double part = (seconds - window.begin) / (window.end - window.begin);
    return width * std::clamp(part, 0.0, 1.0);
  }
  double y(int rank) const { return row * (rank + 0.5); }
};

Scale scale_of(const Timeline& timeline, const Window& window) {
  return {window, std::clamp(900.0 / timeline.ranks, 3.0, 32.0)};
}

/// Those in the window; of too many the longest.
std::vector<const TracedOperation*> drawn_operations(const Timeline& timeline, const Window& window) {
  std::vector<const TracedOperation*> drawn;
  for (const TracedOperation& one : timeline.operations) {
    if (window.shows(one.begin, one.end)) drawn.push_back(&one);
  }
  if (drawn.size() <= window.operations) return drawn;
  const auto middle = drawn.begin() + static_cast<std::ptrdiff_t>(window.operations);
  std::ranges::nth_element(drawn, middle, std::greater<>(),
                           [](const TracedOperation* one) { return one->end - one->begin; });
  drawn.erase(middle, drawn.end());
  std::ranges::sort(drawn);  // pointers into one vector: as before
  return drawn;
}

void draw_operations(std::string& svg, const Timeline& timeline, const Scale& scale) {
  auto to = std::back_inserter(svg);
  for (const TracedOperation* drawn : drawn_operations(timeline, scale.window)) {
    const TracedOperation& one = *drawn;
    const double x = scale.x(one.begin);
    fmt::format_to(to,
                   R"(<rect x="{:.5f}" y="{:.1f}" width="{:.5f}" height="{:.1f}" fill="{}" stroke="{}">)"
                   "<title>rank {}: {}: {} from {}</title></rect>\n",
                   x, scale.y(one.rank) - 0.3 * scale.row, scale.x(one.end) - x, 0.6 * scale.row,
                   color_of(one.operation), color_of(one.operation), one.rank,
                   name_of(timeline, one.operation, one.communicator, one.call),
                   time_text(one.end - one.begin), time_text(one.begin));
  }
}

void draw_messages(std::string& svg, const Timeline& timeline, const Scale& scale) {
  auto to = std::back_inserter(svg);
  std::size_t drawn = 0;
  for (const TracedMessage& message : timeline.messages) {
    if (!scale.window.shows(message.sent, message.received)) continue;
    if (++drawn > scale.window.messages) break;
    fmt::format_to(to,
                   R"(<line x1="{:.5f}" y1="{:.1f}" x2="{:.5f}" y2="{:.1f}"><title>{} to {}: {} bytes, {}, )"
                   "{}</title></line>\n",
                   scale.x(message.sent), scale.y(message.from), scale.x(message.received),
                   scale.y(message.to), message.from, message.to, message.bytes,
                   time_text(message.received - message.sent),
                   name_of(timeline, message.operation, message.communicator, message.call));
  }
}

void draw_path(std::string& svg, const Timeline& timeline, const Scale& scale) {
  auto to = std::back_inserter(svg);
  std::string points;
  for (const PathStep& step : timeline.critical_path) {
    if (!scale.window.shows(step.begin, step.end)) continue;
    int from = step.rank;
    if (step.message >= 0) {
      const TracedMessage& message = timeline.messages[as_size(step.message)];
      from = step.rank == message.to ? message.from : message.to;
    }
    fmt::format_to(std::back_inserter(points), "{:.5f},{:.1f} {:.5f},{:.1f} ", scale.x(step.begin),
                   scale.y(from), scale.x(step.end), scale.y(step.rank));
  }
  fmt::format_to(to, "<polyline class=\"path\" points=\"{}\"/>\n", points);
}

constexpr std::string_view style =
    "rect[stroke]{fill-opacity:.5;stroke-opacity:.5;stroke-width:.3;vector-effect:non-scaling-stroke}"
    "line{stroke:#333;stroke-opacity:.55;stroke-width:.8;vector-effect:non-scaling-stroke}"
    ".path{fill:none;stroke:#d62728;stroke-width:2;stroke-opacity:.8;vector-effect:non-scaling-stroke;"
    "pointer-events:none}";

/// The rows, without what is written beside them.
std::string rows(const Timeline& timeline, const Scale& scale) {
  std::string svg;
  for (int rank = 0; rank < timeline.ranks; rank += 2) {
    fmt::format_to(std::back_inserter(svg),
                   R"(<rect x="0" y="{:.1f}" width="{}" height="{:.1f}" fill="#f4f4f4"/>)", scale.row * rank,
                   width, scale.row);
  }
  svg += '\n';
  draw_operations(svg, timeline, scale);
  draw_messages(svg, timeline, scale);
  draw_path(svg, timeline, scale);
  return svg;
}

std::string labels(const Timeline& timeline, const Scale& scale) {
  const int step = std::max(1, static_cast<int>(std::ceil(14 / scale.row)));
  std::string svg;
  for (int rank = 0; rank < timeline.ranks; rank += step) {
    fmt::format_to(std::back_inserter(svg), R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
                   margin - 8, scale.y(rank) + 4,
                   step == 1 ? fmt::format("rank {}", rank) : fmt::format("{}", rank));
  }
  return svg + '\n';
}

struct Total {
  std::size_t operations = 0;
  double seconds = 0;
  double on_path = 0;
  std::size_t messages = 0;
  std::uint64_t bytes = 0;
};

std::vector<TracedOperation>::const_iterator first_of(const Timeline& timeline, int rank) {
  return std::ranges::lower_bound(timeline.operations, rank, {}, &TracedOperation::rank);
}

using Totals = std::map<std::pair<int, int>, Total>;

/// By operation and communicator. Of the path, what is outside of all operations is that of (-1, -1).
Totals totals_of(const Timeline& timeline) {
  Totals totals;
  for (const TracedOperation& one : timeline.operations) {
    Total& total = totals[{one.operation, one.communicator}];
    total.operations += 1;
    total.seconds += one.end - one.begin;
  }
  for (const TracedMessage& message : timeline.messages) {
    Total& total = totals[{message.operation, message.communicator}];
    total.messages += 1;
    total.bytes += message.bytes;
  }
  // The path goes forwards in time, so each rank's operations are passed once.
  using Operations = std::vector<const TracedOperation*>;
  std::map<int, std::pair<std::vector<TracedOperation>::const_iterator, Operations>> at;
  for (const PathStep& step : timeline.critical_path) {
    double outside = step.end - step.begin;
    if (step.message >= 0) {
      const TracedMessage& message = timeline.messages[as_size(step.message)];
      totals[{message.operation, message.communicator}].on_path += outside;
      continue;
    }
    auto& [next, running] =
        at.try_emplace(step.rank, first_of(timeline, step.rank), Operations()).first->second;
    for (; next != timeline.operations.end() && next->rank == step.rank && next->begin < step.end; ++next)
      running.push_back(&*next);
    std::erase_if(running, [&](const TracedOperation* one) { return one->end <= step.begin; });
    for (const TracedOperation* one : running) {
      const double both = std::min(one->end, step.end) - std::max(one->begin, step.begin);
      if (both <= 0 || outside <= 0) continue;
      totals[{one->operation, one->communicator}].on_path += std::min(both, outside);
      outside -= std::min(both, outside);
    }
    totals[{-1, -1}].on_path += std::max(0.0, outside);
  }
  return totals;
}

std::string table(const Timeline& timeline) {
  std::string html =
      "<table><tr><th>operation</th><th>communicator</th><th>times, over ranks</th><th>time, over ranks</th>"
      "<th>on the critical path</th><th>messages</th><th>bytes</th></tr>\n";
  const Totals totals = totals_of(timeline);
  std::vector<Totals::const_pointer> sorted;
  for (const auto& entry : totals) sorted.push_back(&entry);
  std::ranges::sort(sorted,
                    [](const auto* a, const auto* b) { return a->second.seconds > b->second.seconds; });
  for (const auto* entry : sorted) {
    const auto& [key, total] = *entry;
    const bool is_outside = key.first < 0;
    fmt::format_to(std::back_inserter(html),
                   "<tr><td><b style=\"background:{}\"></b> {}</td><td>{}</td><td>{}</td><td>{}</td>"
                   "<td>{} ({:.0f} %)</td><td>{}</td><td>{}</td></tr>\n",
                   color_of(key.first), is_outside ? "outside of all" : text_of(timeline, key.first),
                   is_outside ? "" : text_of(timeline, key.second), total.operations,
                   time_text(total.seconds), time_text(total.on_path),
                   timeline.seconds > 0 ? 100 * total.on_path / timeline.seconds : 0.0, total.messages,
                   total.bytes);
  }
  return html + "</table>\n";
}

std::size_t operations_in(const Timeline& timeline, const Window& window) {
  return static_cast<std::size_t>(std::ranges::count_if(
      timeline.operations, [&](const TracedOperation& one) { return window.shows(one.begin, one.end); }));
}

std::size_t messages_in(const Timeline& timeline, const Window& window) {
  return static_cast<std::size_t>(std::ranges::count_if(timeline.messages, [&](const TracedMessage& message) {
    return window.shows(message.sent, message.received);
  }));
}

constexpr std::string_view page_style = R"(body{font:14px sans-serif;margin:24px;max-width:1300px}
table{border-collapse:collapse;margin-top:20px}td,th{padding:3px 12px;text-align:right}
td:first-child,td:nth-child(2),th:first-child,th:nth-child(2){text-align:left}tr:nth-child(even){background:#f4f4f4}
b{display:inline-block;width:12px;height:12px}svg text{font:11px sans-serif}#frame{display:flex}
#time{display:flex;justify-content:space-between;margin-left:64px;width:1200px;color:#555}
)";

/// The wheel zooms in time about the pointer, dragging moves, a double click shows all.
constexpr std::string_view script = R"(
const svg = document.getElementById("rows"), full = svg.viewBox.baseVal.width;
const [first, last] = [Number(svg.dataset.begin), Number(svg.dataset.end)];
let x = 0, w = full, held = null;
const text = s => s < 1e-6 ? (s * 1e9).toFixed(0) + " ns" : s < 1e-3 ? (s * 1e6).toFixed(2) + " µs"
  : s < 1 ? (s * 1e3).toFixed(3) + " ms" : s.toFixed(4) + " s";
function show() {
  w = Math.min(w, full);
  x = Math.max(0, Math.min(x, full - w));
  svg.setAttribute("viewBox", `${x} 0 ${w} ${svg.viewBox.baseVal.height}`);
  const marks = document.getElementById("time").children;
  for (let i = 0; i < marks.length; ++i)
    marks[i].textContent = text(first + (x + w * i / (marks.length - 1)) / full * (last - first));
}
svg.addEventListener("wheel", e => {
  e.preventDefault();
  const at = e.offsetX / svg.clientWidth, factor = e.deltaY < 0 ? 0.8 : 1.25;
  x += at * w * (1 - factor);
  w *= factor;
  show();
});
svg.addEventListener("mousedown", e => held = e.clientX);
window.addEventListener("mouseup", () => held = null);
window.addEventListener("mousemove", e => {
  if (held === null) return;
  x -= (e.clientX - held) / svg.clientWidth * w;
  held = e.clientX;
  show();
});
svg.addEventListener("dblclick", () => { x = 0; w = full; show(); });
show();
)";

}  // namespace

std::string time_text(double seconds) {
  if (std::abs(seconds) < 1e-3) return fmt::format("{:.4g} µs", 1e6 * seconds);
  if (std::abs(seconds) < 1) return fmt::format("{:.4g} ms", 1e3 * seconds);
  return fmt::format("{:.4g} s", seconds);
}

std::string picture(const Timeline& timeline, const Window& window) {
  const Scale scale = scale_of(timeline, window);
  const double height = scale.row * timeline.ranks;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"11\"><style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      margin + width + 16, height + 24, style);
  svg += labels(timeline, scale);
  svg += fmt::format("<g transform=\"translate({} 0)\">\n{}</g>\n", margin, rows(timeline, scale));
  constexpr int marks = 5;
  for (int i = 0; i <= marks; ++i) {
    const double part = static_cast<double>(i) / marks;
    svg += fmt::format(R"(<text x="{:.0f}" y="{:.0f}" text-anchor="{}">{}</text>)", margin + part * width,
                       height + 16,
                       i == 0       ? "start"
                       : i == marks ? "end"
                                    : "middle",
                       time_text(window.begin + part * (window.end - window.begin)));
  }
  return svg + "\n</svg>\n";
}

std::string page(const Timeline& timeline, const Window& window, const std::string& title) {
  const Scale scale = scale_of(timeline, window);
  const double height = scale.row * timeline.ranks;
  const std::size_t shown = messages_in(timeline, window);
  const std::size_t operations = operations_in(timeline, window);
  std::string html = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\n<style>{1}{2}</style>\n"
      "<h1>{0}</h1>\n<p>{3} ranks, {4}, {5} messages{6}{7}{8}. Red: the critical path, the waits that "
      "decided "
      "how "
      "long it took. The wheel zooms, dragging moves, a double click shows all; what the pointer rests on is "
      "named.</p>\n",
      in_html(title), page_style, style, timeline.ranks, time_text(timeline.seconds),
      timeline.messages.size(),
      shown > window.messages
          ? fmt::format(" (the first {} of {} in this window are drawn)", window.messages, shown)
          : std::string(),
      operations > window.operations
          ? fmt::format(", of {} operations the longest {} are drawn", operations, window.operations)
          : std::string(),
      timeline.unmatched > 0 ? fmt::format("; of {} more one side is not in the trace", timeline.unmatched)
                             : std::string());
  html += fmt::format(
      "<div id=\"frame\"><svg width=\"{0}\" height=\"{1:.0f}\">{2}</svg>\n<svg id=\"rows\" width=\"{3}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {3} {1:.0f}\" preserveAspectRatio=\"none\" data-begin=\"{4}\" "
      "data-end=\"{5}\">\n{6}</svg></div>\n",
      margin, height, labels(timeline, scale), width, window.begin, window.end, rows(timeline, scale));
  html +=
      "<div "
      "id=\"time\"><span></span><span></span><span></span><span></span><span></span><span></span></div>\n";
  html += table(timeline);
  return html + fmt::format("<script>{}</script></html>\n", script);
}

}  // namespace wisp::cli
