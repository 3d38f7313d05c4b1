#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/element_file.hpp"
#include "cli/terminal.hpp"
#include "wisp/detail/sort/sampling.hpp"
#include "wisp/sort.hpp"

// wisp sort INPUT OUTPUT: a file, sorted by all ranks.

namespace wisp::cli {
namespace {

constexpr std::uint64_t largest_record = 4096;

/// "500M" is 500 · 2^20.
CLI::Validator size_with_suffix() {
  CLI::AsSizeValue size(false);
  size.description("SIZE");
  return size;
}

/// A record, or a line, in N bytes.
template <std::size_t N>
struct Record {
  std::array<unsigned char, N> bytes;
};

/// By the key's bytes; records with one key by all their bytes, so that the output is always the same.
struct ByKey {
  std::size_t first;
  std::size_t length;

  template <std::size_t N>
  bool operator()(const Record<N>& a, const Record<N>& b) const {
    const int order = std::memcmp(a.bytes.data() + first, b.bytes.data() + first, length);
    return order != 0 ? order < 0 : std::memcmp(a.bytes.data(), b.bytes.data(), N) < 0;
  }
};

/// A number that does not depend on the order of the elements, and changes if one of them does.
template <class T>
std::uint64_t checksum(const std::vector<T>& data) {
  std::uint64_t sum = 0;
  for (const T& element : data) {
    std::uint64_t hash = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&element);
    for (std::size_t i = 0; i < sizeof(T); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min<std::size_t>(8, sizeof(T) - i));
      hash = wisp::detail::mix(hash ^ word);
    }
    sum += hash;
  }
  return sum;
}

/// Count and checksum over all ranks.
template <class T>
std::array<std::uint64_t, 2> census(const Comm& comm, const std::vector<T>& data) {
  std::array<std::uint64_t, 2> sums = {data.size(), checksum(data)};
  comm.allreduce(in_place(), sums, MPI_SUM);
  return sums;
}

template <class T, class Less>
bool is_sorted_across_ranks(const Comm& comm, const std::vector<T>& data, Less less) {
  struct Border {
    T last;
    int exists;
  };
  std::vector<Border> borders(detail::as_size(comm.size()));
  Border mine{data.empty() ? T{} : data.back(), data.empty() ? 0 : 1};
  comm.allgather(ConstBuffer(&mine, sizeof(mine), MPI_BYTE),
                 Buffer(borders.data(), borders.size() * sizeof(Border), MPI_BYTE));
  int sorted = std::is_sorted(data.begin(), data.end(), less) ? 1 : 0;
  for (int rank = comm.rank() - 1; rank >= 0 && !data.empty(); --rank) {
    const Border& below = borders[detail::as_size(rank)];
    if (below.exists == 0) continue;
    if (less(data.front(), below.last)) sorted = 0;
    break;
  }
  comm.allreduce(in_place(), buffer_of(sorted), MPI_MIN);
  return sorted != 0;
}

template <class T, class Less>
SortSummary sort_as(const Comm& comm, const SortArguments& arguments, ElementFile& file, OutputFile& output,
                    Less less) {
  SortSummary summary;
  double start = MPI_Wtime();
  const auto lap = [&] {
    comm.barrier();
    const double now = MPI_Wtime();
    return now - std::exchange(start, now);
  };
  std::vector<T> data(file.count());
  file.load(reinterpret_cast<unsigned char*>(data.data()), sizeof(T));
  const auto before = arguments.check ? census(comm, data) : std::array<std::uint64_t, 2>{};
  summary.read_seconds = lap();
  sort(comm, data, less, sort_options(comm, arguments));
  summary.sort_seconds = lap();
  std::uint64_t count = data.size();
  comm.allreduce(buffer_of(count), buffer_of(summary.elements), MPI_SUM);
  comm.allreduce(buffer_of(count), buffer_of(summary.fewest), MPI_MIN);
  comm.allreduce(buffer_of(count), buffer_of(summary.most), MPI_MAX);
  file.store(output, reinterpret_cast<const unsigned char*>(data.data()), count, sizeof(T));
  summary.write_seconds = lap();
  if (!arguments.check) return summary;

  // What is on disk counts, not what was in memory.
  data = {};
  file.open(comm, arguments.output);
  data.resize(file.count());
  file.load(reinterpret_cast<unsigned char*>(data.data()), sizeof(T));
  if (census(comm, data) != before) {
    throw Error(MPI_ERR_OTHER, "wisp sort: --check: the output is not a permutation of the input");
  }
  if (!is_sorted_across_ranks(comm, data, less)) {
    throw Error(MPI_ERR_OTHER, "wisp sort: --check: the output is not in order");
  }
  summary.checked = true;
  return summary;
}

