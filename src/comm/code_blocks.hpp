#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "wisp/detail/as_size.hpp"

namespace wisp::detail {

/// Which of the communicators that a pair of processes shares, counted from 1, has which code. The first ones
/// have the code of their own number; later ones have what the two agreed on, a block of numbers at a time.
///
///   numbers   1 … 12 | 13 … 24 | 25 … 90 | 91 … 104 | …
///   codes     0 … 11 | 3 7 8 … | unknown | 0 1 4 …  |        3 was free again when the first block was made
///
/// A communicator may need contexts more as it lives: extensions, which its members make in one order, but in
/// any order with other communicators. Their numbers are negative, and make blocks of one.
///
/// code_of: O(log blocks). Blocks of which nothing is held any more are dropped.
class CodeBlocks {
 public:
  using Number = std::int64_t;

  /// Extension 1, 2, … of communicator `of`; 0 is that of all ranks.
  static constexpr Number extension(Number of, int which) { return -(of << extension_bits | which); }
  static constexpr Number extended(Number number) { return -number >> extension_bits; }
  static constexpr int extension_of(Number number) {
    return static_cast<int>(-number & ((Number{1} << extension_bits) - 1));
  }

  explicit CodeBlocks(int code_count) : code_count_(code_count) {}

  /// So many numbers have their own codes; the rest of the codes is for blocks.
  static constexpr int given_count(int code_count) { return code_count - code_count / 2; }
  static constexpr bool is_given(Number number, int code_count) {
    return number > 0 && number <= given_count(code_count);
  }

  /// 0 … code_count - 1, or -1: the two have not agreed on it.
  int code_of(Number number) const {
    if (is_given(number, code_count_)) return static_cast<int>(number - 1);
    const Block* block = block_of(number);
    return block == nullptr ? -1 : block->codes[as_size(number - block->first)];
  }

  /// Numbers from `first` on have these codes, but for those that have one here: the other process may have
  /// forgotten a block that is still held here, and holds none of its numbers then.
  void add(Number first, const std::vector<int>& codes) {
    Number number = first;
    for (auto code = codes.begin(); code != codes.end();) {
      Block block{number, {}};
      for (; code != codes.end() && code_of(number) < 0; ++code, ++number) block.codes.push_back(*code);
      if (!block.codes.empty()) {
        const auto place = first_after(block.first);
        blocks_.insert(place, std::move(block));
      }
      for (; code != codes.end() && code_of(number) >= 0; ++code) ++number;
    }
  }

  /// How many numbers from `first` on, which has no code, a block can have: up to the next one.
  Number room_from(Number first, Number most) const {
    if (first < 0) return 1;
    const auto after = first_after(first);
    return after == blocks_.end() ? most : std::min(most, after->first - first);
  }

  /// Marks the codes of numbers that may be in use: those above `created`, whose communicators this process
  /// has yet to make, and all that `for_each_alive` passes on, with the last extension that each has so far
  /// (later ones are yet to be made), or -1 of an extension. Forgets blocks without any.
  template <class ForEachAlive>
  std::vector<bool> held(Number created, ForEachAlive for_each_alive) {
    std::vector<bool> held(as_size(code_count_));
    for (Number number = created + 1; is_given(number, code_count_); ++number) {
      held[as_size(number - 1)] = true;
    }
    for (Block& block : blocks_) {
      if (block.first < 0) {
        block.is_held = extended(block.first) > created;
        if (block.is_held) mark(held, block, block.first);
        continue;
      }
      block.is_held = block.end() > created + 1;
      for (Number number = std::max(block.first, created + 1); number < block.end(); ++number) {
        mark(held, block, number);
      }
    }
    for_each_alive([&](Number number, int extensions) {
      if (is_given(number, code_count_)) {
        held[as_size(number - 1)] = true;
      } else if (const Block* block = block_of(number); block != nullptr) {
        mark(held, blocks_[as_size(block - blocks_.data())], number);
      }
      if (extensions < 0) return;
      for (Block& block : blocks_) {
        if (block.first >= 0) break;
        if (extended(block.first) == number && extension_of(block.first) > extensions) {
          mark(held, block, block.first);
        }
      }
    });
    std::erase_if(blocks_, [](const Block& block) { return !block.is_held; });
    return held;
  }

 private:
  struct Block {
    Number first;
    std::vector<int> codes;
    bool is_held = true;

    Number end() const { return first + static_cast<Number>(codes.size()); }
  };

  static constexpr int extension_bits = 31;  // as many as an int counts

  static void mark(std::vector<bool>& held, Block& block, Number number) {
    block.is_held = true;
    held[as_size(block.codes[as_size(number - block.first)])] = true;
  }
  std::vector<Block>::const_iterator first_after(Number number) const {
    return std::upper_bound(blocks_.begin(), blocks_.end(), number,
                            [](Number value, const Block& block) { return value < block.first; });
  }
  /// The block that has the number, or null.
  const Block* block_of(Number number) const {
    const auto after = first_after(number);
    return after != blocks_.begin() && number < (after - 1)->end() ? &*(after - 1) : nullptr;
  }

  int code_count_;
  std::vector<Block> blocks_;  ///< in the order of their numbers
};

/// Codes for a new block: of those that nobody holds three quarters, so that some are left for numbers that
/// come before it, and as many as `reserved` communicators need that have none yet; but at least one, and not
/// more than `most`.
inline std::vector<int> choose_codes(const std::vector<bool>& held, std::int64_t most,
                                     std::int64_t reserved = 0) {
  const auto free = static_cast<std::int64_t>(std::count(held.begin(), held.end(), false));
  const std::int64_t usual = std::max(free - std::max(free / 4, reserved), std::min<std::int64_t>(free, 1));
  const auto count = as_size(std::min(most, usual));
  std::vector<int> chosen;
  chosen.reserve(count);
  for (std::size_t code = 0; code < held.size() && chosen.size() < count; ++code) {
    if (!held[code]) chosen.push_back(static_cast<int>(code));
  }
  return chosen;
}

}  // namespace wisp::detail
