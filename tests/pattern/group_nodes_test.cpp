#include "comm/group_nodes.hpp"
#include "comm/launcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "clusters.hpp"

namespace wisp::detail {
namespace {

/// The layouts of all kinds on so many ranks.
std::vector<std::vector<int>> layouts_of(int ranks) {
  std::vector<std::vector<int>> layouts;
  for (int seed = 1; seed <= 12; ++seed) layouts.push_back(test::nodes_of(ranks, seed));
  for (const int on_node : {1, 2, 3, 7, 64}) {
    layouts.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) layouts.back().push_back(100 - rank / on_node);
  }
  std::erase_if(layouts, [](const auto& nodes) { return nodes.empty(); });
  return layouts;
}

TEST(NodeLayoutTest, EveryRankIsOnItsNode) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (const std::vector<int>& nodes : layouts_of(ranks)) {
      const NodeLayout layout = NodeLayout::of(nodes);
      std::map<int, int> number;
      std::map<int, int> size;
      for (int rank = 0; rank < ranks; ++rank) {
        const int node =
            number.try_emplace(nodes[as_size(rank)], static_cast<int>(number.size())).first->second;
        if (layout.is_in_order() && size[node]++ == 0) {
          EXPECT_EQ(layout.first_of(node), rank);
        }
        ASSERT_EQ(layout.node_of(rank), node) << testing::PrintToString(nodes);
      }
      EXPECT_EQ(layout.nodes(), static_cast<int>(number.size()));
    }
  }
}

TEST(NodeLayoutTest, SlurmsShortFormIsRead) {
  const std::vector<int> nodes = {16, 16, 16, 8, 4};
  EXPECT_EQ(parse_tasks_per_node("16(x3),8,4"), nodes);
  EXPECT_EQ(parse_tasks_per_node("2"), std::vector<int>(1, 2));
  for (const char* none : {"", "16(x", "16(x3", "a", "16,", "0", "-1", "16 ", "16(x0)"}) {
    EXPECT_TRUE(parse_tasks_per_node(none).empty()) << none;
  }
}

TEST(NodeLayoutTest, RegularOnesAreArithmetic) {
  const std::vector<int> blocks = {5, 5, 5, 2, 2, 2, 9};
  EXPECT_TRUE(NodeLayout::of(blocks).is_in_order());
  EXPECT_EQ(NodeLayout::of(blocks).smallest(), 3);
  const std::vector<int> in_turn = {1, 2, 3, 1, 2, 3, 1};
  EXPECT_TRUE(NodeLayout::of(in_turn).is_in_turn());
  EXPECT_TRUE(NodeLayout().is_flat());
  EXPECT_TRUE(NodeLayout::of(std::vector<int>(7, 3)).is_flat());
}

void expect_nodes(const NodeLayout& layout, const Group& group, const std::string& what) {
  SCOPED_TRACE(what);
  const auto nodes = std::make_shared<const GroupNodes>(layout, group);
  std::map<int, std::vector<int>> expected;  // ranks of each node of the World
  std::vector<int> order;
  for (int rank = 0; rank < group.size(); ++rank) {
    const int node = layout.node_of(group.to_world(rank));
    if (!expected.contains(node)) order.push_back(node);
    expected[node].push_back(rank);
  }
  const bool is_known = !layout.is_flat();
  if (!is_known || group.size() <= 1) return;
  ASSERT_EQ(nodes->nodes(), static_cast<int>(order.size()));
  const Group first = GroupNodes::between(nodes, 0);
  const int except = group.size() / 2;
  const Group seats = GroupNodes::between(nodes, -1, except);
  int most = 0;
  bool in_order = true;
  int begin = 0;
  for (int node = 0; node < nodes->nodes(); ++node) {
    const std::vector<int>& ranks = expected[order[as_size(node)]];
    const auto size = static_cast<int>(ranks.size());
    most = std::max(most, size);
    in_order = in_order && ranks.front() == begin && ranks.back() == begin + size - 1;
    EXPECT_EQ(nodes->begin(node), begin);
    begin += size;
    ASSERT_EQ(nodes->size_of(node), size);
    const Group inside = GroupNodes::inside(nodes, node);
    ASSERT_EQ(inside.size(), size);
    for (int member = 0; member < size; ++member) {
      const int rank = ranks[as_size(member)];
      EXPECT_EQ(nodes->rank_of(node, member), rank);
      EXPECT_EQ(nodes->node_of(rank), node);
      EXPECT_EQ(nodes->member_of(rank), member);
      EXPECT_EQ(inside.to_world(member), group.to_world(rank));
      EXPECT_EQ(inside.from_world(group.to_world(rank)), member);
      EXPECT_EQ(first.from_world(group.to_world(rank)), member == 0 ? node : -1);
    }
    EXPECT_EQ(first.to_world(node), group.to_world(ranks.front()));
    const bool is_excepted = std::ranges::find(ranks, except) != ranks.end();
    EXPECT_EQ(seats.to_world(node), group.to_world(is_excepted ? except : ranks.back()));
  }
  EXPECT_EQ(nodes->begin(nodes->nodes()), group.size());
  const NodeShape& shape = nodes->shape();
  EXPECT_GE(shape.most, most);
  EXPECT_EQ(shape.in_order, in_order);
  const bool is_even = std::ranges::all_of(
      expected, [&](const auto& node) { return static_cast<int>(node.second.size()) == most; });
  EXPECT_TRUE(is_even || !shape.is_even);
  if (shape.is_even) {
    EXPECT_EQ(shape.most, most);
  }
}

TEST(GroupNodesTest, CutNodesMayBeEven) {
  const NodeLayout layout = NodeLayout::blocks(8, 4);
  const NodeShape two = GroupNodes(layout, Group(Range::between(2, 5))).shape();
  EXPECT_TRUE(two.is_even);
  EXPECT_EQ(two.most, 2);
  // One node of 2^16 + 1 ranks and 2^16 of one: their product is the number of ranks, modulo 2^32.
  std::vector<int> nodes(131073);
  for (int rank = 65537; rank < 131073; ++rank) nodes[as_size(rank)] = rank;
  EXPECT_FALSE(GroupNodes(NodeLayout::of(nodes), Group(Range{0, 1, 131073})).shape().is_even);
}

TEST(GroupNodesTest, RangesAndSubsetsKnowTheirNodes) {
  for (int ranks = 1; ranks <= 24; ++ranks) {
    for (const std::vector<int>& nodes : layouts_of(ranks)) {
      const NodeLayout layout = NodeLayout::of(nodes);
      for (int first = 0; first < ranks; first += 1 + first / 2) {
        for (int stride = 1; stride <= 8; ++stride) {
          for (int last = ranks - 1; last >= first; last -= 3) {
            expect_nodes(layout, Group(Range::between(first, last, stride)),
                         testing::PrintToString(nodes) + " " + std::to_string(first) + " to " +
                             std::to_string(last) + " by " + std::to_string(stride));
            if (HasFailure()) return;
          }
        }
      }
      std::vector<int> members(as_size(ranks));
      std::iota(members.begin(), members.end(), 0);
      for (std::uint64_t i = as_size(ranks); i > 1; --i) std::swap(members[i - 1], members[mix(i) % i]);
      expect_nodes(layout, Group(members), "shuffled");
      members.resize(members.size() / 2 + 1);
      expect_nodes(layout, Group(members), "half of them, shuffled");
    }
  }
}

}  // namespace
}  // namespace wisp::detail
