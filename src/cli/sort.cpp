#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/available_memory.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/line_order.hpp"
#include "cli/sort_chunks.hpp"
#include "cli/sort_file.hpp"
#include "cli/sorted_elements.hpp"
#include "cli/terminal.hpp"
#include "wisp/collectives.hpp"

// wisp sort INPUT OUTPUT: every rank sorts chunks of the input while the next one is read; then all ranks
// merge slices of all runs, while the slice before is written.
//
//   input   ▒▒▒▒▒▒ ▒▒▒▒▒▒ ▒▒▒▒▒▒      chunks become runs, in memory, or beyond a limit in temporary files
//   runs    ░▒▓ ░▒▓ ░▒▓ ░▒▓ ░▒▓       exact splitters cut a slice for each rank; pieces go there
//   output  ░░░░|▒▒▒▒|▓▓▓▓            merged and written, slice by slice

namespace wisp::cli {
namespace {

struct SortArguments {
  std::string input;
  std::string output;
  std::string type;          ///< i32, u32, …; empty: another kind of element
  std::uint64_t record = 0;  ///< bytes of a record; 0: another kind
  std::string key;           ///< FIRST:LAST bytes of a record; empty: all
  bool lines = false;
  bool is_reversed = false;
  bool is_unique = false;
  bool is_stable = false;
  bool is_numeric = false;
  std::string separator;
  std::vector<std::string> line_keys;
  bool check = false;
  std::uint64_t memory_limit = 0;  ///< bytes of one rank; 0: half of what the machine has for it
  std::string temporary_folder;
  std::string progress = "auto";
};

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t least_memory = 4 * mebibyte;  ///< of a rank

/// Lets an option take bytes, at least one: "500M" is 500 · 2^20.
void take_size(CLI::Option& option) {
  CLI::AsSizeValue size(false);
  size.description("SIZE");
  option.transform(size);
  option.check([](const std::string& bytes) {
    return bytes.starts_with('-') || bytes == "0" ? bytes + " is no size: at least 1 byte" : "";
  });
}

/// Says on rank 0 how far a long run is; short ones say nothing.
class Progress {
 public:
  Progress(const Comm& comm, const std::string& when)
      : is_shown_(comm.rank() == 0 && (when == "always" || (when == "auto" && isatty(STDERR_FILENO) != 0))),
        ranks_(comm.size()) {}

  void begin(std::string_view phase, std::uint64_t bytes) {
    phase_ = phase;
    bytes_ = bytes;
    done_ = 0;
    start_ = MPI_Wtime();
    said_ = 0.1;
  }
  /// So many bytes more, of rank 0.
  void advance(std::uint64_t bytes) {
    done_ += bytes;
    if (!is_shown_) return;
    const double elapsed = MPI_Wtime() - start_;
    if (elapsed < said_) return;
    said_ = elapsed + 0.1;  // a line at most every tenth of a second
    const double rate = static_cast<double>(done_) / elapsed;
    std::string text = fmt::format("wisp sort: {}, {:.1f} MB/s", phase_, rate * ranks_ / 1e6);
    if (bytes_ > 0) {
      const double ratio = std::min(1.0, static_cast<double>(done_) / static_cast<double>(bytes_));
      constexpr int width = 24;
      const int full = static_cast<int>(ratio * width);
      text =
          fmt::format("wisp sort: {:<8} [{}{}] {:3.0f} %, {:.1f} MB/s, {:.0f} s left", phase_,
                      std::string(static_cast<std::size_t>(full), '#'),
                      std::string(static_cast<std::size_t>(width - full), ' '), ratio * 100,
                      rate * ranks_ / 1e6, (static_cast<double>(bytes_) - static_cast<double>(done_)) / rate);
    }
    show_progress(text);
  }

