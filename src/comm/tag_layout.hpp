#pragma once

#include <bit>
#include <cstdint>

namespace wisp::detail {

/// Where a message belongs, and how the tag on the wire says so. The only place that does arithmetic on tags.
///
///   | lane (3 bits) | number |
///
/// The lanes: the user's own messages; collectives, numbered in the order in which a communicator starts
/// them; collectives that the user gave a tag; and, for either kind of collective, two lanes more for
/// messages that are received from any source.
class TagLayout {
 public:
  enum class Lane { point_to_point = 0, sequence = 1, own_tag = 2, from_any = 4 };

  /// `tag_upper_bound` is MPI_TAG_UB, at least 32,767.
  explicit constexpr TagLayout(int tag_upper_bound)
      : number_bits_(std::bit_width(static_cast<std::uint32_t>(tag_upper_bound) + 1) - 1 - lane_bits) {}

  /// The largest tag of a message or of a nonblocking collective.
  constexpr int upper_bound() const { return (1 << number_bits_) - 1; }

  constexpr int encode(Lane lane, int number) const {
    return (static_cast<int>(lane) << number_bits_) | number;
  }
  /// Numbers beyond the bound are used again: only operations in flight at one time must differ.
  constexpr int encode_sequence(std::uint32_t number) const {
    return encode(Lane::sequence, static_cast<int>(number & static_cast<std::uint32_t>(upper_bound())));
  }
  /// The tag of lane `which` (0 or 1) for messages from any source, of the collective with tag `collective`.
  constexpr int from_any(int collective, int which) const {
    const int of_own_tag = lane(collective) == Lane::own_tag ? 2 : 0;
    const int lane_number = static_cast<int>(Lane::from_any) + of_own_tag + which;
    return (lane_number << number_bits_) | number(collective);
  }

  constexpr Lane lane(int tag) const { return static_cast<Lane>(tag >> number_bits_); }
  constexpr int number(int tag) const { return tag & upper_bound(); }
  constexpr bool is_users(int tag) const { return lane(tag) == Lane::point_to_point; }

 private:
  static constexpr int lane_bits = 3;
  int number_bits_;
};

}  // namespace wisp::detail
