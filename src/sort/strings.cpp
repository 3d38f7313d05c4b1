#include <algorithm>
#include <functional>
#include <numeric>

#include "wisp/detail/sort/exscan_total.hpp"
#include "wisp/detail/sort/splitters.hpp"
#include "wisp/detail/sort/string_run.hpp"
#include "wisp/sort_strings.hpp"

// Strings by one exchange, as numbers are sorted: coded runs instead of arrays.

namespace wisp::detail {
namespace {

struct StringCensus {
  Slot strings = 0;
  Slot most = 0;
  std::uint64_t characters = 0;

  static StringCensus combine(const StringCensus& a, const StringCensus& b) {
    return {a.strings + b.strings, std::max(a.most, b.most), a.characters + b.characters};
  }
};

StringCensus census_of(const std::vector<std::string>& data) {
  StringCensus census{data.size(), data.size(), 0};
  for (const std::string& string : data) census.characters += string.size();
  return census;
}

/// The strings of a rank in order; `data` is empty afterwards.
StringCoder sort_own(std::vector<std::string>& data, std::uint64_t characters) {
  std::string text;
  std::vector<std::uint64_t> begins{0};
  text.reserve(characters);
  begins.reserve(data.size() + 1);
  for (const std::string& string : data) {
    text += string;
    begins.push_back(text.size());
  }
  data = {};
  return sort_strings(text, begins, 0);
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

std::vector<Slot> ends_of(std::vector<Slot> first, Slot size) {
  first.erase(first.begin());
  first.push_back(size);
  return first;
}

Task<> sort_strings_on(Channel channel, std::vector<std::string>& data, StringSortOptions options) {
  const StringCensus mine = census_of(data);
  const auto census = co_await exscan_total(channel, mine, StringCensus{}, &StringCensus::combine);
  const StringCensus all = census.total;
  if (all.strings == 0) co_return;
  StringCoder sorted = sort_own(data, mine.characters);
  StringRuns runs;
  runs.runs.push_back({sorted.coded, sorted.marks, sorted.size});
  runs.mean_length = all.characters / all.strings + 1;
  const Balance balance(all.strings, channel.size());
  std::vector<Slot> targets;
  for (int rank = 0; rank < channel.size(); ++rank) targets.push_back(balance.begin(rank));
  std::vector<Slot> first =
      co_await find_splitters(channel, std::move(targets), runs, all.strings, all.most, std::less<>());
  std::vector<Slot> last = ends_of(first, sorted.size);
  ReceivedStrings received = co_await exchange_strings(channel, runs, std::move(first), std::move(last));
  if (options.balance == StringSortOptions::Balance::characters && all.characters > 0) {
    sorted = {};
    StringMerger merger = received.merge();
    StringCensus share;
    while (merger.next()) {
      sorted.add(merger.string(), merger.common());
      share.characters += merger.string().size();
    }
    const auto shares = co_await exscan_total(channel, share, StringCensus{}, &StringCensus::combine);
    runs.runs = {{sorted.coded, sorted.marks, sorted.size}};
    first = cut_by_characters(sorted, shares.before, all, channel.size());
    last = ends_of(first, sorted.size);
    received = co_await exchange_strings(channel, runs, std::move(first), std::move(last));
  }
  sorted = {};
  StringMerger merger = received.merge();
  while (merger.next()) data.emplace_back(merger.string());
}

}  // namespace
}  // namespace wisp::detail

namespace wisp {

Task<> async_sort(const Comm& comm, std::vector<std::string>& data, StringSortOptions options,
                  std::optional<int> own_tag) {
  return detail::sort_strings_on(comm.channel("wisp::sort", own_tag), data, options);
}

void sort(const Comm& comm, std::vector<std::string>& data, const StringSortOptions& options) {
  comm.run(async_sort(comm, data, options));
}

}  // namespace wisp
