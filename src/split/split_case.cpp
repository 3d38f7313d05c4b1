#include "split/split_case.hpp"

#include <algorithm>

#include "chain/scans.hpp"

namespace wisp::detail {
namespace {

/// Four bytes, the most significant first: ordered as numbers.
void write_ordered(std::uint32_t number, std::byte* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(number >> (24 - 8 * i));
}

std::uint32_t read_ordered(const std::byte* from) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | std::to_integer<std::uint32_t>(from[i]);
  return number;
}

/// The longest labels of all ranks.
struct Lengths {
  std::uint64_t color;
  std::uint64_t key;
};

}  // namespace

int SplitField::compare(Order::Bytes a, Order::Bytes b) const {
  if (order.compare) return order.compare(a, b);
  const std::size_t common = std::min(a.size(), b.size());
  const int by_bytes = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (by_bytes != 0) return by_bytes;
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

std::uint64_t SplitField::number() const {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8 | std::to_integer<std::uint64_t>(byte);
  return number;
}

ItemLayout::ItemLayout(const SplitCase& of, std::size_t color_bytes, std::size_t key_bytes)
    : of_(&of), color_bytes_(color_bytes), key_bytes_(key_bytes) {
  const bool is_aligned = of.color.order.compare || of.key.order.compare;
  const auto aligned = [&](std::size_t place) {
    constexpr std::size_t unit = alignof(std::max_align_t);
    return is_aligned ? (place + unit - 1) / unit * unit : place;
  };
  constexpr std::size_t flag_bytes = 1;
  color_at_ = aligned(flag_bytes);
  key_at_ = aligned(color_at_ + color_bytes_ + length_bytes(of.color));
  rank_at_ = key_at_ + key_bytes_ + length_bytes(of.key);
  address_at_ = rank_at_ + 4;
  bytes_ = aligned(address_at_ + sizeof(Address));
}

Task<ItemLayout> ItemLayout::agree(Link link, const SplitCase& of) {
  Lengths longest{of.color.bytes.size(), of.key.bytes.size()};
  if (of.color.has_own_length || of.key.has_own_length) {
    longest = co_await total_of(std::move(link), longest, [](const Lengths& a, const Lengths& b) {
      return Lengths{std::max(a.color, b.color), std::max(a.key, b.key)};
    });
  }
  co_return ItemLayout(of, longest.color, longest.key);
}

void ItemLayout::write_field(const SplitField& of, std::size_t room, std::byte* to) const {
  std::copy(of.bytes.begin(), of.bytes.end(), to);
  if (of.has_own_length) write_ordered(static_cast<std::uint32_t>(of.bytes.size()), to + room);
}

void ItemLayout::write(int old_rank, std::byte* to) const {
  const Address address = of_->new_address();
  std::fill_n(to, bytes_, std::byte{});
  to[0] = std::byte{of_->is_undefined};
  // All undefined ones are alike.
  if (!of_->is_undefined) write_field(of_->color, color_bytes_, to + color_at_);
  write_field(of_->key, key_bytes_, to + key_at_);
  write_ordered(static_cast<std::uint32_t>(old_rank), to + rank_at_);
  std::memcpy(to + address_at_, &address, sizeof address);
}

Order::Bytes ItemLayout::field(const SplitField& of, const std::byte* at, std::size_t room) const {
  return {at, of.has_own_length ? read_ordered(at + room) : room};
}

bool ItemLayout::less(const std::byte* a, const std::byte* b) const {
  const bool has_orders = of_->color.order.compare || of_->key.order.compare;
  if (!has_orders) return std::memcmp(a, b, address_at_) < 0;
  if (a[0] != b[0]) return a[0] < b[0];
  const int by_color = of_->color.is_given && !is_undefined(a)
                           ? of_->color.compare(field(of_->color, a + color_at_, color_bytes_),
                                                field(of_->color, b + color_at_, color_bytes_))
                           : 0;
  if (by_color != 0) return by_color < 0;
  const int by_key = of_->key.is_given ? of_->key.compare(field(of_->key, a + key_at_, key_bytes_),
                                                          field(of_->key, b + key_at_, key_bytes_))
                                       : 0;
  if (by_key != 0) return by_key < 0;
  return std::memcmp(a + rank_at_, b + rank_at_, 4) < 0;
}

bool ItemLayout::same_group(const std::byte* a, const std::byte* b) const {
  if (a[0] != b[0]) return false;
  if (!of_->color.order.compare || is_undefined(a)) return std::memcmp(a, b, key_at_) == 0;
  return of_->color.compare(field(of_->color, a + color_at_, color_bytes_),
                            field(of_->color, b + color_at_, color_bytes_)) == 0;
}

int ItemLayout::old_rank(const std::byte* item) const {
  return static_cast<int>(read_ordered(item + rank_at_));
}

ItemTable merge(const ItemLayout& layout, const ItemTable& a, const ItemTable& b) {
  ItemTable merged(layout, a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  for (std::size_t to = 0; to < merged.size(); ++to) {
    const bool takes_a = j == b.size() || (i < a.size() && layout.less(a[i], b[j]));
    merged.copy_item(takes_a ? a[i++] : b[j++], to);
  }
  return merged;
}

ChainPlace place_among(const ItemLayout& layout, const ItemTable& all, const std::byte* own) {
  ChainPlace place{0, 0, layout.address(own), {}, {}};
  const std::byte* left = nullptr;
  const std::byte* right = nullptr;
  const int old_rank = layout.old_rank(own);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::byte* other = all[i];
    if (!layout.same_group(other, own)) continue;
    ++place.size;
    if (layout.old_rank(other) == old_rank) continue;
    if (layout.less(other, own)) {
      ++place.rank;
      if (left == nullptr || layout.less(left, other)) left = other;
    } else if (right == nullptr || layout.less(other, right)) {
      right = other;
    }
  }
  if (left != nullptr) place.left = layout.address(left);
  if (right != nullptr) place.right = layout.address(right);
  return layout.is_undefined(own) ? ChainPlace() : place;
}

void place_all(const ItemLayout& layout, const ItemTable& sorted, std::span<ChainPlace> by_old_rank) {
  std::size_t end = 0;
  for (std::size_t first = 0; first < sorted.size(); first = end) {
    for (end = first + 1; end < sorted.size() && layout.same_group(sorted[first], sorted[end]);) ++end;
    if (layout.is_undefined(sorted[first])) continue;
    for (std::size_t i = first; i < end; ++i) {
      by_old_rank[as_size(layout.old_rank(sorted[i]))] = {
          static_cast<int>(end - first), static_cast<int>(i - first), layout.address(sorted[i]),
          i > first ? layout.address(sorted[i - 1]) : Address(),
          i + 1 < end ? layout.address(sorted[i + 1]) : Address()};
    }
  }
}

}  // namespace wisp::detail
