#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace wisp::detail {

/// Where a message belongs, and how the tag on the wire says so. The only place that does arithmetic on tags.
///
///   raw        | 0 | lane (3 bits) | number             |
///   isolated   | 1 | lane (3 bits) | code | number      |
///
/// The lanes: the user's own messages; collectives, numbered in the order in which a communicator starts
/// them; collectives that the user gave a tag; creations of communicators, with the user's tag; and, for
/// either kind of collective, two lanes more, for algorithms whose messages of one pair are not all in one
/// order, or come from any source.
///
/// The code tells the communicators of a pair of ranks apart (see PairNumbers).
class TagLayout {
 public:
  enum class Lane {
    point_to_point = 0,
    numbered = 1,
    own_tag = 2,
    creation = 3,
    of_numbered = 4,
    of_own_tag = 6
  };
  enum class Kind { raw, isolated };

  /// `tag_upper_bound` is MPI_TAG_UB, at least 32,767.
  explicit constexpr TagLayout(int tag_upper_bound) {
    const int bits = std::bit_width(static_cast<std::uint32_t>(tag_upper_bound) + 1) - 1;
    raw_bits_ = bits - 1 - lane_bits;
    // Up to the 32,767 that MPI guarantees for tags; then as many codes as there is room for.
    number_bits_ = std::min(15, std::max(raw_bits_ - 8, (raw_bits_ + 1) / 2));
  }

  /// The largest tag of a message or of a collective.
  constexpr int upper_bound(Kind kind) const { return (1 << bits_of(kind)) - 1; }

  /// A tag without its code.
  constexpr int encode(Kind kind, Lane lane, int number) const {
    return with_lane(kind, static_cast<int>(lane), number);
  }
  /// Of the collective that a communicator starts as number `count`. Numbers beyond the bound are used again:
  /// only operations in flight at one time must differ.
  constexpr int encode_count(Kind kind, std::uint32_t count) const {
    return encode(kind, Lane::numbered, static_cast<int>(count & counted(kind)));
  }
  /// The same of persistent collectives, which keep their tag: they have half of the numbers for themselves,
  /// `count` is below `persistent_count`.
  constexpr int encode_persistent_count(Kind kind, std::uint32_t count) const {
    return encode(kind, Lane::numbered, static_cast<int>(count | (counted(kind) + 1)));
  }
  constexpr std::uint32_t persistent_count(Kind kind) const { return counted(kind) + 1; }
  /// Lane `which` (0 or 1) more of the collective with tag `collective`.
  constexpr int in_lane(int collective, int which) const {
    const Kind kind = kind_of(collective);
    const Lane base = lane(collective) == Lane::own_tag ? Lane::of_own_tag : Lane::of_numbered;
    return with_lane(kind, static_cast<int>(base) + which, number(collective));
  }
  constexpr int with_code(int tag, int code) const { return tag | code << number_bits_; }

  constexpr Kind kind_of(int tag) const {
    return (tag >> (raw_bits_ + lane_bits)) == 0 ? Kind::raw : Kind::isolated;
  }
  constexpr Lane lane(int tag) const { return static_cast<Lane>(tag >> raw_bits_ & ((1 << lane_bits) - 1)); }
  constexpr int number(int tag) const { return tag & upper_bound(kind_of(tag)); }
  constexpr int code(int tag) const {
    return kind_of(tag) == Kind::raw ? 0 : (tag & ((1 << raw_bits_) - 1)) >> number_bits_;
  }
  // Codes. The lower half is given once, then a quarter is used in turn; the last quarter is for contexts
  // that the receiver has named.
  constexpr int code_count() const { return 1 << code_bits(); }
  constexpr int once_given_count() const { return code_count() / 2; }
  constexpr int reused_count() const { return code_count() / 4; }
  constexpr int named_count() const { return code_count() - first_named_code(); }
  constexpr int first_named_code() const { return once_given_count() + reused_count(); }
  constexpr int code_of_pair_number(int number) const {
    const int once = once_given_count();
    return number < once ? number : once + (number - once) % reused_count();
  }
  constexpr bool is_reused_code(int code) const {
    return code >= once_given_count() && code < first_named_code();
  }

 private:
  static constexpr int lane_bits = 3;

  constexpr int bits_of(Kind kind) const { return kind == Kind::raw ? raw_bits_ : number_bits_; }
  constexpr int code_bits() const { return raw_bits_ - number_bits_; }
  constexpr std::uint32_t counted(Kind kind) const { return (1U << (bits_of(kind) - 1)) - 1; }
  constexpr int with_lane(Kind kind, int lane, int number) const {
    return (kind == Kind::isolated ? 1 << (raw_bits_ + lane_bits) : 0) | lane << raw_bits_ | number;
  }

  int raw_bits_;     ///< of the number in a raw tag
  int number_bits_;  ///< of the number in an isolated tag; the code has the rest
};

}  // namespace wisp::detail
