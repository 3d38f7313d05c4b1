// Sorting strings: as wisp does it, and by a sample sort of whole strings with MPI_Alltoallv.

#include "wisp/sort_strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "benchmarks.hpp"

namespace wisp::bench {
namespace {

using Strings = std::vector<std::string>;

const std::vector<std::string_view> kinds_of_strings = {"random", "paths", "equal"};

/// Random: eight to 40 letters. Paths: a few of these, with slashes; most begin like many others.
Strings make_strings(std::string_view kind, int rank, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 17);
  Strings strings(count, "equal");
  const auto letters = [&](std::uint64_t seed, std::size_t length) {
    std::mt19937_64 of_word(seed);
    std::string word(length, 'a');
    for (char& letter : word) letter = static_cast<char>('a' + of_word() % 26);
    return word;
  };
  for (std::string& string : strings) {
    if (kind == "random") string = letters(random(), 8 + random() % 33);
    if (kind == "paths") {
      string = "/home/project";
      for (const std::uint64_t names : {8u, 40u, 100000u}) string += "/" + letters(random() % names, 9);
    }
  }
  return strings;
}

void append_lines(const Strings& strings, std::size_t first, std::size_t last, std::string& to) {
  for (std::size_t i = first; i < last; ++i) {
    to += strings[i];
    to += '\n';
  }
}
Strings lines_of(const std::string& text) {
  Strings strings;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    strings.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return strings;
}

int as_int(std::size_t number) {
  return static_cast<int>(number);
}

/// All ranks' bytes for this rank, each rank's for each.
std::string exchanged(const std::string& sent, const std::vector<int>& sizes_sent, MPI_Comm comm) {
  std::vector<int> sizes(sizes_sent.size()), begins_sent(sizes.size()), begins(sizes.size());
  MPI_Alltoall(sizes_sent.data(), 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  for (std::size_t r = 1; r < sizes.size(); ++r) {
    begins_sent[r] = begins_sent[r - 1] + sizes_sent[r - 1];
    begins[r] = begins[r - 1] + sizes[r - 1];
  }
  std::string received(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
  MPI_Alltoallv(sent.data(), sizes_sent.data(), begins_sent.data(), MPI_CHAR, received.data(), sizes.data(),
                begins.data(), MPI_CHAR, comm);
  return received;
}

/// The output is not balanced.
void sample_sort_strings(Strings& strings, MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  const auto ranks = static_cast<std::size_t>(size);
  std::mt19937_64 random(strings.size());
  std::string sample;
  for (int i = 0; i < 32; ++i) {
    sample += strings[random() % strings.size()];
    sample += '\n';
  }
  std::string to_all;
  for (std::size_t r = 0; r < ranks; ++r) to_all += sample;
  Strings all = lines_of(exchanged(to_all, std::vector<int>(ranks, as_int(sample.size())), comm));
  std::sort(all.begin(), all.end());
  std::sort(strings.begin(), strings.end());
  std::string sent;
  std::vector<int> sizes;
  for (std::size_t r = 0, begin = 0; r < ranks; ++r) {
    const auto end =
        r + 1 == ranks ? strings.end() : std::upper_bound(strings.begin(), strings.end(), all[(r + 1) * 32]);
    const auto last = static_cast<std::size_t>(end - strings.begin());
    const std::size_t before = sent.size();
    append_lines(strings, begin, std::max(begin, last), sent);
    sizes.push_back(as_int(sent.size() - before));
    begin = std::max(begin, last);
  }
  strings = lines_of(exchanged(sent, sizes, comm));
  std::sort(strings.begin(), strings.end());
}

void check_sorted(const Strings& strings, const char* who) {
  if (!std::is_sorted(strings.begin(), strings.end()))
    throw Error(MPI_ERR_OTHER, fmt::format("{}: not sorted", who));
}

std::vector<std::string_view> chosen_kinds(const Options& options) {
  check_choice("sort-strings", "--op", options.op, kinds_of_strings);
  return options.op.empty() ? kinds_of_strings : std::vector<std::string_view>{options.op};
}

std::vector<std::size_t> numbers_of_strings(const Options& options) {
  return sizes_of<std::size_t>(options, {16, 1024}, {1, 16, 1024, 1 << 15, 1 << 18});
}

std::size_t characters_of(const Strings& strings) {
  std::size_t characters = 0;
  for (const std::string& string : strings) characters += string.size();
  return characters;
}

}  // namespace

void bench_sort_strings(const Options& options) {
  const Comm comm = all_ranks();
  Report report(options, title_of("sort-strings", MPI_COMM_WORLD), comm.rank() == 0);
  for (const std::string_view kind : chosen_kinds(options)) {
    for (const std::size_t count : numbers_of_strings(options)) {
      const Strings input = make_strings(kind, comm.rank(), count);
      Strings data;
      const std::vector<Variant> variants = {{"wisp",
                                              [&](int) {
                                                data = input;
                                                sort(comm, data);
                                              }},
                                             {"sample-sort", [&](int) {
                                                data = input;
                                                sample_sort_strings(data, MPI_COMM_WORLD);
                                              }}};
      for (const Variant& variant : variants) {
        variant.run(0);
        check_sorted(data, "wisp bench sort-strings");
      }
      const std::vector<Timing> timings = measure(MPI_COMM_WORLD, variants, method_after_check(options));
      const Row cell{.bench = "sort-strings",
                     .case_name = fmt::format("{} {}", kind, count),
                     .ranks = comm.size(),
                     .bytes = characters_of(input)};
      report.add(rows_of(cell, variants, timings));
    }
  }
}

void simulate_sort_strings(const Options& options, const SimulationOptions& cluster) {
  Report report(options, fmt::format("wisp simulate sort-strings: {} ranks, virtual time", cluster.ranks),
                true);
  for (const std::string_view kind : chosen_kinds(options)) {
    for (const std::size_t count :
         options.count > 0 ? numbers_of_strings(options) : std::vector<std::size_t>{16, 1024}) {
      const SimulationReport run = simulate(cluster, [&](Comm comm) -> Task<> {
        Strings data = make_strings(kind, comm.rank(), count);
        co_await async_sort(comm, data);
        check_sorted(data, "wisp simulate sort-strings");
      });
      report.add({simulated_row({.bench = "sort-strings",
                                 .variant = "wisp",
                                 .case_name = fmt::format("{} {}", kind, count),
                                 .ranks = cluster.ranks,
                                 .bytes = characters_of(make_strings(kind, 0, count))},
                                run)});
    }
  }
}

}  // namespace wisp::bench
