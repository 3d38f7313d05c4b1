#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "wisp/detail/as_size.hpp"
#include "wisp/detail/mix.hpp"

namespace wisp::test {

/// Who sends how many blocks to whom, at random, and how large they are; every rank computes it alike.
class RandomGraph {
 public:
  RandomGraph(int ranks, std::uint32_t seed)
      : seed_(seed), sources_(detail::as_size(ranks)), targets_(detail::as_size(ranks)) {
    std::mt19937 random(seed);
    const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
    const int edges = below(6 * ranks);
    for (int edge = 0; edge < edges; ++edge) {
      const int from = below(ranks);
      // Some ranks have many neighbors, some pairs many blocks.
      const int to = below(3) == 0 ? (from + 1) % ranks : below(ranks);
      targets_[detail::as_size(from)].push_back(to);
      sources_[detail::as_size(to)].push_back(from);
    }
    for (auto* lists : {&sources_, &targets_}) {
      for (std::vector<int>& list : *lists) std::shuffle(list.begin(), list.end(), random);
    }
  }

  const std::vector<int>& sources(int rank) const { return sources_[detail::as_size(rank)]; }
  const std::vector<int>& targets(int rank) const { return targets_[detail::as_size(rank)]; }
  /// Elements of the blocks of a list: of the k-th that one rank sends to another.
  std::vector<int> sent(int rank, bool are_alike) const {
    return sizes(targets(rank), are_alike, [rank](int peer) { return std::pair(rank, peer); });
  }
  std::vector<int> received(int rank, bool are_alike) const {
    return sizes(sources(rank), are_alike, [rank](int peer) { return std::pair(peer, rank); });
  }
  /// Their values.
  std::vector<int> values_sent(int rank, bool are_alike) const {
    return values(targets(rank), sent(rank, are_alike), [rank](int peer) { return std::pair(rank, peer); });
  }
  std::vector<int> values_received(int rank, bool are_alike) const {
    return values(sources(rank), received(rank, are_alike),
                  [rank](int peer) { return std::pair(peer, rank); });
  }
  /// Messages that a rank sends, if all blocks for one go together and those of nothing do not.
  int messages(int rank, bool are_alike) const {
    std::map<int, int> elements;
    const std::vector<int> of_blocks = sent(rank, are_alike);
    for (std::size_t i = 0; i < of_blocks.size(); ++i) elements[targets(rank)[i]] += of_blocks[i];
    return static_cast<int>(
        std::ranges::count_if(elements, [&](const auto& of) { return of.first != rank && of.second > 0; }));
  }

 private:
  std::uint64_t code(std::pair<int, int> ends, int k) const {
    return detail::mix((detail::mix(seed_ * 4096ULL + static_cast<std::uint64_t>(ends.first)) +
                        static_cast<std::uint64_t>(ends.second)) *
                           64 +
                       static_cast<std::uint64_t>(k));
  }
  template <class Ends>
  std::vector<int> sizes(const std::vector<int>& list, bool are_alike, Ends ends) const {
    std::map<int, int> seen;
    std::vector<int> sizes;
    for (const int peer : list) {
      const std::uint64_t random = code(ends(peer), seen[peer]++);
      sizes.push_back(are_alike ? 3 : random % 5 == 0 ? 700 : static_cast<int>(random % 4));
    }
    return sizes;
  }
  template <class Ends>
  std::vector<int> values(const std::vector<int>& list, const std::vector<int>& sizes, Ends ends) const {
    std::map<int, int> seen;
    std::vector<int> values;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto first = static_cast<int>(code(ends(list[i]), seen[list[i]]++) % 1000000);
      for (int j = 0; j < sizes[i]; ++j) values.push_back(first + j);
    }
    return values;
  }

  std::uint32_t seed_;
  std::vector<std::vector<int>> sources_;
  std::vector<std::vector<int>> targets_;
};

}  // namespace wisp::test
