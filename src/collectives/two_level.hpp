#pragma once

#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"

namespace wisp::detail {

/// The two groups of a rank in an operation of two levels.
struct TwoLevels {
  /// Member `member` of each node (from its end if negative) speaks for it, of the root's node the root.
  TwoLevels(const Channel& channel, const Arguments& given, int member = 0);

  bool is_seat() const { return inside.rank() == seat; }

  std::shared_ptr<const GroupNodes> nodes;
  Channel inside;     ///< the ranks of this node
  Channel between;    ///< one of each node; of use to those only
  int node;           ///< of this rank
  int seat;           ///< who speaks for it, as a rank of `inside`
  int root_node = 0;  ///< the root, as a rank of `between`
};

/// Blocks of all ranks by node, in memory or as bytes in scratch space, and those of each node.
class NodeBlocks {
 public:
  /// Where nodes' ranks follow each other, that is the order of `all`.
  NodeBlocks(const GroupNodes& nodes, const Buffer& all);
  /// Scratch space, where they do not; with as much for each node, or as much as it needs.
  enum class Room { even, needed };
  NodeBlocks(const GroupNodes& nodes, std::size_t bytes_of_block, Room room);

  const Buffer& whole() const { return all_; }
  /// Whether they are the user's own.
  bool is_users() const { return is_users_; }
  Buffer of_node(int node) const { return range(begin(node), nodes_.size_of(node)); }
  Buffer of_rank(int rank) const;
  /// Of nodes of several sizes.
  Arguments::More to_receive() const { return {.receive = Blocks(all_, counts_)}; }

  /// From and to the blocks of all ranks in their order.
  void copy_from(const ConstBuffer& all, int ranks) const;
  void copy_to(const Buffer& all, int ranks) const;

 private:
  /// Blocks before those of a node.
  std::size_t begin(int node) const {
    return is_padded_ ? as_size(node) * as_size(nodes_.shape().most) : as_size(nodes_.begin(node));
  }
  Buffer range(std::size_t first, int blocks) const;
  void count_blocks();

  const GroupNodes& nodes_;
  bool is_users_ = false;
  bool is_padded_ = false;
  ScratchVector scratch_;
  Buffer all_;
  TypeLayout layout_;
  std::size_t block_ = 0;             ///< elements
  std::vector<std::int64_t> counts_;  ///< of nodes
};

// Each collective among one rank of each node, and inside the nodes.
Task<> barrier_two_level(Channel channel, Arguments given);
Task<> bcast_two_level(Channel channel, Arguments given);
Task<> reduce_two_level(Channel channel, Arguments given);
Task<> allreduce_two_level(Channel channel, Arguments given);
Task<> allreduce_lanes(Channel channel, Arguments given);
Task<> scan_two_level(Channel channel, Arguments given);
Task<> exscan_two_level(Channel channel, Arguments given);
Task<> gather_two_level(Channel channel, Arguments given);
Task<> scatter_two_level(Channel channel, Arguments given);
Task<> allgather_two_level(Channel channel, Arguments given);

/// For tables.
template <Task<> run(Channel, Arguments)>
Task<> on_two_levels(Channel&& channel, const Arguments& given) {
  return run(std::move(channel), given);
}
/// Operands meet in rank order where ranks of a node follow each other, or need not.
inline bool keeps_order(const Case& of) {
  return of.nodes.in_order || commutes(of);
}
inline bool is_in_order(const Case& of) {
  return of.nodes.in_order;
}
inline bool is_even_and_commutes(const Case& of) {
  return of.nodes.is_even && commutes(of);
}
inline bool is_even(const Case& of) {
  return of.nodes.is_even;
}

}  // namespace wisp::detail
