#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wisp/neighborhood.hpp"

/// A schedule as one rank carries it out on blocks that lie in known places: which bytes go into which
/// message, and where those that come are put. Arithmetic only.

namespace wisp::detail {

/// Where blocks lie behind a buffer's address.
class BlockPlaces {
 public:
  struct Place {
    std::ptrdiff_t offset = 0;
    std::size_t bytes = 0;   ///< of data
    bool contiguous = true;  ///< else only MPI can pack them

    friend bool operator==(const Place&, const Place&) = default;
  };

  BlockPlaces() = default;
  /// Blocks of one size, `stride` bytes from each other.
  BlockPlaces(std::size_t bytes, std::ptrdiff_t stride, bool contiguous)
      : first_{0, bytes, contiguous}, stride_(stride) {}
  explicit BlockPlaces(std::vector<Place> places) : places_(std::move(places)) {}
  /// Of so many bytes, one behind the other.
  static BlockPlaces regular(std::size_t bytes) { return {bytes, static_cast<std::ptrdiff_t>(bytes), true}; }

  bool is_regular() const { return places_.empty(); }
  Place operator[](int i) const {
    if (!is_regular()) return places_[as_size(i)];
    return {i * stride_, first_.bytes, first_.contiguous};
  }
  friend bool operator==(const BlockPlaces&, const BlockPlaces&) = default;

 private:
  Place first_;
  std::ptrdiff_t stride_ = 0;
  std::vector<Place> places_;
};

/// How blocks get into one message.
enum class Copying {
  pack,      ///< by hand: a block that travels on stays in the message that it came with, until it is packed
             ///< again
  datatypes  ///< by MPI, with a datatype for every message; blocks alternate between receive and scratch
             ///< buffer
};

struct Program {
  enum class Area : unsigned char { send, receive, scratch };
  /// Some bytes, or a block that is not contiguous. Programs are read on every run: 16 bytes each.
  class Piece {
   public:
    Piece() = default;
    Piece(Area area, int block, std::ptrdiff_t offset, std::size_t bytes)
        : offset_(offset),
          bytes_(bytes & ((std::uint64_t{1} << bytes_bits) - 1)),
          block_(static_cast<std::uint64_t>(block + 1) & ((1U << block_bits) - 1)),
          area_(static_cast<std::uint64_t>(area) & 3U) {}

    Area area() const { return static_cast<Area>(area_); }
    /// Of the send or receive buffer, if it is not contiguous; else -1.
    int block() const { return static_cast<int>(block_) - 1; }
    std::ptrdiff_t offset() const { return offset_; }
    std::size_t bytes() const { return bytes_; }
    std::ptrdiff_t end() const { return offset_ + static_cast<std::ptrdiff_t>(bytes_); }
    void grow(std::size_t bytes) { *this = {area(), block(), offset_, bytes_ + bytes}; }

    static constexpr int bytes_bits = 38;  // 256 GiB
    static constexpr int block_bits = 24;

   private:
    std::ptrdiff_t offset_ = 0;
    std::uint64_t bytes_ : bytes_bits = 0;
    std::uint64_t block_ : block_bits = 0;
    std::uint64_t area_ : 2 = 0;
  };
  struct Message {
    int round;
    int first_piece;
    int pieces;
    std::size_t bytes;
    bool is_packed = false;  ///< sent from memory of its own, in which its pieces are put together
  };
  struct Copy {
    Piece from;
    Piece to;
  };
  /// The ends of its parts in the lists below; they begin where those of the phase before end. Copies are
  /// made while the phase's messages are on their way: of blocks that came before it.
  struct Phase {
    int receives = 0;
    int sends = 0;
    int copies = 0;
  };

  std::vector<Phase> phases;  ///< the last one has copies only
  std::vector<Message> receives;
  std::vector<Message> sends;
  std::vector<Copy> copies;
  std::vector<Piece> pieces;
  std::size_t scratch_bytes = 0;

  /// What goes as it is, not packed by hand, and is more than one piece: it needs a datatype.
  static bool needs_datatype(const Message& message) { return message.pieces > 1 && !message.is_packed; }
};

/// What an operation is asked for, but for its buffers.
struct Asked {
  NeighborPattern pattern;
  std::size_t algorithm;  ///< place in schedule_names(), or behind the last: the cheapest
  int ports;
  NeighborCopying copying;
  BlockPlaces send;  ///< allgather: one block
  BlockPlaces receive;

  friend bool operator==(const Asked&, const Asked&) = default;
};

/// The place of what goes to neighbor `block` among the blocks that are sent: an allgather has one.
inline int sent_index(NeighborPattern pattern, int block) {
  return pattern == NeighborPattern::alltoall ? block : 0;
}
/// A block where it lies.
Program::Piece piece_of(Program::Area area, const BlockPlaces& places, int block);
/// Adds a piece to a list from `first` on; one that continues the last becomes part of it.
void append_piece(std::vector<Program::Piece>& pieces, std::size_t first, const Program::Piece& piece);
/// Throws if there are more blocks or bytes than a program can speak of.
void check_extent(std::size_t blocks, const BlockPlaces& places);

/// How far a rank is from the borders of a mesh: in each dimension that is not periodic, ranks before and
/// behind, as far as matters; empty on a torus.
std::vector<int> border_of(const Torus& torus, const Offsets& reduced, int rank);

Program compile(const Stencil& stencil, const Schedule& schedule, const Asked& asked, Copying copying,
                const std::vector<int>& border);

}  // namespace wisp::detail
