#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "pattern/block_sums.hpp"
#include "pattern/log2.hpp"

// Ordered gather trees (Träff 2019, section 2): cubes of consecutive ranks join pairwise, and the gather root
// of one of the two takes the blocks of the other, so that what a rank has gathered is always in rank order.

namespace wisp::detail {

/// Consecutive ranks; with dimension d at most 2^d of them, beginning at a multiple of that.
struct Cube {
  int first = 0;
  int last = 0;

  constexpr bool contains(int rank) const { return first <= rank && rank <= last; }
  constexpr int size() const { return last - first + 1; }
  friend constexpr bool operator==(const Cube&, const Cube&) = default;
};

constexpr Cube join(const Cube& a, const Cube& b) {
  return a.first < b.first ? Cube{a.first, b.last} : Cube{b.first, a.last};
}

/// The incomplete hypercube over all ranks of an operation.
class OrderedHypercube {
 public:
  constexpr OrderedHypercube(int ranks, int root) : ranks_(ranks), root_(root) {}

  constexpr int root() const { return root_; }
  constexpr int dimensions() const { return ceil_log2(ranks_); }
  constexpr Cube cube_of(int rank, int dimension) const {
    const int first = rank >> dimension << dimension;
    const long long end = (static_cast<long long>(first) + (1LL << dimension));
    return {first, end < ranks_ ? static_cast<int>(end) - 1 : ranks_ - 1};
  }
  /// What joins it to a cube of one dimension more; nothing if there are no more ranks.
  constexpr std::optional<Cube> sibling_of(const Cube& cube, int dimension) const {
    const int first = cube.first ^ (1 << dimension);
    if (first >= ranks_) return std::nullopt;
    return cube_of(first, dimension);
  }
  /// Who speaks for a cube, as all ranks know: the root of the operation if it is there, else the last rank.
  constexpr int fixed_root(const Cube& cube) const { return cube.contains(root_) ? root_ : cube.last; }
  /// Who gathers a cube if all blocks are equal: of two halves the larger wins, of equal ones the upper.
  constexpr int gather_root_of_equal(const Cube& cube) const {
    if (cube.contains(root_)) return root_;
    const auto ranks = static_cast<unsigned>(cube.size());
    return cube.first + static_cast<int>(std::bit_floor(ranks)) - 1;
  }

 private:
  int ranks_;
  int root_;
};

/// What the roots of a cube know of it, and tell the roots of its sibling.
struct CubeRecord {
  std::uint64_t remaining = 0;  ///< bytes that its gather root has gathered and not sent straight to the root
  BlockSums sums;               ///< of all its blocks
  std::int32_t gather_root = 0;
  std::int32_t direct = 0;  ///< messages from it straight to the root
};

/// A rank's place in a gather tree.
struct OrderedNode {
  struct Child {
    Cube cube;
    CubeRecord record;
  };

  bool is_known = false;        ///< found out already
  int parent = -1;              ///< -1: the root, or nothing to send
  bool is_direct = false;       ///< the parent is the root, which does not know of this message yet
  Cube cube;                    ///< whose blocks come together here
  std::vector<Child> children;  ///< in the order in which they join
};

/// Where the blocks that come together at a node lie, packed in rank order: its own, and its children's.
struct OrderedPlaces {
  std::uint64_t own = 0;
  std::vector<std::uint64_t> children;
  std::uint64_t total = 0;
};
inline OrderedPlaces places_at(const OrderedNode& node, int rank, std::uint64_t own_bytes) {
  OrderedPlaces places;
  for (const OrderedNode::Child& child : node.children) {
    if (child.cube.last < rank) places.own += child.record.remaining;
  }
  // Each child that joins lies before or behind all that have joined.
  std::uint64_t begin = places.own;
  std::uint64_t end = places.own + own_bytes;
  for (const OrderedNode::Child& child : node.children) {
    const bool is_before = child.cube.last < rank;
    if (is_before) begin -= child.record.remaining;
    places.children.push_back(is_before ? begin : end);
    if (!is_before) end += child.record.remaining;
  }
  places.total = end;
  return places;
}

/// Graceful degradation: where two cubes join and have `threshold` bytes or more together, these go straight
/// to the root and are no part of what is gathered further up. Which blocks that leaves is a matter of the
/// sizes alone: the root, which knows them all, finds it out by itself.
template <class BytesOf>
class Remaining {
 public:
  Remaining(BytesOf bytes_of, std::uint64_t threshold) : bytes_of_(bytes_of), threshold_(threshold) {}

  /// Bytes that come together where the halves of `cube` join; the ranks that have some are appended.
  std::uint64_t joined(const Cube& cube, std::vector<int>& ranks) const {
    if (cube.size() == 1) {
      const std::uint64_t bytes = bytes_of_(cube.first);
      if (bytes > 0) ranks.push_back(cube.first);
      return bytes;
    }
    const int half = static_cast<int>(std::bit_ceil(static_cast<unsigned>(cube.size())) / 2);
    return left_over({cube.first, cube.first + half - 1}, ranks) +
           left_over({cube.first + half, cube.last}, ranks);
  }
  /// The same without what went straight to the root.
  std::uint64_t left_over(const Cube& cube, std::vector<int>& ranks) const {
    const std::size_t before = ranks.size();
    const std::uint64_t bytes = joined(cube, ranks);
    if (bytes < threshold_) return bytes;
    ranks.resize(before);
    return 0;
  }

