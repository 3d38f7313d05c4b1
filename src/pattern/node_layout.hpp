#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "wisp/detail/as_size.hpp"

namespace wisp::detail {

/// Which of the ranks 0 … p - 1 share a node. Nodes count in the order of their first ranks.
///
///   blocks      0 0 0 1 1 1 2 2     arithmetic
///   in turn     0 1 2 0 1 2 0 1     arithmetic
///   runs        0 0 0 1 2 2 0 0     a word or two for each run of ranks on one node
class NodeLayout {
 public:
  /// No rank shares a node that anything is known of.
  NodeLayout() = default;

  static NodeLayout blocks(int ranks, int on_node) {
    return {Kind::blocks, ranks, (ranks + on_node - 1) / on_node, on_node};
  }
  static NodeLayout in_turn(int ranks, int nodes) {
    return {Kind::in_turn, ranks, std::min(ranks, nodes), (ranks + nodes - 1) / nodes};
  }
  /// Ranks on one node have the same number, whichever.
  static NodeLayout of(std::span<const int> node_of_rank) {
    const auto ranks = static_cast<int>(node_of_rank.size());
    std::unordered_map<int, int> index;
    std::vector<int> sizes;
    Runs runs;
    for (int rank = 0; rank < ranks; ++rank) {
      const int number = node_of_rank[as_size(rank)];
      const int node = index.try_emplace(number, static_cast<int>(index.size())).first->second;
      if (node == static_cast<int>(sizes.size())) sizes.push_back(0);
      ++sizes[as_size(node)];
      if (runs.nodes.empty() || runs.nodes.back() != node) {
        runs.first.push_back(rank);
        runs.nodes.push_back(node);
      }
    }
    if (ranks == 0) return {};
    const auto nodes = static_cast<int>(sizes.size());
    const int largest = *std::max_element(sizes.begin(), sizes.end());
    for (const NodeLayout& regular : {blocks(ranks, largest), in_turn(ranks, nodes)}) {
      const bool has_turns = regular.is_in_order() || runs.first.size() == as_size(ranks);
      const bool is_it =
          has_turns && regular.nodes_ == nodes && std::ranges::all_of(runs.first, [&](int rank) {
            const auto place = std::upper_bound(runs.first.begin(), runs.first.end(), rank);
            const int end = place == runs.first.end() ? ranks : *place;
            const int node = runs.nodes[as_size(static_cast<int>(place - runs.first.begin()) - 1)];
            return regular.node_of(rank) == node && regular.node_of(end - 1) == node;
          });
      if (is_it) return regular;
    }
    // In order, the run of a node is the node's number.
    const bool is_in_order = runs.nodes.size() == sizes.size();
    NodeLayout layout(is_in_order ? Kind::in_order : Kind::runs, ranks, nodes, largest);
    if (is_in_order) runs.nodes.clear();
    if (is_in_order && nodes > 1) {
      layout.smallest_ = *std::min_element(sizes.begin(), std::prev(sizes.end()));
    }
    layout.runs_ = std::make_shared<const Runs>(std::move(runs));
    return layout;
  }

  int ranks() const { return ranks_; }
  int nodes() const { return nodes_; }
  /// Whether to know it is of no use: one node, or every rank on its own.
  bool is_flat() const { return nodes_ <= 1 || nodes_ == ranks_; }
  /// Whether the ranks of each node follow each other.
  bool is_in_order() const { return kind_ == Kind::blocks || kind_ == Kind::in_order; }
  bool is_in_turn() const { return kind_ == Kind::in_turn; }
  /// Ranks of the fullest node; and, in order, of the emptiest but for the last.
  int largest() const { return largest_; }
  int smallest() const { return kind_ == Kind::blocks ? largest_ : smallest_; }

  int node_of(int rank) const {
    switch (kind_) {
      case Kind::blocks:
        return rank / largest_;
      case Kind::in_turn:
        return rank % nodes_;
      case Kind::in_order:
        return run_of(rank);
      default:
        return runs_->nodes[as_size(run_of(rank))];
    }
  }
  /// In order: the first rank of a node.
  int first_of(int node) const {
    return kind_ == Kind::blocks ? node * largest_ : runs_->first[as_size(node)];
  }

 private:
  enum class Kind { blocks, in_turn, in_order, runs };
  struct Runs {
    std::vector<int> first;
    std::vector<int> nodes;  ///< none if run i is node i
  };

  NodeLayout(Kind kind, int ranks, int nodes, int largest)
      : kind_(kind), ranks_(ranks), nodes_(nodes), largest_(largest) {}

  int run_of(int rank) const {
    const auto after = std::upper_bound(runs_->first.begin(), runs_->first.end(), rank);
    return static_cast<int>(after - runs_->first.begin()) - 1;
  }

  Kind kind_ = Kind::blocks;
  int ranks_ = 0;
  int nodes_ = 0;
  int largest_ = 1;
  int smallest_ = 1;
  std::shared_ptr<const Runs> runs_;  ///< copies share them
};

}  // namespace wisp::detail
