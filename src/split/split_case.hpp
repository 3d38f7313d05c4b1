#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "chain/link.hpp"
#include "transport/type_layout.hpp"
#include "wisp/split.hpp"
#include "wisp/task.hpp"

namespace wisp::detail {

/// A color or a key, after all checks.
struct SplitField {
  bool is_given = false;
  Label::Kind kind = Label::Kind::none;
  bool has_own_length = false;  ///< it may differ from rank to rank
  /// This rank's: ordered as bytes, unless the user has given an order.
  std::vector<std::byte> bytes;
  Order order;
  bool is_integer = false;  ///< of at most 8 bytes, without an order of the user's

  int compare(Order::Bytes a, Order::Bytes b) const;
  /// Of an integer.
  std::uint64_t number() const;
};

/// What a split is to do: the same on all ranks, but for this rank's own data.
struct SplitCase {
  const char* call = "";
  SplitField color;
  SplitField key;
  std::uint64_t color_hash = 0;  ///< by the user's function, if there is one
  bool is_undefined = false;
  ContextPtr made;  ///< of the chain that this rank will be in; none if its color is undefined

  Address new_address() const { return made ? address_in(*made.get()) : Address(); }
  /// To order the ranks of one color.
  SplitCase of_one_color() const {
    SplitCase other = *this;
    other.color = {};
    return other;
  }
};

/// Throws on every rank if some rank splits by another type of color or key than rank 0, or by another
/// algorithm. O(log p α).
Task<> check_same_split(Link link, const SplitCase& of, std::string_view algorithm);

/// How the items that algorithms exchange lie in memory: all that is to be known of a rank, as bytes.
///
///   undefined | color | key | old rank | address in the new chain
///
/// Fields whose length differs from rank to rank are filled up with zeros, and their length comes behind: so
/// the order of the bytes is the order of the items, unless the user has given another; then labels are
/// aligned for any type.
class ItemLayout {
 public:
  /// For labels of at most so many bytes.
  ItemLayout(const SplitCase& of, std::size_t color_bytes, std::size_t key_bytes);
  /// Of a link whose ranks agree first on the longest labels, if they must. α log p.
  static Task<ItemLayout> agree(Link link, const SplitCase& of);

  std::size_t bytes() const { return bytes_; }

  void write(int old_rank, std::byte* to) const;
  ScratchVector own_item(int old_rank) const {
    ScratchVector item(bytes());
    write(old_rank, item.data());
    return item;
  }

  /// By color, key, and old rank: no two items are equal.
  bool less(const std::byte* a, const std::byte* b) const;
  /// Of two undefined ones too.
  bool same_group(const std::byte* a, const std::byte* b) const;
  bool is_undefined(const std::byte* item) const { return item[0] != std::byte{}; }
  int old_rank(const std::byte* item) const;
  Address address(const std::byte* item) const {
    Address address;
    std::memcpy(&address, item + address_at_, sizeof address);
    return address;
  }

 private:
  Order::Bytes field(const SplitField& of, const std::byte* at, std::size_t room) const;
  static std::size_t length_bytes(const SplitField& of) { return of.has_own_length ? 4 : 0; }
  void write_field(const SplitField& of, std::size_t room, std::byte* to) const;

  const SplitCase* of_;
  std::size_t color_bytes_;  ///< room for a label, without its length
  std::size_t key_bytes_;
  std::size_t color_at_;
  std::size_t key_at_;
  std::size_t rank_at_;
  std::size_t address_at_;
  std::size_t bytes_;
};

/// Items one behind the other.
class ItemTable {
 public:
  ItemTable(const ItemLayout& layout, std::size_t count)
      : item_bytes_(layout.bytes()), count_(count), memory_(count * item_bytes_) {}
  explicit ItemTable(const ItemLayout& layout) : ItemTable(layout, 0) {}

  std::size_t size() const { return count_; }
  std::byte* operator[](std::size_t i) const { return memory_.data() + i * item_bytes_; }
  Buffer buffer() const { return {memory_.data(), count_ * item_bytes_, MPI_BYTE}; }
  void copy_item(const std::byte* item, std::size_t to) const { std::memcpy((*this)[to], item, item_bytes_); }

 private:
  std::size_t item_bytes_;
  std::size_t count_;
  ScratchVector memory_;
};

/// Two sorted tables as one.
ItemTable merge(const ItemLayout& layout, const ItemTable& a, const ItemTable& b);

/// Where the rank with `own` item is, by the items of all ranks, in any order.
ChainPlace place_among(const ItemLayout& layout, const ItemTable& all, const std::byte* own);
/// The same of all ranks, by old rank, from the sorted items.
void place_all(const ItemLayout& layout, const ItemTable& sorted, std::span<ChainPlace> by_old_rank);

}  // namespace wisp::detail
