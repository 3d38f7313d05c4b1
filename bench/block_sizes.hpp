#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace wisp::bench {

/// The problems of Träff 2019, section 5: how many elements each of `ranks` ranks has, `average` of them on
/// average (but for the two blocks). The same on all ranks.
struct Distribution {
  std::string_view name;
  std::vector<std::int64_t> (*counts)(int ranks, std::int64_t average);
};

template <class CountOf>
std::vector<std::int64_t> counts_by(int ranks, CountOf count_of) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) counts.push_back(count_of(rank));
  return counts;
}

inline const Distribution distributions[] = {
    {"same", [](int ranks, std::int64_t b) { return counts_by(ranks, [b](int) { return b; }); }},
    {"random",
     [](int ranks, std::int64_t b) {
       std::mt19937_64 random(1);
       return counts_by(ranks, [&](int) {
         return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * b));
       });
     }},
    {"spikes",
     [](int ranks, std::int64_t b) {
       constexpr std::int64_t rho = 5;
       std::mt19937_64 random(1);
       return counts_by(ranks, [&](int) { return random() % rho == 0 ? rho * b : std::int64_t{1}; });
     }},
    {"decreasing",
     [](int ranks, std::int64_t b) {
       return counts_by(ranks, [=](int rank) { return 2 * b * (ranks - rank) / ranks + 1; });
     }},
    {"alternating",
     [](int ranks, std::int64_t b) {
       return counts_by(ranks, [=](int rank) { return rank % 2 == 0 ? b + b / 2 : b - b / 2; });
     }},
    {"two-blocks", [](int ranks, std::int64_t b) {
       return counts_by(ranks,
                        [=](int rank) { return rank == 0 || rank == ranks - 1 ? b : std::int64_t{0}; });
     }}};

}  // namespace wisp::bench
