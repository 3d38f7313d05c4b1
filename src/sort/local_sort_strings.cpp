#include <algorithm>
#include <bit>
#include <cstring>

#include "wisp/detail/sort/string_run.hpp"
#include "wisp/error.hpp"

#ifdef WISP_HAS_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif

// Strings sorted by eight characters at a time: these as a number, beside where the string is. Those that are
// equal there go on with the next eight. Numbers that two words hold are sorted by Highway where it is.

namespace wisp::detail {
namespace {

/// Eight characters as a number of their order, and where the string is: its offset and its length.
struct Entry {
  Entry() = default;
  Entry(std::uint64_t characters, std::uint64_t place) : words{place, characters} {}
  std::uint64_t characters() const { return words.hi; }
  std::uint64_t place() const { return words.lo; }
  std::uint64_t offset() const { return words.lo >> 32; }
  std::uint64_t length() const { return words.lo & (longest_string - 1); }

#ifdef WISP_HAS_HIGHWAY
  hwy::uint128_t words;
#else
  struct Words {
    std::uint64_t lo, hi;
  } words;
#endif
};

class StringSorter {
 public:
  StringSorter(std::string_view text, std::span<const std::uint64_t> begins, std::size_t gap)
      : text_(text), begins_(begins), gap_(gap) {}

  std::vector<Entry> sorted() const {
    std::vector<Entry> entries;
    entries.reserve(begins_.size() - 1);
    for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
      const Entry unread(0, begins_[i] << 32 | (begins_[i + 1] - begins_[i] - gap_));
      entries.emplace_back(characters_at(string(unread), 0), unread.place());
    }
    sort(entries, 0);
    return entries;
  }
  std::string_view string(const Entry& entry) const { return text_.substr(entry.offset(), entry.length()); }
  /// Its characters are soon wanted.
  void prefetch(const Entry& entry) const { __builtin_prefetch(text_.data() + entry.offset()); }
  static constexpr std::size_t ahead = 16;

 private:
  static constexpr std::size_t few_ = 24;

  /// Eight characters as a number of their order; zeros behind the end.
  static std::uint64_t characters_at(std::string_view string, std::size_t depth) {
    std::uint64_t word = 0;
    if (depth < string.size())
      std::memcpy(&word, string.data() + depth, std::min<std::size_t>(8, string.size() - depth));
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    return word;
  }

  static void sort_numbers(std::span<Entry> entries) {
#ifdef WISP_HAS_HIGHWAY
    static thread_local hwy::Sorter sorter;
    static_assert(sizeof(Entry) == sizeof(hwy::uint128_t));
    sorter(reinterpret_cast<hwy::uint128_t*>(entries.data()), entries.size(), hwy::SortAscending());
#else
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.characters() != b.characters() ? a.characters() < b.characters() : a.place() < b.place();
    });
#endif
  }

  /// Strings that are alike up to `depth`.
  void sort(std::span<Entry> entries, std::size_t depth) const {
    // Groups that are left, instead of recursion: common beginnings may be long.
    std::vector<Group> groups{{entries, depth}};
    while (!groups.empty()) {
      const Group group = groups.back();
      groups.pop_back();
      if (group.entries.size() <= few_) {
        sort_few(group);
        continue;
      }
      sort_numbers(group.entries);
      split(group, groups);
    }
  }

  struct Group {
    std::span<Entry> entries;
    std::size_t depth;
  };

  void sort_few(const Group& group) const {
    const auto rest = [&](const Entry& entry) {
      const std::string_view whole = string(entry);
      return whole.substr(std::min(group.depth, whole.size()));
    };
    for (std::size_t i = 1; i < group.entries.size(); ++i) {
      const Entry moved = group.entries[i];
      std::size_t to = i;
      for (; to > 0; --to) {
        const Entry& other = group.entries[to - 1];
        if (moved.characters() > other.characters()) break;
        if (moved.characters() == other.characters() && rest(other) <= rest(moved)) break;
        group.entries[to] = other;
      }
      group.entries[to] = moved;
    }
  }

  /// Those with the same eight characters: the ones that end there come first, the shorter before the longer
  /// (they end in zeros); the others go on.
  void split(const Group& group, std::vector<Group>& groups) const {
    const std::size_t depth = group.depth + 8;
    for (std::size_t first = 0; first < group.entries.size();) {
      std::size_t last = first + 1;
      while (last < group.entries.size() &&
             group.entries[last].characters() == group.entries[first].characters())
        ++last;
      const std::span<Entry> equal = group.entries.subspan(first, last - first);
      first = last;
      if (equal.size() == 1) continue;
      const auto longer = std::stable_partition(
          equal.begin(), equal.end(), [&](const Entry& entry) { return string(entry).size() <= depth; });
      std::stable_sort(equal.begin(), longer,
                       [&](const Entry& a, const Entry& b) { return string(a).size() < string(b).size(); });
      if (equal.end() - longer < 2) continue;
      for (auto entry = longer; entry != equal.end(); ++entry) {
        if (as_size(equal.end() - entry) > ahead) prefetch(entry[ahead]);
        *entry = Entry(characters_at(string(*entry), depth), entry->place());
      }
      groups.push_back({{longer, equal.end()}, depth});
    }
  }

  std::string_view text_;
  std::span<const std::uint64_t> begins_;
  std::size_t gap_;
};

}  // namespace

StringCoder sort_strings(std::string_view text, std::span<const std::uint64_t> begins, std::size_t gap) {
  StringCoder coder;
  if (text.size() >= longest_string)
    throw Error(MPI_ERR_COUNT, "wisp sort: a chunk has " + std::to_string(text.size()) +
                                   " characters; it may have fewer than 2^32");
  const StringSorter sorter(text, begins, gap);
  const std::vector<Entry> entries = sorter.sorted();
  coder.coded.reserve(text.size());
  std::string_view last;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + StringSorter::ahead < entries.size()) sorter.prefetch(entries[i + StringSorter::ahead]);
    const std::string_view string = sorter.string(entries[i]);
    coder.add(string, common_prefix(last, string));
    last = string;
  }
  return coder;
}

}  // namespace wisp::detail
