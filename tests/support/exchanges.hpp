#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/detail/mix.hpp"
#include "wisp/error.hpp"

/// Blocks from everybody to everybody, whose sizes and contents follow from a seed: what arrives is compared
/// with what all ranks can compute.

namespace wisp::test {

enum class Sizes { small, mixed, large, few };

inline std::uint64_t drawn(std::uint64_t seed, int from, int to, std::uint64_t what) {
  return detail::mix(seed * 4 + what +
                     detail::mix(static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to)));
}

/// Elements of the block from one rank to another.
inline int block_size(std::uint64_t seed, int from, int to, Sizes sizes) {
  const std::uint64_t any = drawn(seed, from, to, 0);
  switch (sizes) {
    case Sizes::small:
      return static_cast<int>(any % 5);
    case Sizes::mixed:
      return static_cast<int>(any % 7 == 0 ? any / 7 % 9000 : any / 7 % 40);
    case Sizes::large:
      return static_cast<int>(2000 + any % 4000);
    case Sizes::few:
      return any % 5 == 0 ? 3 : 0;
  }
  return 0;
}

inline std::vector<int> block_of(std::uint64_t seed, int from, int to, int size) {
  std::vector<int> block(static_cast<std::size_t>(size));
  std::iota(block.begin(), block.end(), static_cast<int>(drawn(seed, from, to, 1) >> 40));
  return block;
}

/// Blocks in one array, the one for or of each rank behind the other.
struct AllBlocks {
  std::vector<int> data;
  std::vector<int> counts;
  std::vector<int> begins;

  void add(const std::vector<int>& block) {
    begins.push_back(static_cast<int>(data.size()));
    counts.push_back(static_cast<int>(block.size()));
    data.insert(data.end(), block.begin(), block.end());
  }
};

/// Some algorithms are there for nodes of one size; all ranks say so, before any message.
inline bool is_of_uneven_nodes(const Error& error) {
  return std::string_view(error.what()).find("does not work with nodes of different sizes") !=
         std::string_view::npos;
}

inline Task<> check_alltoallv(Comm comm, std::uint64_t seed, Sizes sizes, std::string_view algorithm = {}) {
  AllBlocks send;
  AllBlocks expected;
  for (int other = 0; other < comm.size(); ++other) {
    send.add(block_of(seed, comm.rank(), other, block_size(seed, comm.rank(), other, sizes)));
    expected.add(block_of(seed, other, comm.rank(), block_size(seed, other, comm.rank(), sizes)));
  }
  std::vector<int> receive(expected.data.size(), -1);
  const CollectiveOptions options{.algorithm = algorithm};
  try {
    co_await alltoallv(comm, ConstBlocks(send.data, send.counts, send.begins),
                       {receive, expected.counts, expected.begins}, options);
  } catch (const Error& error) {
    if (!is_of_uneven_nodes(error)) throw;
    co_return;
  }
  EXPECT_EQ(receive, expected.data);
}

/// How many blocks one rank has for another: most have few partners, and some more than one block for them.
inline int block_count(std::uint64_t seed, int from, int to, int ranks) {
  const std::uint64_t any = drawn(seed, from, to, 2);
  return any % static_cast<std::uint64_t>(ranks) < 4 ? 1 + static_cast<int>(any >> 50) % 2 : 0;
}

struct Exchanged {
  std::vector<std::vector<int>> blocks;
  std::vector<Outgoing> messages;

  Exchanged(const Comm& comm, std::uint64_t seed, Sizes sizes) {
    // Partners in an order that is nobody's.
    for (int i = 0; i < comm.size(); ++i) {
      const int to =
          static_cast<int>((static_cast<std::uint64_t>(i) + seed) % static_cast<std::uint64_t>(comm.size()));
      for (int k = 0; k < block_count(seed, comm.rank(), to, comm.size()); ++k) {
        blocks.push_back(block_of(seed, comm.rank(), to, k + block_size(seed, comm.rank(), to, sizes)));
        messages.push_back({to, blocks.back()});
      }
    }
  }
};

inline void check_arrivals(const Comm& comm, std::uint64_t seed, Sizes sizes, const Arrivals& arrivals) {
  std::size_t next = 0;
  for (int from = 0; from < comm.size(); ++from) {
    for (int k = 0; k < block_count(seed, from, comm.rank(), comm.size()); ++k) {
      ASSERT_LT(next, arrivals.size());
      EXPECT_EQ(arrivals[next].source, from);
      EXPECT_EQ(arrivals[next].as<int>(),
                block_of(seed, from, comm.rank(), k + block_size(seed, from, comm.rank(), sizes)));
      ++next;
    }
  }
  EXPECT_EQ(arrivals.size(), next);
}

inline Task<> check_exchange(Comm comm, std::uint64_t seed, Sizes sizes, CollectiveOptions options = {}) {
  const Exchanged given(comm, seed, sizes);
  Arrivals arrivals;
  try {
    co_await exchange(comm, given.messages, arrivals, options);
  } catch (const Error& error) {
    if (!is_of_uneven_nodes(error)) throw;
    co_return;
  }
  check_arrivals(comm, seed, sizes, arrivals);
}

}  // namespace wisp::test
