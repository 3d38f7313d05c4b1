#pragma once

#include <algorithm>

#include "collectives/algorithms.hpp"
#include "pattern/ordered_tree.hpp"

/// What the operations over ordered gather trees share.

namespace wisp::detail {

/// Finds this rank's place in the tree that fits the blocks' sizes (Lemma 3); every rank knows only its own.
/// At the root all of its siblings are children, also those with nothing to send.
Task<> construct_ordered_tree(Channel channel, OrderedHypercube cubes, std::uint64_t bytes,
                              std::uint64_t threshold, OrderedNode& node);

/// Sends the blocks of this rank's subtree to its parent, packed in rank order.
Task<> gather_subtree(Channel channel, ConstBuffer send, const OrderedNode& node);
/// Receives them, and passes on what belongs to others. False if the parent says that the root's counts are
/// others: it has sent an empty message.
Task<bool> scatter_subtree(Channel channel, Buffer receive, const OrderedNode& node);

/// What goes straight between a cube's gather root and the root is announced there, on lane 1.
struct DirectHeader {
  Cube cube;
  std::uint64_t bytes = 0;
};

/// What a persistent operation keeps from one run to the next.
struct OrderedMemory {
  struct Early {
    DirectHeader header;
    int source;
  };

  OrderedNode node;
  std::vector<Early> early;  ///< at the root: announcements of later runs
};

template <class T>
Buffer bytes_of_object(T& object) {
  return {&object, sizeof(T), MPI_BYTE};
}

struct BytesOfRank {
  const BlockList* blocks;
  std::uint64_t operator()(int rank) const { return blocks->bytes(rank); }
};

/// The root's side: which blocks a cube sends or gets, and whether its ranks agree with the root's counts.
class OrderedRoot {
 public:
  OrderedRoot(const Channel& channel, const OrderedHypercube& cubes, const BlockList& blocks,
              std::uint64_t threshold)
      : operation_(channel.operation()), cubes_(cubes), blocks_(&blocks), threshold_(threshold) {}

  /// Takes a cube's word: compares what its ranks have with the counts, remembers the first difference, and
  /// notes what goes straight.
  void add(const Cube& cube, const CubeRecord& record) {
    if (record.sums == sums_of(cube.first, cube.last, bytes_of_rank())) {
      record_of(cubes_, cube, threshold_, bytes_of_rank(), straight_);
      return;
    }
    disagreeing_.push_back(cube);
    from_others_ += record.direct;
    if (disagreeing_.size() > 1) return;
    first_ = find_disagreement(record.sums, cube.first, cube.last, bytes_of_rank());
    sums_ = record.sums;
  }
  bool agrees(const Cube& cube) const {
    for (const Cube& other : disagreeing_) {
      if (other.contains(cube.first)) return false;
    }
    return true;
  }
  /// The blocks that a cube sends up the tree, and those that it sends straight to the root.
  std::vector<int> left_over(const Cube& cube) const {
    std::vector<int> ranks;
    remaining().left_over(cube, ranks);
    return ranks;
  }
  std::vector<int> joined(const Cube& cube) const {
    std::vector<int> ranks;
    remaining().joined(cube, ranks);
    return ranks;
  }
  /// The cubes that go straight, of those that agree; and how many messages straight the others have.
  std::vector<StraightCube>& straight() { return straight_; }
  int from_others() const { return from_others_; }
  /// Throws if some rank did not agree.
  void check() const;

 private:
  BytesOfRank bytes_of_rank() const { return {blocks_}; }
  Remaining<BytesOfRank> remaining() const { return {bytes_of_rank(), threshold_}; }

  const char* operation_;
  OrderedHypercube cubes_;
  const BlockList* blocks_;
  std::uint64_t threshold_;
  std::vector<StraightCube> straight_;
  int from_others_ = 0;
  std::vector<Cube> disagreeing_;
  std::optional<Disagreement> first_;
  BlockSums sums_;
};

/// Awaits the announcements of all messages straight to or from the root, and calls `then(header, source)`
/// for each. Whoever agrees with the root's counts announces what the root can tell alone; only from the
/// others' cubes announcements come from any source. Who agrees may have started a persistent operation anew
/// by then: its announcement is kept for that run.
template <class Then>
Task<> await_straight(Channel headers, OrderedRoot& at_root, std::vector<OrderedMemory::Early>& early,
                      Then then) {
  for (const StraightCube& cube : at_root.straight()) {
    DirectHeader header;
    const int source = cube.gather_root;
    const auto kept = std::find_if(early.begin(), early.end(),
                                   [&](const OrderedMemory::Early& one) { return one.source == source; });
    if (kept != early.end()) {
      header = kept->header;
      early.erase(kept);
    } else {
      co_await headers.post_receive(bytes_of_object(header), source);
    }
    then(header, source);
  }
  for (int left = at_root.from_others(); left > 0;) {
    DirectHeader header;
    const int source = headers.source_of(co_await headers.post_receive_from_any(bytes_of_object(header)));
    if (at_root.agrees({source, source})) {
      early.push_back({header, source});
    } else {
      then(header, source);
      --left;
    }
  }
}

/// Receives what goes straight to the root.
Task<> receive_straight(Channel channel, const BlockList& blocks, OrderedRoot& at_root,
                        std::vector<OrderedMemory::Early>& early);

}  // namespace wisp::detail