 private:
  BytesOf bytes_of_;
  std::uint64_t threshold_;
};

constexpr std::uint64_t no_threshold = std::numeric_limits<std::uint64_t>::max();

/// What two sibling cubes are together, as both their roots compute it. The gather root with more bytes wins,
/// of equal ones the upper; that of the operation always (m_root = ∞, Lemma 2).
struct Joined {
  Cube cube;
  CubeRecord record;
  bool first_wins = false;
  bool goes_to_root = false;  ///< the threshold is reached: the winner sends all it has to the root
};
inline Joined join(const OrderedHypercube& cubes, const Cube& first, const CubeRecord& of_first,
                   const Cube& second, const CubeRecord& of_second, std::uint64_t threshold) {
  Joined joined;
  joined.cube = join(first, second);
  joined.record.sums = of_first.sums + of_second.sums;
  joined.record.direct = of_first.direct + of_second.direct;
  joined.record.remaining = of_first.remaining + of_second.remaining;
  const bool has_root = joined.cube.contains(cubes.root());
  if (has_root) {
    joined.first_wins = first.contains(cubes.root());
  } else if (of_first.remaining != of_second.remaining) {
    joined.first_wins = of_first.remaining > of_second.remaining;
  } else {
    joined.first_wins = first.first > second.first;
  }
  joined.record.gather_root = joined.first_wins ? of_first.gather_root : of_second.gather_root;
  joined.goes_to_root = !has_root && joined.record.remaining >= threshold;
  if (joined.goes_to_root) {
    joined.record.remaining = 0;
    joined.record.direct += 1;
  }
  // Nobody need gather nothing.
  if (!has_root && joined.record.remaining == 0) joined.record.gather_root = cubes.fixed_root(joined.cube);
  return joined;
}

/// The record of a cube and what it sends straight to the root, as one who knows all sizes finds them.
struct StraightCube {
  Cube cube;
  int gather_root = 0;
};
template <class BytesOf>
CubeRecord record_of(const OrderedHypercube& cubes, const Cube& cube, std::uint64_t threshold,
                     BytesOf bytes_of, std::vector<StraightCube>& straight) {
  if (cube.size() == 1) {
    CubeRecord record;
    record.gather_root = cube.first;
    record.remaining = bytes_of(cube.first);
    if (record.remaining >= threshold) {
      straight.push_back({cube, cube.first});
      record.remaining = 0;
    }
    return record;
  }
  const int half = static_cast<int>(std::bit_ceil(static_cast<unsigned>(cube.size())) / 2);
  const Cube left{cube.first, cube.first + half - 1};
  const Cube right{cube.first + half, cube.last};
  const CubeRecord of_left = record_of(cubes, left, threshold, bytes_of, straight);
  const CubeRecord of_right = record_of(cubes, right, threshold, bytes_of, straight);
  const Joined joined = join(cubes, left, of_left, right, of_right, threshold);
  if (joined.goes_to_root) straight.push_back({cube, (joined.first_wins ? of_left : of_right).gather_root});
  return joined.record;
}

/// The same where all blocks have `block` bytes, in O(log p): every rank finds it without a message. Without
/// `straight`, nothing is listed there.
inline CubeRecord record_of_equal(const OrderedHypercube& cubes, const Cube& cube, std::uint64_t block,
                                  std::uint64_t threshold, std::vector<StraightCube>* straight) {
  const auto size = static_cast<unsigned>(cube.size());
  CubeRecord record;
  record.gather_root = cubes.gather_root_of_equal(cube);
  if (std::has_single_bit(size) && !cube.contains(cubes.root())) {
    int part = 1;
    while (part < cube.size() && static_cast<std::uint64_t>(part) * block < threshold) part *= 2;
    if (static_cast<std::uint64_t>(part) * block < threshold) {
      record.remaining = size * block;
    } else if (straight != nullptr) {
      for (int first = cube.first; first <= cube.last; first += part) {
        straight->push_back({{first, first + part - 1}, first + part - 1});
      }
    }
    return record;
  }
  if (size == 1) return record;  // the root
  const int half = static_cast<int>(std::bit_ceil(size) / 2);
  const Cube left{cube.first, cube.first + half - 1};
  const Cube right{cube.first + half, cube.last};
  const CubeRecord of_left = record_of_equal(cubes, left, block, threshold, straight);
  const CubeRecord of_right = record_of_equal(cubes, right, block, threshold, straight);
  const Joined joined = join(cubes, left, of_left, right, of_right, threshold);
  if (joined.goes_to_root && straight != nullptr) {
    straight->push_back({cube, (joined.first_wins ? of_left : of_right).gather_root});
  }
  return joined.record;
}

/// The place of `rank` in the tree of equal blocks.
inline OrderedNode node_of_equal(const OrderedHypercube& cubes, int rank, std::uint64_t block,
                                 std::uint64_t threshold) {
  const bool is_root = rank == cubes.root();
  OrderedNode node;
  node.cube = {rank, rank};
  CubeRecord mine = record_of_equal(cubes, node.cube, block, threshold, nullptr);
  if (!is_root && mine.remaining == 0) {
    node.parent = block > 0 ? cubes.root() : -1;
    return node;
  }
  for (int dimension = 0; dimension < cubes.dimensions() && node.parent < 0; ++dimension) {
    const std::optional<Cube> sibling = cubes.sibling_of(node.cube, dimension);
    if (!sibling) continue;
    const CubeRecord theirs = record_of_equal(cubes, *sibling, block, threshold, nullptr);
    const Joined joined = join(cubes, node.cube, mine, *sibling, theirs, threshold);
    if (joined.first_wins) {
      if (theirs.remaining > 0 || is_root) node.children.push_back({*sibling, theirs});
      node.cube = joined.cube;
      if (joined.goes_to_root) node.parent = cubes.root();
    } else {
      node.parent = theirs.gather_root;
    }
    mine = joined.record;
  }
  return node;
}

}  // namespace wisp::detail