 private:
  bool is_shown_;
  int ranks_;
  std::string_view phase_;
  std::uint64_t bytes_ = 0;
  std::uint64_t done_ = 0;
  double start_ = 0;
  double said_ = 0;
};

/// FIRST:LAST, bytes FIRST … LAST-1 of a record.
void parse_record_key(const std::string& key, std::uint64_t record, LineOrder& order) {
  order.key_begin = 0;
  order.key_end = record;
  if (key.empty()) return;
  const char* const end = key.data() + key.size();
  const auto first = std::from_chars(key.data(), end, order.key_begin);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    const auto last = std::from_chars(first.ptr + 1, end, order.key_end);
    const bool is_read = last.ec == std::errc() && last.ptr == end;
    if (is_read && order.key_begin < order.key_end && order.key_end <= record) return;
  }
  throw BadInput(fmt::format("wisp sort: --key {} is not FIRST:LAST with FIRST < LAST <= {}", key, record));
}

void check_arguments(const Comm& comm, const SortArguments& arguments) {
  const bool has_lines = arguments.type.empty() && arguments.record == 0;
  if ((arguments.lines && !has_lines) || (!arguments.type.empty() && arguments.record > 0))
    throw BadInput("wisp sort: say what to sort with one of --lines, --type and --record");
  if (!arguments.key.empty() && arguments.record == 0) throw BadInput("wisp sort: --key needs --record");
  if (!has_lines && (arguments.is_numeric || !arguments.separator.empty() || !arguments.line_keys.empty()))
    throw BadInput("wisp sort: -n, -t and -k are for lines, not for --type or --record");
  if (arguments.output.empty()) throw BadInput("wisp sort: OUTPUT is empty");
  if (arguments.separator.size() > 1)
    throw BadInput(fmt::format("wisp sort: -t '{}' is not one character", arguments.separator));
  if (arguments.check && arguments.output == standard_stream)
    throw BadInput("wisp sort: --check needs an OUTPUT that can be read again");
  if (arguments.memory_limit > 0 && arguments.memory_limit < least_memory) {
    throw BadInput(fmt::format("wisp sort: --memory-limit {} is less than the {} bytes that a rank needs",
                               arguments.memory_limit, least_memory));
  }
  check_different_files(comm, arguments.input, arguments.output);
}

LineOrder line_order(const SortArguments& arguments) {
  LineOrder order;
  order.is_reversed = arguments.is_reversed;
  if (arguments.record > 0) {
    parse_record_key(arguments.key, arguments.record, order);
    order.keeps_places = arguments.is_stable || (arguments.is_unique && !arguments.key.empty());
    return order;
  }
  if (!arguments.separator.empty()) order.separator = arguments.separator[0];
  const LineKeyOptions inherited{arguments.is_numeric, false, arguments.is_reversed};
  for (const std::string& key : arguments.line_keys) order.keys.push_back(parse_line_key(key, inherited));
  if (order.keys.empty() && arguments.is_numeric) order.keys.push_back(parse_line_key("1", inherited));
  // The first of equal keys stays.
  order.keeps_places = !order.keys.empty() && (arguments.is_stable || arguments.is_unique);
  return order;
}

/// How large chunks are, and what stays in memory, of a rank's limit.
struct MemoryPlan {
  std::size_t chunk = 0;
  std::uint64_t slice = 0;  ///< bytes of a slice that a rank merges
  ElementOptions elements;
};

MemoryPlan plan_memory(const Comm& comm, const SortArguments& arguments) {
  const std::uint64_t limit = arguments.memory_limit > 0 ? arguments.memory_limit
                                                         : std::max(least_memory, memory_of_a_rank(comm) / 2);
  std::error_code error;
  std::uint64_t bytes = std::filesystem::file_size(arguments.input, error);
  comm.bcast(buffer_of(bytes), 0);                                              // it may grow
  if (error) bytes = 128 * mebibyte * static_cast<std::uint64_t>(comm.size());  // of a stream, nobody knows
  if (arguments.record > limit / 4) {
    throw BadInput(fmt::format("wisp sort: --record {}: a rank, which may use {} bytes, has no room for four",
                               arguments.record, limit));
  }
  const std::uint64_t part = bytes / static_cast<std::uint64_t>(comm.size());
  MemoryPlan plan;
  // Numbers are sorted where they are read; text needs room for places, and for what it is coded as.
  plan.chunk = arguments.type.empty() ? std::clamp(part / 8, mebibyte / 4, limit / 8)
                                      : std::clamp(part / 2, mebibyte, limit / 4);
  plan.slice = std::clamp(part / 8, mebibyte / 4, std::min(8 * mebibyte, limit / 8));
  plan.elements.run_memory = limit / 8 * 3;
  plan.elements.chunk_memory = limit / 4;
  plan.elements.keeps_one_of_equal = arguments.is_unique;
  plan.elements.keeps_places = arguments.is_stable || arguments.is_unique;
  plan.elements.inspects_input = arguments.check;
  plan.elements.temporary_folder = arguments.temporary_folder;
  return plan;
}

/// The output is in order, and the same elements as the input (or, without equal ones, as many as were
/// written). What is on disk counts, not what was in memory.
void check_output(const Comm& comm, const SortArguments& arguments, const SortedElements& elements,
                  std::uint64_t written, std::size_t chunk_bytes) {
  const auto reader = read_chunks(comm, arguments.output, elements.shape(), chunk_bytes);
  Inspection seen;
  while (const auto chunk = reader->next()) elements.inspect(*chunk, seen);
  reader->finish();
  std::uint64_t sums[5] = {seen.count, seen.checksum, elements.input().count, elements.input().checksum,
                           written};
  comm.allreduce(in_place(), Buffer(sums), MPI_SUM);
  const bool is_same = arguments.is_unique ? sums[0] == sums[4] : sums[0] == sums[2] && sums[1] == sums[3];
  if (!is_same)
    throw Error(MPI_ERR_OTHER, "wisp sort: --check: the output is not a permutation of the input");
  // Each rank tells the next one its last element, or that of the rank before.
  if (comm.rank() > 0) {
    std::uint64_t size = 0;
    comm.receive(buffer_of(size), comm.rank() - 1);
    std::string below(size, '\0');
    comm.receive(Buffer(below.data(), size, MPI_BYTE), comm.rank() - 1);
    if (seen.count == 0) {
      seen.last = below;
    } else if (size > 0 && elements.is_before(seen.first, below)) {
      seen.is_in_order = false;
    }
  }
  if (comm.rank() + 1 < comm.size()) {
    std::uint64_t size = seen.last.size();
    comm.send(buffer_of(size), comm.rank() + 1);
    comm.send(ConstBuffer(seen.last.data(), size, MPI_BYTE), comm.rank() + 1);
  }
  int is_in_order = seen.is_in_order ? 1 : 0;
  comm.allreduce(in_place(), buffer_of(is_in_order), MPI_MIN);
  if (is_in_order == 0) throw Error(MPI_ERR_OTHER, "wisp sort: --check: the output is not in order");
}

/// What a sort of a file says about itself; the same on all ranks.
struct SortSummary {
  std::uint64_t elements = 0;
  std::uint64_t fewest = 0;  ///< elements of a rank after sorting
  std::uint64_t most = 0;
  double run_seconds = 0;
  double merge_seconds = 0;
  double check_seconds = 0;
};

SortSummary sort_elements(const Comm& comm, const SortArguments& arguments, const MemoryPlan& plan,
                          SortedElements& elements) {
  SortSummary summary;
  Progress progress(comm, arguments.progress);
  double start = MPI_Wtime();
  const auto lap = [&] {
    comm.barrier();
    const double now = MPI_Wtime();
    return now - std::exchange(start, now);
  };
  std::unique_ptr<ChunkReader> reader = read_chunks(comm, arguments.input, elements.shape(), plan.chunk);
  const std::unique_ptr<Output> output = open_output(comm, arguments.output);
  progress.begin("sorting", reader->bytes().value_or(0));
  while (std::optional<Chunk> chunk = reader->next()) {
    const std::uint64_t bytes = chunk->size;
    elements.add(std::move(*chunk));
    progress.advance(bytes);
  }
  reader->finish();
  reader.reset();
  elements.finish();
  summary.run_seconds = lap();

  const Slot all = elements.count();
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  progress.begin("merging", elements.bytes() / ranks);
  const double of_slice =
      static_cast<double>(plan.slice) / static_cast<double>(std::max<std::uint64_t>(elements.bytes(), 1));
  const Slot share = std::max<Slot>(1, static_cast<Slot>(of_slice * static_cast<double>(all)));
  for (Slot begin = 0; begin < all;) {
    const Slot slice = std::min(all - begin, share * ranks);
    const wisp::detail::Balance balance(slice, comm.size());
    std::vector<Slot> ends;
    for (int rank = 1; rank <= comm.size(); ++rank) ends.push_back(begin + balance.begin(rank));
    std::string text = elements.merge(ends);
    const std::uint64_t bytes = text.size();
    output->append(std::move(text));
    progress.advance(bytes);
    begin += slice;
  }
  output->commit();
  std::uint64_t merged = elements.merged();
  comm.allreduce(buffer_of(merged), buffer_of(summary.elements), MPI_SUM);
  comm.allreduce(buffer_of(merged), buffer_of(summary.fewest), MPI_MIN);
  comm.allreduce(buffer_of(merged), buffer_of(summary.most), MPI_MAX);
  summary.merge_seconds = lap();
  if (arguments.check) check_output(comm, arguments, elements, merged, plan.chunk);
  summary.check_seconds = lap();
  return summary;
}

int run_sort(const SortArguments& arguments) {
  setenv("WISP_STALL_SECONDS", "0", 0);  // who waits, waits for the input
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  check_arguments(comm, arguments);
  const LineOrder order = line_order(arguments);
  const MemoryPlan plan = plan_memory(comm, arguments);
  const std::unique_ptr<SortedElements> elements =
      arguments.type.empty() ? make_strings(comm, arguments.record, order, plan.elements)
                             : make_numbers(comm, arguments.type, arguments.is_reversed, plan.elements);
  const SortSummary summary = sort_elements(comm, arguments, plan, *elements);
  if (comm.rank() == 0 && arguments.output != standard_stream) {
    const bool has_lines = elements->shape().width == 0;
    fmt::print("sorted {} on {}, {} each: runs {:.3f} s, merge {:.3f} s{}\n",
               counted(static_cast<long long>(summary.elements), has_lines ? "line" : "element"),
               counted(comm.size(), "rank"),
               summary.fewest == summary.most       ? fmt::format("{}", summary.most)
               : summary.fewest + 1 == summary.most ? fmt::format("{} or {}", summary.fewest, summary.most)
                                                    : fmt::format("{} to {}", summary.fewest, summary.most),
               summary.run_seconds, summary.merge_seconds,
               arguments.check ? "; checked: in order, a permutation of the input" : "");
  }
  return 0;
}

std::string default_temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

Command add_sort(CLI::App& app) {
  auto arguments = std::make_shared<SortArguments>();
  arguments->temporary_folder = default_temporary_folder();
  CLI::App* command = app.add_subcommand("sort", "Sort a file with all ranks, each with the same share");
  command->add_option("INPUT", arguments->input, "File to sort; - is standard input")->required();
  command
      ->add_option("OUTPUT", arguments->output,
                   "File to write, replaced when all is sorted; - is standard output")
      ->required();
  command->add_flag("--lines", arguments->lines, "Lines of text, compared bytewise (the default)");
  command->add_option("--type", arguments->type, "Little-endian numbers (NaN last)")
      ->check(one_of({"i32", "u32", "i64", "u64", "f32", "f64"}));
  take_size(
      *command->add_option("--record", arguments->record, "Records of this many bytes, compared bytewise"));
  command->add_option("--key", arguments->key, "Compare records by bytes FIRST:LAST (LAST not included)");
  command->add_flag("-r,--reverse", arguments->is_reversed, "The largest first");
  command->add_flag("-u,--unique", arguments->is_unique, "Only the first of equal elements");
  command->add_flag("-s,--stable", arguments->is_stable, "Elements with equal keys stay in their order");
  command->add_flag("-n,--numeric-sort", arguments->is_numeric, "Compare lines as numbers");
  command
      ->add_option("-t,--field-separator", arguments->separator,
                   "The character between fields; without it, fields begin with blanks")
      ->check([](const std::string& text) { return text.empty() ? "-t '' is no character" : ""; });
  command
      ->add_option("-k", arguments->line_keys,
                   "A key of lines, as POSIX sort has it: F[.C][OPTS][,F[.C][OPTS]] with OPTS of b, f, n, r")
      ->allow_extra_args(false);  // one for each -k: what follows are INPUT and OUTPUT
  command->add_flag("--check", arguments->check,
                    "Read the output again: in order, and a permutation of the input");
  take_size(*command->add_option(
      "--memory-limit", arguments->memory_limit,
      "Memory that a rank may use, as in 500M or 2G; what is more goes to temporary files. Without "
      "it, half of its part of what is free"));
  command->add_option("-T,--temporary-directory", arguments->temporary_folder, "Where temporary files are")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  command
      ->add_option("--progress", arguments->progress,
                   "Say how far a long run is; auto: if standard error is a terminal")
      ->check(one_of({"auto", "always", "never"}))
      ->envname("WISP_PROGRESS")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  mpirun -n 16 wisp sort words.txt sorted.txt\n"
      "  mpirun -n 16 wisp sort table.csv sorted.csv -t , -k 2,2n -k 1,1\n"
      "  mpirun -n 16 wisp sort keys.bin sorted.bin --type u64 --check\n"
      "  mpirun -n 16 wisp sort records.bin sorted.bin --record 100 --key 0:10 --memory-limit 2G");
  return {command, [arguments] {
            // A file behind them is written to, not replaced.
            if (arguments->input == "/dev/stdin") arguments->input = standard_stream;
            if (arguments->output == "/dev/stdout") arguments->output = standard_stream;
            return run_sort(*arguments);
          }};
}

}  // namespace wisp::cli
