#include "wisp/detail/sort/string_run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "pattern/packed_number.hpp"

namespace wisp::detail {
namespace {

void append_string(std::vector<std::byte>& to, std::string_view string, std::size_t common) {
  append_packed(to, common);
  append_packed(to, string.size() - common);
  const auto* bytes = reinterpret_cast<const std::byte*>(string.data());
  to.insert(to.end(), bytes + common, bytes + string.size());
}

/// At the first string of a block that has this place.
StringReader reader_of_block(const StringRun& run, Slot place) {
  return StringReader(run.coded.subspan(run.marks[place / StringRun::block]));
}

}  // namespace

std::size_t common_prefix(std::string_view a, std::string_view b, std::size_t from) {
  const std::size_t end = std::min(a.size(), b.size());
  while (from + 8 <= end) {
    std::uint64_t word_a, word_b;
    std::memcpy(&word_a, a.data() + from, 8);
    std::memcpy(&word_b, b.data() + from, 8);
    if (word_a != word_b) {
      const std::uint64_t other = word_a ^ word_b;
      const int bits =
          std::endian::native == std::endian::little ? std::countr_zero(other) : std::countl_zero(other);
      return from + static_cast<std::size_t>(bits) / 8;
    }
    from += 8;
  }
  while (from < end && a[from] == b[from]) ++from;
  return from;
}

std::string StringRun::at(Slot place) const {
  StringReader reader = reader_of_block(*this, place);
  for (Slot i = 0; i <= place % block; ++i) reader.next();
  return std::string(reader.string());
}

std::uint64_t StringRun::begin_of(Slot place) const {
  if (place >= size) return coded.size();
  StringReader reader = reader_of_block(*this, place);
  for (Slot i = 0; i < place % block; ++i) reader.next();
  return static_cast<std::uint64_t>(reader.position() - coded.data());
}

StringStretch stretch_of(const StringRun& run, Slot first, Slot last) {
  StringStretch stretch;
  if (first == last) return stretch;
  append_string(stretch.head, run.at(first), 0);
  const std::uint64_t begin = run.begin_of(first + 1);
  stretch.rest = run.coded.subspan(begin, run.begin_of(last) - begin);
  return stretch;
}

void StringCoder::add(std::string_view string, std::size_t common) {
  const bool is_marked = size % StringRun::block == 0;
  if (is_marked) marks.push_back(coded.size());
  append_string(coded, string, is_marked ? 0 : common);
  ++size;
}

bool StringReader::next() {
  if (at_ == end_) return false;
  const auto byte = [this] { return *at_++; };
  const std::uint64_t common = read_packed(byte);
  const std::uint64_t rest = read_packed(byte);
  const auto* characters = reinterpret_cast<const char*>(at_);
  // A whole string may have more in common than it says.
  common_ = common > 0 ? common : common_prefix(string_, {characters, rest});
  string_.resize(common);
  string_.append(characters, rest);
  at_ += rest;
  return true;
}

StringMerger::StringMerger(std::vector<StringReader> runs) : runs_(std::move(runs)) {
  const std::size_t k = runs_.size();
  losers_.resize(k);
  if (k == 0) return;
  std::vector<Player> winners(2 * k);
  for (std::size_t run = 0; run < k; ++run) {
    winners[k + run] = advance(run);
    winners[k + run].common = 0;
  }
  for (std::size_t node = k - 1; node > 0; --node) {
    losers_[node] = winners[2 * node];
    winners[node] = winners[2 * node + 1];
    play(losers_[node], winners[node]);
  }
  winner_ = winners[1];
}

StringMerger::Player StringMerger::advance(std::size_t run) {
  Player player{run, 0, !runs_[run].next()};
  player.common = runs_[run].common();
  return player;
}

/// Swaps the two if the player at the node is smaller. Both have something in common with one string that is
/// not larger.
void StringMerger::play(Player& player, Player& winner) const {
  if (player.is_at_end) return;
  if (winner.is_at_end || player.common > winner.common) return std::swap(player, winner);
  if (player.common < winner.common) return;
  const std::string_view a = runs_[player.run].string();
  const std::string_view b = runs_[winner.run].string();
  const std::size_t common = common_prefix(a, b, player.common);
  bool is_smaller = player.run < winner.run;
  if (common < a.size() && common < b.size()) {
    is_smaller = static_cast<unsigned char>(a[common]) < static_cast<unsigned char>(b[common]);
  } else if (a.size() != b.size()) {
    is_smaller = a.size() < b.size();
  }
  if (is_smaller) std::swap(player, winner);
  player.common = common;
}

bool StringMerger::next() {
  if (runs_.empty()) return false;
  if (has_begun_) {
    const std::size_t run = winner_.run;
    winner_ = advance(run);
    for (std::size_t node = (runs_.size() + run) / 2; node > 0; node /= 2) play(losers_[node], winner_);
  }
  has_begun_ = true;
  return !winner_.is_at_end;
}

}  // namespace wisp::detail
