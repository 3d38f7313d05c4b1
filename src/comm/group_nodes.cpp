#include "comm/group_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "wisp/detail/frame_pool.hpp"

namespace wisp::detail {
namespace {

/// One rank of each node.
class Seats final : public Places {
 public:
  Seats(std::shared_ptr<const GroupNodes> nodes, int member, int except)
      : nodes_(std::move(nodes)),
        member_(member),
        except_(except),
        node_of_except_(except < 0 ? -1 : nodes_->node_of(except)) {}

  int at(int position) const noexcept override { return nodes_->group().to_world(rank_at(position)); }
  int position_of(int rank) const noexcept override {
    const int in_group = nodes_->group().from_world(rank);
    if (in_group < 0) return -1;
    const int node = nodes_->node_of(in_group);
    return rank_at(node) == in_group ? node : -1;
  }

 private:
  int rank_at(int node) const {
    if (node == node_of_except_) return except_;
    return nodes_->rank_of(node, member_ < 0 ? nodes_->size_of(node) + member_ : member_);
  }

  std::shared_ptr<const GroupNodes> nodes_;
  int member_;
  int except_;
  int node_of_except_;
};

/// The ranks of one node.
class Members final : public Places {
 public:
  Members(std::shared_ptr<const GroupNodes> nodes, int node) : nodes_(std::move(nodes)), node_(node) {}

  int at(int position) const noexcept override {
    return nodes_->group().to_world(nodes_->rank_of(node_, position));
  }
  int position_of(int rank) const noexcept override {
    const int in_group = nodes_->group().from_world(rank);
    return in_group >= 0 && nodes_->node_of(in_group) == node_ ? nodes_->member_of(in_group) : -1;
  }

