#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "wisp/posted.hpp"

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
/// The code tells the communicators of a pair of ranks apart (see PairCodes). Where a World has several MPI
/// communicators, it also says which of them carries the message.
///
///   codes      | root | numbered …        | named …  | service |   of the first MPI communicator
///              | numbered …          | named …                 |   of each other one
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
  explicit constexpr TagLayout(int tag_upper_bound, int mpi_comms = 1) : mpi_comms_(mpi_comms) {
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(tag_upper_bound) + 1)) - 1;
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
  constexpr WireTag with_code(int tag, int code) const {
    const int within = code & (codes_of_one() - 1);
    return to_wire(code >> code_bits(), tag | within << number_bits_);
  }
  /// What the processes tell each other beside all operations carries one of these; nothing else does.
  enum class Service { pair_codes, stall };
  constexpr WireTag service(Service which) const {
    return with_code(encode(Kind::isolated, Lane::creation, static_cast<int>(which)), codes_of_one() - 1);
  }

  constexpr Kind kind_of(WireTag tag) const {
    return (mpi_tag(tag) >> (raw_bits_ + lane_bits)) == 0 ? Kind::raw : Kind::isolated;
  }
  constexpr Lane lane(WireTag tag) const {
    return static_cast<Lane>(mpi_tag(tag) >> raw_bits_ & ((1 << lane_bits) - 1));
  }
  constexpr int number(WireTag tag) const { return mpi_tag(tag) & upper_bound(kind_of(tag)); }

  /// How many collectives a communicator has started before the one with tag `collective`, if `count` have
  /// been started by now.
  constexpr std::uint32_t count_before(int collective, std::uint32_t count) const {
    const std::uint32_t numbers = counted(kind_of(collective)) + 1;
    const auto place = static_cast<std::uint32_t>(number(collective)) % numbers;
    return count - 1 - (count - 1 - place) % numbers;
  }
  /// Half as many collectives as have different numbers.
  constexpr std::uint32_t half_round(Kind kind) const { return (counted(kind) + 1) / 2; }
  constexpr bool begins_half_round(Kind kind, std::uint32_t count) const {
    return count != 0 && (count & (half_round(kind) - 1)) == 0;
  }
  /// Whether a tag is of a collective, not a persistent one, that has a number of the half round which begins
  /// with `count`, but is none of those that have begun with it and since: there have been `now`.
  constexpr bool is_before(int tag, std::uint32_t count, std::uint32_t now) const {
    if (!is_counted(tag)) return false;
    const std::uint32_t half = half_round(kind_of(tag));
    const std::uint32_t ahead = (static_cast<std::uint32_t>(number(tag)) - count) & (2 * half - 1);
    return ahead == 0 || (ahead < half && ahead >= now - count);
  }
  /// Whether it is one of those that a communicator counts, in any lane; not a persistent one.
  constexpr bool is_counted(int tag) const {
    if (tag < 0) return false;
    const Lane of = lane(tag);
    return (of == Lane::numbered || (of >= Lane::of_numbered && of < Lane::of_own_tag)) &&
           !is_persistent(tag);
  }
  constexpr bool is_persistent(int collective) const {
    return static_cast<std::uint32_t>(number(collective)) > counted(kind_of(collective));
  }

  constexpr WireTag with_number(WireTag tag, int number) const { return tag - this->number(tag) + number; }

  constexpr int code_count() const { return mpi_comms_ * codes_of_one(); }
  /// Codes by the numbers of pairs: code `numbered_code(i)` for i from 0 to numbered_count() - 1.
  constexpr int numbered_count() const {
    return first_named_of_first() - 1 + (mpi_comms_ - 1) * numbered_of_other();
  }
  constexpr int numbered_code(int index) const {
    const int of_first = first_named_of_first() - 1;
    if (index < of_first) return 1 + index;
    const int other = (index - of_first) / numbered_of_other();
    return (1 + other) * codes_of_one() + (index - of_first) % numbered_of_other();
  }
  /// Codes of contexts that the receiver has named.
  constexpr int named_count() const { return named_of_first() + (mpi_comms_ - 1) * named_of_other(); }
  constexpr int named_code(int index) const {
    if (index < named_of_first()) return first_named_of_first() + index;
    const int other = (index - named_of_first()) / named_of_other();
    return (1 + other) * codes_of_one() + numbered_of_other() + (index - named_of_first()) % named_of_other();
  }
  constexpr int named_index(int code) const {
    const int mpi_comm = code >> code_bits();
    const int within = code & (codes_of_one() - 1);
    if (mpi_comm == 0) return within - first_named_of_first();
    return named_of_first() + (mpi_comm - 1) * named_of_other() + within - numbered_of_other();
  }

 private:
  static constexpr int lane_bits = 3;

  constexpr int bits_of(Kind kind) const { return kind == Kind::raw ? raw_bits_ : number_bits_; }
  constexpr int code_bits() const { return raw_bits_ - number_bits_; }
  constexpr int codes_of_one() const { return 1 << code_bits(); }
  constexpr int first_named_of_first() const { return codes_of_one() / 4 * 3; }
  constexpr int named_of_first() const { return codes_of_one() - 1 - first_named_of_first(); }
  constexpr int numbered_of_other() const { return codes_of_one() / 2; }
  constexpr int named_of_other() const { return codes_of_one() - numbered_of_other(); }
  constexpr std::uint32_t counted(Kind kind) const { return (1U << (bits_of(kind) - 1)) - 1; }
  constexpr int with_lane(Kind kind, int lane, int number) const {
    return (kind == Kind::isolated ? 1 << (raw_bits_ + lane_bits) : 0) | lane << raw_bits_ | number;
  }

  int mpi_comms_;
  int raw_bits_;     ///< of the number in a raw tag
  int number_bits_;  ///< of the number in an isolated tag; the code has the rest
};

}  // namespace wisp::detail
