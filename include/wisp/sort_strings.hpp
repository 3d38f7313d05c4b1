#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wisp/comm.hpp"
#include "wisp/task.hpp"

namespace wisp {

struct StringSortOptions {
  /// What every rank has as much of afterwards: strings (exactly), or characters (to one string).
  enum class Balance { strings, characters };
  Balance balance = Balance::strings;
};

/// Sorts the strings of all ranks of `comm` by their bytes, as std::string compares them; of any length, with
/// any characters; one of 2^32 characters or more, or options that differ, are an Error on every rank. Rank 0
/// has the smallest afterwards, and every rank its share.
///
/// What a string has in common with the one before it in order is neither sent nor compared again: O(c) local
/// work and O(c/p β) for c characters that tell strings from each other, O(α log p log n) for splitters.
/// Memory for about twice a rank's characters, and 24 bytes a string. Sources: Bingmann, Sanders, Schimek
/// 2020 (distributed string merge sort); Kurpicz, Mehnert, Sanders, Schimek 2024.
void sort(const Comm& comm, std::vector<std::string>& data, const StringSortOptions& options = {});
Task<> async_sort(const Comm& comm, std::vector<std::string>& data, StringSortOptions options = {},
                  std::optional<int> own_tag = {});

}  // namespace wisp
