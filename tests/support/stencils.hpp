#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "wisp/neighborhood.hpp"

namespace wisp::test {

/// Dimension sizes for all of `ranks`, drawn at random.
template <class Random>
std::vector<int> random_dims(Random& random, int ranks, int most_dimensions) {
  const int d = std::uniform_int_distribution<int>(1, most_dimensions)(random);
  std::vector<int> dims(static_cast<std::size_t>(d), 1);
  for (int factor = 2; ranks > 1;) {
    if (ranks % factor != 0) {
      ++factor;
      continue;
    }
    dims[random() % dims.size()] *= factor;
    ranks /= factor;
  }
  return dims;
}

/// Offsets that repeat, are zero and go around, on a torus, a mesh, or something in between.
inline Stencil random_stencil(std::mt19937& random, int ranks) {
  const std::vector<int> dims = random_dims(random, ranks, 3);
  std::vector<int> periods(dims.size());
  for (int& period : periods) period = random() % 3 != 0 ? 1 : 0;
  Offsets offsets(static_cast<int>(dims.size()));
  const auto count = random() % 14;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<int> offset(dims.size());
    for (int& c : offset) c = std::uniform_int_distribution<int>(-3, 3)(random);
    offsets.add(offset);
  }
  return {Torus(dims, periods), offsets};
}

/// What element e of the block that `source` sends as block i is.
inline std::int64_t element_of(int source, int block, std::size_t e) {
  return std::int64_t{source} * 1'000'000 + block * 1'000 + static_cast<std::int64_t>(e);
}

constexpr std::int64_t untouched = -7;

/// The blocks of one rank: block i has `counts[i]` elements; `gap` elements lie between two blocks.
struct NeighborData {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<std::int64_t> send;
  std::vector<std::int64_t> receive;

  /// An allgather sends one block of counts[0] elements.
  NeighborData(const Neighborhood& on, NeighborPattern pattern, std::vector<int> block_counts, int gap)
      : counts(std::move(block_counts)) {
    int end = 0;
    for (const int count : counts) {
      displacements.push_back(end);
      end += count + gap;
    }
    receive.assign(static_cast<std::size_t>(end), untouched);
    const std::size_t sent = pattern == NeighborPattern::alltoall ? counts.size() : counts.empty() ? 0 : 1;
    send.assign(static_cast<std::size_t>(end), untouched);
    for (std::size_t i = 0; i < sent; ++i) {
      for (int e = 0; e < counts[i]; ++e) {
        send[static_cast<std::size_t>(displacements[i] + e)] =
            element_of(on.comm().rank(), static_cast<int>(i), static_cast<std::size_t>(e));
      }
    }
  }

  /// What `receive` must be at the end.
  std::vector<std::int64_t> expected(const Neighborhood& on, NeighborPattern pattern) const {
    std::vector<std::int64_t> due(receive.size(), untouched);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const int source = on.sources()[i];
      if (source == MPI_PROC_NULL) continue;
      const int block = pattern == NeighborPattern::alltoall ? static_cast<int>(i) : 0;
      for (int e = 0; e < counts[i]; ++e) {
        due[static_cast<std::size_t>(displacements[i] + e)] =
            element_of(source, block, static_cast<std::size_t>(e));
      }
    }
    return due;
  }

  ConstBuffer own_block() const { return {send.data(), static_cast<std::size_t>(counts[0]), MPI_INT64_T}; }
  ConstBlocks sent() const { return {send.data(), counts, displacements, MPI_INT64_T}; }
  Blocks received() { return {receive.data(), counts, displacements, MPI_INT64_T}; }
};

}  // namespace wisp::test