/// Calls `sort_width` with the smallest type of record that has `width` bytes.
template <class Use, std::size_t N, std::size_t... More>
SortSummary with_record(std::uint64_t width, Use use) {
  if constexpr (sizeof...(More) > 0) {
    if (width > N) return with_record<Use, More...>(width, use);
  }
  return use(Record<N>{});
}

template <class Use>
SortSummary with_record_of(std::uint64_t width, Use use) {
  return with_record<Use, 16, 32, 64, 100, 256, 1024, largest_record>(width, use);
}

/// FIRST:LAST, bytes FIRST … LAST-1 of a record.
ByKey parse_key(const std::string& key, std::uint64_t record) {
  if (key.empty()) return {0, record};
  std::size_t used = 0;
  try {
    const std::uint64_t first = std::stoull(key, &used);
    if (used < key.size() && key[used] == ':') {
      const std::string rest = key.substr(used + 1);
      const std::uint64_t last = std::stoull(rest, &used);
      if (used == rest.size() && first < last && last <= record) return {first, last - first};
    }
  } catch (const std::exception&) {
    // not numbers: said below
  }
  throw BadInput(fmt::format("wisp sort: --key {} is not FIRST:LAST with FIRST < LAST <= {}", key, record));
}

template <class T>
SortSummary sort_numbers(const Comm& comm, const SortArguments& arguments) {
  RecordFile file(sizeof(T), 4, arguments);
  file.open(comm, arguments.input);
  OutputFile output(comm, arguments.output);
  return sort_as<T>(comm, arguments, file, output, Ascending{});
}

SortSummary sort_fixed_records(const Comm& comm, const SortArguments& arguments) {
  if (arguments.record > largest_record) {
    throw BadInput(fmt::format("wisp sort: --record {} is outside 1..{}", arguments.record, largest_record));
  }
  const ByKey less = parse_key(arguments.key, arguments.record);
  return with_record_of(arguments.record, [&]<std::size_t N>(Record<N>) {
    RecordFile file(arguments.record, 4.0 * N / static_cast<double>(arguments.record), arguments);
    file.open(comm, arguments.input);
    OutputFile output(comm, arguments.output);
    return sort_as<Record<N>>(comm, arguments, file, output, less);
  });
}

SortSummary sort_text(const Comm& comm, const SortArguments& arguments) {
  constexpr std::uint64_t length_bytes = 2;
  constexpr std::uint64_t longest = largest_record - length_bytes;
  if (arguments.max_line < 1 || arguments.max_line > longest) {
    throw BadInput(fmt::format("wisp sort: --max-line {} is outside 1..{}", arguments.max_line, longest));
  }
  LineFile file(arguments);
  file.open(comm, arguments.input);
  OutputFile output(comm, arguments.output);
  return with_record_of(file.longest() + length_bytes, [&]<std::size_t N>(Record<N>) {
    std::uint64_t lines = file.count();
    comm.allreduce(in_place(), buffer_of(lines), MPI_SUM);
    check_memory(comm, arguments, lines * N, 4);
    return sort_as<Record<N>>(comm, arguments, file, output, ByKey{0, N});
  });
}

