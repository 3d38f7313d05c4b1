#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisp/channel.hpp"
#include "wisp/detail/as_size.hpp"
#include "wisp/detail/balance.hpp"
#include "wisp/detail/sort/key_bytes.hpp"
#include "wisp/sort_strings.hpp"
#include "wisp/task.hpp"

// Sorted strings, each without what it has in common with the one before it. Every 16th is whole, so that
// any can be looked up; a stretch of them is a run again if its first string is written whole.
//
//   apple apply apt     →     0,5 apple   4,1 y   2,1 t          (common, rest, bytes of the rest)
//
// What is common is neither kept, sent nor compared. Source: front coding; Bingmann, Sanders, Schimek 2020

namespace wisp::detail {

struct StringRun {
  static constexpr Slot block = 16;

  std::span<const std::byte> coded;
  std::span<const std::uint64_t> marks;  ///< where every 16th string begins
  Slot size = 0;

  std::string at(Slot place) const;
  /// Where a string begins in `coded`; of the one at the end, its size.
  std::uint64_t begin_of(Slot place) const;
};

/// Strings first … last - 1 of a run, as two pieces that make one run if one follows the other.
struct StringStretch {
  std::vector<std::byte> head;  ///< the first string, whole
  std::span<const std::byte> rest;
};
StringStretch stretch_of(const StringRun& run, Slot first, Slot last);

/// Codes strings that come in order.
class StringCoder {
 public:
  /// `common`: at most what it has in common with the one before.
  void add(std::string_view string, std::size_t common);

  std::vector<std::byte> coded;
  std::vector<std::uint64_t> marks;
  Slot size = 0;
};

/// The strings of a run, one after the other.
class StringReader {
 public:
  StringReader() = default;
  explicit StringReader(std::span<const std::byte> coded) : at_(coded.data()), end_(at_ + coded.size()) {}

  /// Goes to the next; false if there is none.
  bool next();
  std::string_view string() const { return string_; }
  /// What it has in common with the one before.
  std::size_t common() const { return common_; }
  const std::byte* position() const { return at_; }

 private:
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  std::string string_;
  std::size_t common_ = 0;
};

/// Merges runs. A loser tree: a string that has more in common with the last one than another does comes
/// before it, and only strings that have as much in common are compared, from there on. Equal strings come in
/// the order of runs.
///
/// O(n log k + characters that are not common) for n strings of k runs. Source: Bingmann, Eberle, Sanders
/// 2017 (LCP-aware multiway mergesort)
class StringMerger {
 public:
  explicit StringMerger(std::vector<StringReader> runs);

  /// Goes to the next; false if there is none.
  bool next();
  std::string_view string() const { return runs_[winner_.run].string(); }
  /// What it has in common with the one before.
  std::size_t common() const { return winner_.common; }

 private:
  struct Player {
    std::size_t run = 0;
    std::size_t common = 0;  ///< with the string that it lost against
    bool is_at_end = false;
  };
  Player advance(std::size_t run);
  void play(Player& player, Player& winner) const;

  std::vector<StringReader> runs_;
  std::vector<Player> losers_;  ///< node i has children 2i and 2i + 1; leaf i is node k + i
  Player winner_;
  bool has_begun_ = false;
};

/// Strings, and texts that are sorted at once, have fewer characters.
constexpr std::uint64_t longest_string = std::uint64_t{1} << 32;

/// Sorts strings of a text: `begins` are where they begin, and where the last one ends; `gap` characters
/// between each two are not part of them.
StringCoder sort_strings(std::string_view text, std::span<const std::uint64_t> begins, std::size_t gap);

/// Sorted runs of strings, as RunSplitting takes them.
struct StringRuns {
  using Key = std::string;
  std::vector<StringRun> runs;
  std::size_t mean_length = 32;  ///< the same on all ranks

  int count() const { return static_cast<int>(runs.size()); }
  Slot size(int run) const { return runs[as_size(run)].size; }
  std::string key(int run, Slot place) const { return runs[as_size(run)].at(place); }
  std::size_t key_bytes() const { return mean_length; }
};

/// Strings that came from all ranks: runs in one piece of memory.
struct ReceivedStrings {
  std::vector<std::byte> coded;
  std::vector<std::size_t> begins{0};

  StringMerger merge() const;
};

/// Sends of every run what is between `first` and `last` (border by border, run by run) to the rank of the
/// border, and receives what is this rank's.
Task<ReceivedStrings> exchange_strings(Channel channel, const StringRuns& runs, std::vector<Slot> first,
                                       std::vector<Slot> last);

/// wisp::sort of strings; a rank sorts so many characters at once.
Task<> sort_strings_on(Channel channel, std::vector<std::string>& data, StringSortOptions options,
                       std::uint64_t characters_of_run);

}  // namespace wisp::detail
