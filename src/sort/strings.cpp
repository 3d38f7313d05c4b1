#include <algorithm>
#include <functional>
#include <string>

#include "wisp/detail/compared.hpp"
#include "wisp/detail/sort/census.hpp"
#include "wisp/detail/sort/exscan_total.hpp"
#include "wisp/detail/sort/splitters.hpp"
#include "wisp/detail/sort/string_run.hpp"
#include "wisp/error.hpp"
#include "wisp/sort_strings.hpp"

// Strings by one exchange, as numbers are sorted: coded runs instead of arrays.

namespace wisp::detail {
namespace {

struct StringCensus {
  Slot strings = 0;
  Slot most = 0;
  std::uint64_t characters = 0;
  std::uint64_t longest = 0;
  Slot runs = 1;
  LeastAndMost balance;  ///< of StringSortOptions

  static StringCensus combine(const StringCensus& a, const StringCensus& b) {
    return {a.strings + b.strings,       std::max(a.most, b.most),
            a.characters + b.characters, std::max(a.longest, b.longest),
            std::max(a.runs, b.runs),    LeastAndMost::combine(a.balance, b.balance)};
  }
};

StringCensus census_of(const std::vector<std::string>& data, std::uint64_t characters_of_run) {
  StringCensus census{data.size(), data.size(), 0, 0, 1, {}};
  std::uint64_t of_run = 0;
  for (const std::string& string : data) {
    census.characters += string.size();
    census.longest = std::max<std::uint64_t>(census.longest, string.size());
    if (of_run > 0 && of_run + string.size() > characters_of_run) {
      ++census.runs;
      of_run = 0;
    }
    of_run += string.size();
  }
  return census;
}

/// The strings of a rank in sorted runs; `data` is empty afterwards.
std::vector<StringCoder> sort_own(std::vector<std::string>& data, Slot runs,
                                  std::uint64_t characters_of_run) {
  std::vector<StringCoder> sorted;
  std::string text;
  std::vector<std::uint64_t> begins{0};
  const auto end_run = [&] {
    sorted.push_back(sort_strings(text, begins, 0));
    text.clear();
    begins = {0};
  };
  for (std::string& string : data) {
    if (!text.empty() && text.size() + string.size() > characters_of_run) end_run();
    text += string;
    begins.push_back(text.size());
    string = {};
  }
  data = {};
  while (sorted.size() < runs) end_run();
  return sorted;
}

StringRuns runs_of(const std::vector<StringCoder>& sorted, const StringCensus& all) {
  StringRuns runs;
  for (const StringCoder& run : sorted) runs.runs.push_back({run.coded, run.marks, run.size});
  runs.mean_length = all.characters / all.strings + 1;
  return runs;
}

/// How many strings of a sorted part belong in front of each rank's, so that all have as many characters.
std::vector<Slot> cut_by_characters(const StringCoder& sorted, StringCensus before, StringCensus total,
                                    int ranks) {
  std::vector<Slot> first;
  StringReader reader(sorted.coded);
  std::uint64_t characters = before.characters;
  Slot place = 0;
  while (reader.next()) {
    // A string goes where its middle is.
    const double middle = static_cast<double>(characters) + static_cast<double>(reader.string().size()) / 2;
    characters += reader.string().size();
    while (static_cast<int>(first.size()) < ranks &&
           middle * ranks >= static_cast<double>(total.characters) * static_cast<double>(first.size()))
      first.push_back(place);
    ++place;
  }
  first.resize(as_size(ranks), place);
  return first;
}

/// Where this rank's runs end for each rank, if they begin there.
std::vector<Slot> ends_of(const std::vector<Slot>& first, const StringRuns& runs) {
  std::vector<Slot> last(first.begin() + runs.count(), first.end());
  for (const StringRun& run : runs.runs) last.push_back(run.size);
  return last;
}

/// Moves strings until all ranks have as many characters.
Task<ReceivedStrings> balance_characters(Channel channel, ReceivedStrings received, StringCensus all) {
  std::vector<StringCoder> sorted(1);
  StringCensus share;
  for (StringMerger merger = received.merge(); merger.next();) {
    sorted[0].add(merger.string(), merger.common());
    share.characters += merger.string().size();
  }
  received = {};
  const auto shares = co_await exscan_total(channel, share, StringCensus{}, &StringCensus::combine);
  const StringRuns runs = runs_of(sorted, all);
  std::vector<Slot> first = cut_by_characters(sorted[0], shares.before, all, channel.size());
  std::vector<Slot> last = ends_of(first, runs);
  co_return co_await exchange_strings(channel, runs, std::move(first), std::move(last));
}

}  // namespace

Task<> sort_strings_on(Channel channel, std::vector<std::string>& data, StringSortOptions options,
                       std::uint64_t characters_of_run) {
  StringCensus mine = census_of(data, characters_of_run);
  mine.balance = LeastAndMost::of(static_cast<Slot>(options.balance));
  const auto census = co_await exscan_total(channel, mine, StringCensus{}, &StringCensus::combine);
  const StringCensus all = census.total;
  check_same_options(channel.operation(), all.balance, "balance");
  if (all.longest >= longest_string) {
    throw Error(MPI_ERR_COUNT, "wisp::sort: a string has " + std::to_string(all.longest) +
                                   " characters; it may have fewer than " + std::to_string(longest_string));
  }
  if (all.strings == 0) co_return;
  std::vector<StringCoder> sorted = sort_own(data, all.runs, characters_of_run);
  const StringRuns runs = runs_of(sorted, all);
  const Balance balance(all.strings, channel.size());
  std::vector<Slot> targets;
  targets.reserve(as_size(channel.size()));
  for (int rank = 0; rank < channel.size(); ++rank) targets.push_back(balance.begin(rank));
  std::vector<Slot> first =
      co_await find_splitters(channel, std::move(targets), runs, all.strings, all.most, std::less<>());
  std::vector<Slot> last = ends_of(first, runs);
  ReceivedStrings received = co_await exchange_strings(channel, runs, std::move(first), std::move(last));
  sorted = {};
  if (options.balance == StringSortOptions::Balance::characters && all.characters > 0)
    received = co_await balance_characters(channel, std::move(received), all);
  for (StringMerger merger = received.merge(); merger.next();) data.emplace_back(merger.string());
}

}  // namespace wisp::detail

namespace wisp {

Task<> async_sort(const Comm& comm, std::vector<std::string>& data, StringSortOptions options,
                  std::optional<int> own_tag) {
  // Smaller runs are merged as fast.
  constexpr std::uint64_t characters_of_run = detail::longest_string / 4;
  const Channel channel = comm.channel("wisp::sort", own_tag);
  return detail::compared(channel, detail::sort_strings_on(channel, data, options, characters_of_run));
}

void sort(const Comm& comm, std::vector<std::string>& data, const StringSortOptions& options) {
  comm.run(async_sort(comm, data, options));
}

}  // namespace wisp