 private:
  std::shared_ptr<const GroupNodes> nodes_;
  int node_;
};

template <class Made, class... Arguments>
Group group_of(int size, Arguments... arguments) {
  return {std::allocate_shared<const Made>(PoolAllocator<Made>(), std::move(arguments)...), size};
}

bool is_product(int one, int other, int product) {
  return std::int64_t{one} * other == product;
}

}  // namespace

GroupNodes::GroupNodes(const NodeLayout& layout, Group group) : group_(std::move(group)) {
  shape_.most = group_.size();
  if (layout.nodes() <= 1 || group_.size() <= 1) return;
  if (group_.is_range() && (find_in_order(layout) || find_in_turn(layout))) return;
  find_by_rank(layout);
}

/// Every node between those of the first and the last rank must have one.
bool GroupNodes::find_in_order(const NodeLayout& layout) {
  const Range& range = group_.range();
  if (!layout.is_in_order() || (range.stride > layout.smallest() && range.stride < layout.largest()))
    return false;
  const int size = group_.size();
  const int most = (layout.largest() + range.stride - 1) / range.stride;
  if (most == 1) {
    kind_ = Kind::alone;
    shape_ = {size, 1, true, false, true};
    return true;
  }
  kind_ = Kind::in_order;
  layout_ = layout;
  first_node_ = layout.node_of(range.first);
  shape_.nodes = layout.node_of(range.to_parent(size - 1)) - first_node_ + 1;
  if (shape_.nodes == 1) return true;
  const int first = size_of(0);
  const int last = size_of(shape_.nodes - 1);
  const bool are_alike = layout.smallest() == layout.largest() && layout.largest() % range.stride == 0;
  if (shape_.nodes == 2) {
    shape_.most = std::max(first, last);
    shape_.is_even = first == last;
  } else if (are_alike) {
    shape_.most = most;
    shape_.is_even = first == most && last == most;
  } else {
    shape_.most = std::min(size, most);  // or less
    shape_.is_even = is_product(shape_.nodes, shape_.most, size);
  }
  return true;
}

bool GroupNodes::find_in_turn(const NodeLayout& layout) {
  if (!layout.is_in_turn()) return false;
  const int period = layout.nodes() / std::gcd(layout.nodes(), group_.range().stride);
  const int size = group_.size();
  const int nodes = std::min(period, size);
  kind_ = Kind::in_turn;
  shape_ = {nodes, (size + nodes - 1) / nodes, nodes == 1 || nodes == size, true, size % nodes == 0};
  return true;
}

void GroupNodes::find_by_rank(const NodeLayout& layout) {
  kind_ = Kind::listed;
  const int size = group_.size();
  std::unordered_map<int, int> index;
  std::vector<int> sizes;
  node_of_.reserve(as_size(size));
  for (int rank = 0; rank < size; ++rank) {
    const int node = index.try_emplace(layout.node_of(group_.to_world(rank)), static_cast<int>(index.size()))
                         .first->second;
    if (node == static_cast<int>(sizes.size())) sizes.push_back(0);
    ++sizes[as_size(node)];
    node_of_.push_back(node);
  }
  begins_.resize(sizes.size() + 1);
  std::partial_sum(sizes.begin(), sizes.end(), begins_.begin() + 1);
  ordered_.resize(as_size(size));
  std::vector<int> next = begins_;
  for (int rank = 0; rank < size; ++rank) {
    ordered_[as_size(next[as_size(node_of_[as_size(rank)])]++)] = rank;
  }
  const int most = *std::max_element(sizes.begin(), sizes.end());
  const auto nodes = static_cast<int>(sizes.size());
  shape_ = {nodes, most, std::is_sorted(ordered_.begin(), ordered_.end()), false,
            is_product(nodes, most, size)};
}

int GroupNodes::begin(int node) const {
  const int size = group_.size();
  switch (kind_) {
    case Kind::one:
      return node == 0 ? 0 : size;
    case Kind::alone:
      return node;
    case Kind::in_order: {
      if (node == 0) return 0;
      if (node == shape_.nodes) return size;
      const Range& range = group_.range();
      return (layout_.first_of(first_node_ + node) - range.first + range.stride - 1) / range.stride;
    }
    case Kind::in_turn:
      return node * (size / shape_.nodes) + std::min(node, size % shape_.nodes);
    default:
      return begins_[as_size(node)];
  }
}

int GroupNodes::node_of(int rank) const {
  switch (kind_) {
    case Kind::one:
      return 0;
    case Kind::alone:
      return rank;
    case Kind::in_order:
      return layout_.node_of(group_.range().to_parent(rank)) - first_node_;
    case Kind::in_turn:
      return rank % shape_.nodes;
    default:
      return node_of_[as_size(rank)];
  }
}

int GroupNodes::member_of(int rank) const {
  if (kind_ == Kind::in_turn) return rank / shape_.nodes;
  const int node = node_of(rank);
  if (kind_ != Kind::listed) return rank - begin(node);
  const auto first = ordered_.begin() + begin(node);
  return static_cast<int>(std::lower_bound(first, ordered_.begin() + begin(node + 1), rank) - first);
}

int GroupNodes::rank_of(int node, int member) const {
  if (kind_ == Kind::in_turn) return node + member * shape_.nodes;
  const int place = begin(node) + member;
  return kind_ == Kind::listed ? ordered_[as_size(place)] : place;
}

Group GroupNodes::inside(const std::shared_ptr<const GroupNodes>& nodes, int node) {
  const int size = nodes->size_of(node);
  const Group& all = nodes->group();
  if (nodes->kind_ == Kind::in_turn) return all.compose({node, nodes->shape_.nodes, size});
  if (nodes->shape_.in_order) return all.compose({nodes->begin(node), 1, size});
  return group_of<Members>(size, nodes, node);
}

Group GroupNodes::between(const std::shared_ptr<const GroupNodes>& nodes, int member, int except) {
  return group_of<Seats>(nodes->nodes(), nodes, member, except);
}

}  // namespace wisp::detail
