#pragma once

#include <bit>
#include <cstdint>

namespace wisp::detail {

/// Where a message belongs, and how the tag on the wire says so. The only place that does arithmetic on tags.
///
///   | lane (2 bits) | number |
///
/// The user's own messages, collectives numbered in the order in which a communicator starts them,
/// collectives that the user gave a tag, and a second lane of an operation for messages from any source.
class TagLayout {
 public:
  enum class Lane { point_to_point = 0, sequence = 1, own_tag = 2, from_any = 3 };

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
  /// The second lane of the operation whose tag is `operation`. Of two operations with the same number, one
  /// numbered and one with the user's tag, only the first lanes differ; half of the numbers are for each.
  constexpr int from_any(int operation) const {
    const int half = (upper_bound() + 1) / 2;
    const int number = (operation & upper_bound()) % half;
    return encode(Lane::from_any, lane(operation) == Lane::own_tag ? half + number : number);
  }

  constexpr Lane lane(int tag) const { return static_cast<Lane>(tag >> number_bits_); }
  constexpr int number(int tag) const { return tag & upper_bound(); }
  constexpr bool is_users(int tag) const { return lane(tag) == Lane::point_to_point; }

 private:
  static constexpr int lane_bits = 2;
  int number_bits_;
};

}  // namespace wisp::detail
