#pragma once

#include <memory>
#include <vector>

#include "pattern/node_layout.hpp"
#include "wisp/group.hpp"

namespace wisp::detail {

/// What all ranks know alike of a group's nodes.
struct NodeShape {
  int nodes = 1;
  int most = 1;          ///< ranks of a node at most
  bool in_order = true;  ///< the ranks of each node follow each other
  bool in_turn = false;  ///< one rank of each node after the other
  bool is_even = true;   ///< every node has as many

  /// Whether all are on one of several nodes.
  bool is_one() const { return nodes == 1 && most > 1; }
  /// Whether ranks at distances of larger powers of two are on one node.
  bool is_binary_turn() const { return in_turn && is_even && (nodes & (nodes - 1)) == 0; }
  /// And those at a half, a quarter … of the number of ranks, too, down to that of nodes.
  bool is_halving_turn() const { return is_binary_turn() && is_even && (most & (most - 1)) == 0; }

  friend bool operator==(const NodeShape&, const NodeShape&) = default;
};

/// The nodes of a group, made locally and without a message: by arithmetic for ranges of regular layouts,
/// else with a word or three for each rank. Ranks are the group's; nodes count in the order of their first
/// ranks; `member` i of a node is the i-th of its ranks.
class GroupNodes {
 public:
  GroupNodes(const NodeLayout& layout, Group group);

  const Group& group() const { return group_; }
  const NodeShape& shape() const { return shape_; }
  int nodes() const { return shape_.nodes; }

  /// How many ranks the nodes before this one have.
  int begin(int node) const;
  int size_of(int node) const { return begin(node + 1) - begin(node); }
  int node_of(int rank) const;
  int member_of(int rank) const;
  /// The rank of a node's member, O(1).
  int rank_of(int node, int member) const;

  /// A node's ranks as a group. It refers to `nodes`.
  static Group inside(const std::shared_ptr<const GroupNodes>& nodes, int node);
  /// One rank of each node as a group: member `member`, from the end if it is negative; of the node of
  /// `except`, if that is a rank, it is this one. The group refers to `nodes`, too.
  static Group between(const std::shared_ptr<const GroupNodes>& nodes, int member, int except = -1);

 private:
  bool find_in_order(const NodeLayout& layout);
  bool find_in_turn(const NodeLayout& layout);
  void find_by_rank(const NodeLayout& layout);

  enum class Kind { one, alone, in_order, in_turn, listed };

  Group group_;
  NodeShape shape_;
  Kind kind_ = Kind::one;
  NodeLayout layout_;  ///< in order: where nodes begin
  int first_node_ = 0;
  std::vector<int> begins_;   ///< listed: of each node, and the end
  std::vector<int> ordered_;  ///< ranks by node
  std::vector<int> node_of_;  ///< of each rank
};

}  // namespace wisp::detail