SortSummary sort_file(const Comm& comm, const SortArguments& arguments) {
  const int kinds =
      (arguments.type.empty() ? 0 : 1) + (arguments.record > 0 ? 1 : 0) + (arguments.lines ? 1 : 0);
  if (kinds != 1) throw BadInput("wisp sort: say what to sort with one of --type, --record and --lines");
  if (!arguments.key.empty() && arguments.record == 0) throw BadInput("wisp sort: --key needs --record");
  check_different_files(comm, arguments.input, arguments.output);
  if (arguments.lines) return sort_text(comm, arguments);
  if (arguments.record > 0) return sort_fixed_records(comm, arguments);
  if (arguments.type == "i32") return sort_numbers<std::int32_t>(comm, arguments);
  if (arguments.type == "u32") return sort_numbers<std::uint32_t>(comm, arguments);
  if (arguments.type == "i64") return sort_numbers<std::int64_t>(comm, arguments);
  if (arguments.type == "u64") return sort_numbers<std::uint64_t>(comm, arguments);
  if (arguments.type == "f32") return sort_numbers<float>(comm, arguments);
  return sort_numbers<double>(comm, arguments);
}

int run_sort(const SortArguments& arguments) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const SortSummary summary = sort_file(comm, arguments);
  if (comm.rank() == 0) {
    fmt::print("sorted {} on {}, {} each: read {:.3f} s, sort {:.3f} s, write {:.3f} s{}\n",
               counted(static_cast<long long>(summary.elements), arguments.lines ? "line" : "element"),
               counted(comm.size(), "rank"),
               summary.fewest == summary.most ? fmt::format("{}", summary.most)
                                              : fmt::format("{} or {}", summary.fewest, summary.most),
               summary.read_seconds, summary.sort_seconds, summary.write_seconds,
               summary.checked ? "; checked: in order, a permutation of the input" : "");
  }
  return 0;
}

}  // namespace

Command add_sort(CLI::App& app) {
  auto arguments = std::make_shared<SortArguments>();
  CLI::App* command = app.add_subcommand("sort", "Sort a file with all ranks, each with the same share");
  command->add_option("INPUT", arguments->input, "File to sort")->required();
  command->add_option("OUTPUT", arguments->output, "File to write; replaced when all is sorted")->required();
  command->add_option("--type", arguments->type, "Little-endian numbers (NaN last)")
      ->check(one_of({"i32", "u32", "i64", "u64", "f32", "f64"}));
  command->add_option("--record", arguments->record, "Records of this many bytes, compared bytewise")
      ->transform(size_with_suffix())
      ->check(CLI::PositiveNumber);
  command->add_option("--key", arguments->key, "Compare records by bytes FIRST:LAST (LAST not included)");
  command->add_flag("--lines", arguments->lines, "Lines of text, compared bytewise");
  command->add_option("--max-line", arguments->max_line, "The most bytes that a line may have")
      ->transform(size_with_suffix())
      ->capture_default_str();
  command->add_flag("--check", arguments->check,
                    "Read the output again: in order, and a permutation of the input");
  command
      ->add_option("--memory-limit", arguments->memory_limit,
                   "Memory that a rank may use, as in 500M or 2G; without it, its part of what is free")
      ->transform(size_with_suffix())
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--assignment", arguments->assignment,
                   "Who sends elements to whom: greedy, or deterministic, with at most eight messages a rank")
      ->check(one_of({"greedy", "deterministic"}))
      ->capture_default_str();
  command
      ->add_option("--progress", arguments->progress,
                   "Say how far a long run is; auto: if standard error is a terminal")
      ->check(one_of({"auto", "always", "never"}))
      ->envname("WISP_PROGRESS")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  mpirun -n 16 wisp sort words.txt sorted.txt --lines\n"
      "  mpirun -n 16 wisp sort keys.bin sorted.bin --type u64 --check\n"
      "  mpirun -n 16 wisp sort records.bin sorted.bin --record 100 --key 0:10 --memory-limit 2G");
  return {command, [arguments] { return run_sort(*arguments); }};
}

}  // namespace wisp::cli
