#pragma once

#include <cstddef>
#include <string_view>

#include "pattern/cost_model.hpp"

namespace wisp::detail {

/// What a split is to do, as far as all ranks know it alike.
struct SplitQuestion {
  int ranks = 1;
  std::size_t item_bytes = 0;  ///< of what algorithms send for a rank
  bool splits = false;
  bool orders = false;
  bool are_integers = false;  ///< colors and keys, without an order of the user's
  bool has_hash = false;      ///< equal colors have equal hashes
  bool has_texts = false;     ///< labels whose length only their rank knows
};

/// What an algorithm costs: "allgather", "gather-scatter", "bitonic", "radix", or "hash-64", which orders the
/// ranks of one color by an allgather of p^(3/4) of them, as nobody knows before how many there are.
Cost cost_of_split(std::string_view algorithm, const SplitQuestion& asked);
/// The cheapest of those that can do what is asked.
std::string_view choose_split(const SplitQuestion& asked, const Machine& machine);

}  // namespace wisp::detail
