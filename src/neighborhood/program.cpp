// From a schedule to what one rank does.
//
// Packing by hand, a block that passes through is copied once for each hop: it stays in the message that it
// came with until it is packed into the next one.
//
//   send buffer ──pack──▶ message ──▶ scratch ──pack──▶ message ──▶ scratch ──▶ receive buffer
//
// With datatypes, it alternates between its place in the receive buffer, where it is when an even number of
// hops is left, and one in scratch, and nobody but MPI copies anything (Träff et al. 2016, algorithm 1).
// Where a mesh ends, a place in the receive buffer that has no source is the user's: a second one in scratch
// stands in for it.
//
// A message of one piece goes straight from and to where it belongs.

#include "neighborhood/program.hpp"

#include <algorithm>
#include <cstdlib>

#include "transport/throw_error.hpp"

namespace wisp::detail {
namespace {

using Piece = Program::Piece;
using Area = Program::Area;

/// True if `piece` goes on where `last` ends.
bool continues(const Piece& last, const Piece& piece) {
  return last.block() < 0 && piece.block() < 0 && last.area() == piece.area() && last.end() == piece.offset();
}

bool same_place(const Piece& a, const Piece& b) {
  return a.area() == b.area() && a.block() == b.block() && a.offset() == b.offset();
}

class Compiler {
 public:
  Compiler(const Stencil& stencil, const Schedule& schedule, const Asked& asked, Copying copying,
           const std::vector<int>& border)
      : schedule_(schedule),
        asked_(asked),
        copying_(copying),
        border_(border),
        torus_(stencil.torus()),
        reduced_(stencil.reduced()),
        round_of_(schedule_.parts.size()),
        location_(schedule_.parts.size()),
        delivers_(schedule_.parts.size(), -1),
        hops_left_(schedule_.parts.size()) {
    for (int j = 0; j < torus_.dimensions(); ++j) {
      if (!torus_.periodic(j)) mesh_.push_back(j);
    }
    for (std::size_t k = 0; k < schedule_.rounds.size(); ++k) {
      const Schedule::Round& round = schedule_.rounds[k];
      std::fill_n(round_of_.begin() + round.first_part, round.parts, static_cast<int>(k));
    }
    find_positions();
    for (int i = 0; i < reduced_.size(); ++i) {
      if (schedule_.arrivals[as_size(i)] >= 0 && has_source(i)) arriving_.push_back(i);
    }
    std::stable_sort(arriving_.begin(), arriving_.end(), [&](int a, int b) {
      return round_of_[as_size(schedule_.arrivals[as_size(a)])] <
             round_of_[as_size(schedule_.arrivals[as_size(b)])];
    });
    for (auto i = arriving_.rbegin(); i != arriving_.rend(); ++i)
      delivers_[as_size(schedule_.arrivals[as_size(*i)])] = *i;
    for (std::size_t p = schedule_.parts.size(); p-- > 0;) {
      const int from = schedule_.parts[p].from;
      if (from >= 0) hops_left_[as_size(from)] = hops_left_[p] + 1;
    }
    if (copying == Copying::datatypes)
      slots_.assign(2 * as_size(reduced_.size()) + schedule_.parts.size(), -1);
  }

  Program compile() {
    const std::vector<int> phases = phases_of(schedule_, asked_.ports);
    add_own_copies();
    for (std::size_t phase = 0; phase + 1 < phases.size(); ++phase) {
      for (int k = phases[phase]; k < phases[phase + 1]; ++k) add_receive(k);
      for (int k = phases[phase]; k < phases[phase + 1]; ++k) add_send(k);
      end_phase();
      add_copies(phases[phase + 1]);
    }
    end_phase();
    return std::move(program_);
  }

 private:
  bool is_alltoall() const { return asked_.pattern == NeighborPattern::alltoall; }

  /// Where blocks are after each part, relative to where they come from, in dimensions with borders.
  void find_positions() {
    if (mesh_.empty()) return;
    positions_.resize(schedule_.parts.size() * mesh_.size());
    for (std::size_t p = 0; p < schedule_.parts.size(); ++p) {
      const std::vector<int>& offset = schedule_.rounds[as_size(round_of_[p])].offset;
      for (std::size_t m = 0; m < mesh_.size(); ++m) {
        positions_[p * mesh_.size() + m] = position(schedule_.parts[p].from, m) + offset[as_size(mesh_[m])];
      }
    }
  }
  int position(int part, std::size_t m) const {
    return part < 0 ? 0 : positions_[as_size(part) * mesh_.size() + m];
  }

  /// True if the rank that lies so far in a dimension with borders exists.
  bool exists(std::size_t m, int c) const { return c >= -border_[2 * m] && c <= border_[2 * m + 1]; }
  bool has_source(int block) const {
    for (std::size_t m = 0; m < mesh_.size(); ++m) {
      if (!exists(m, -reduced_[block][as_size(mesh_[m])])) return false;
    }
    return true;
  }
  /// True if a block that is here after part `at` has a sender and, if it is for one rank only, a receiver.
  bool is_alive(int block, int at) const {
    for (std::size_t m = 0; m < mesh_.size(); ++m) {
      const int origin = -position(at, m);
      if (!exists(m, origin)) return false;
      if (is_alltoall() && !exists(m, origin + reduced_[block][as_size(mesh_[m])])) return false;
    }
    return true;
  }
  bool has_target(const std::vector<int>& offset) const {
    for (std::size_t m = 0; m < mesh_.size(); ++m) {
      if (!exists(m, offset[as_size(mesh_[m])])) return false;
    }
    return true;
  }

  std::size_t bytes_of(const Schedule::Part& part) const {
    return asked_.send[sent_index(asked_.pattern, part.block)].bytes;
  }
  Piece sent_block(int block) const {
    return piece_of(Area::send, asked_.send, sent_index(asked_.pattern, block));
  }
  Piece received_block(int i) const { return piece_of(Area::receive, asked_.receive, i); }

  std::ptrdiff_t take_scratch(std::size_t bytes) {
    const auto begin = static_cast<std::ptrdiff_t>(program_.scratch_bytes);
    program_.scratch_bytes += bytes;
    return begin;
  }
  Piece slot(std::size_t number, std::size_t bytes) {
    if (slots_[number] < 0) slots_[number] = take_scratch(bytes);
    return {Area::scratch, -1, slots_[number], bytes};
  }

  /// Where algorithm 1 puts a part.
  Piece alternating_place(int p) {
    const Schedule::Part& part = schedule_.parts[as_size(p)];
    if (!is_alltoall()) {
      return delivers_[as_size(p)] >= 0 ? received_block(delivers_[as_size(p)])
                                        : slot(2 * as_size(reduced_.size()) + as_size(p), bytes_of(part));
    }
    if (hops_left_[as_size(p)] % 2 != 0) return slot(2 * as_size(part.block), bytes_of(part));
    return has_source(part.block) ? received_block(part.block)
                                  : slot(2 * as_size(part.block) + 1, bytes_of(part));
  }

  void add_receive(int k) {
    const Schedule::Round& round = schedule_.rounds[as_size(k)];
    const std::size_t first = program_.pieces.size();
    std::size_t bytes = 0;
    std::vector<int> alive;
    bool are_delivered = true;
    for (int p = round.first_part; p < round.first_part + round.parts; ++p) {
      const Schedule::Part& part = schedule_.parts[as_size(p)];
      if (!is_alive(part.block, p) || bytes_of(part) == 0) continue;
      alive.push_back(p);
      bytes += bytes_of(part);
      if (copying_ == Copying::datatypes) {
        location_[as_size(p)] = alternating_place(p);
        append_piece(program_.pieces, first, location_[as_size(p)]);
      } else if (are_delivered && delivers_[as_size(p)] >= 0) {
        location_[as_size(p)] = received_block(delivers_[as_size(p)]);
        append_piece(program_.pieces, first, location_[as_size(p)]);
      } else {
        are_delivered = false;
      }
    }
    if (bytes == 0) return;
    if (copying_ == Copying::pack && (!are_delivered || program_.pieces.size() > first + 1)) {
      program_.pieces.resize(first);
      std::ptrdiff_t begin = take_scratch(bytes);
      program_.pieces.push_back({Area::scratch, -1, begin, bytes});
      for (const int p : alive) {
        const std::size_t size = bytes_of(schedule_.parts[as_size(p)]);
        location_[as_size(p)] = {Area::scratch, -1, begin, size};
        begin += static_cast<std::ptrdiff_t>(size);
      }
    }
    program_.receives.push_back(message(k, first, bytes));
  }

  void add_send(int k) {
    const Schedule::Round& round = schedule_.rounds[as_size(k)];
    if (!has_target(round.offset)) return;
    const std::size_t first = program_.pieces.size();
    std::size_t bytes = 0;
    for (int p = round.first_part; p < round.first_part + round.parts; ++p) {
      const Schedule::Part& part = schedule_.parts[as_size(p)];
      if (!is_alive(part.block, part.from)) continue;
      append_piece(program_.pieces, first,
                   part.from < 0 ? sent_block(part.block) : location_[as_size(part.from)]);
      bytes += bytes_of(part);
    }
    if (bytes == 0) return;
    program_.sends.push_back(message(k, first, bytes));
    program_.sends.back().is_packed = copying_ == Copying::pack && program_.sends.back().pieces > 1;
  }

  Program::Message message(int k, std::size_t first, std::size_t bytes) const {
    return {k, static_cast<int>(first), static_cast<int>(program_.pieces.size() - first), bytes};
  }

  void add_copy(const Piece& from, const Piece& to) {
    if (to.bytes() == 0 || same_place(from, to)) return;
    if (program_.copies.size() > first_copy_) {
      Program::Copy& last = program_.copies.back();
      if (continues(last.from, from) && continues(last.to, to)) {
        last.from.grow(from.bytes());
        last.to.grow(to.bytes());
        return;
      }
    }
    program_.copies.push_back({from, to});
  }
  void add_own_copies() {
    for (int i = 0; i < reduced_.size(); ++i) {
      if (schedule_.arrivals[as_size(i)] == Schedule::own) add_copy(sent_block(i), received_block(i));
    }
  }
  /// Of blocks that have come to their target before round `end`.
  void add_copies(int end) {
    for (; next_arriving_ < arriving_.size(); ++next_arriving_) {
      const int i = arriving_[next_arriving_];
      const auto part = as_size(schedule_.arrivals[as_size(i)]);
      if (round_of_[part] >= end) return;
      add_copy(location_[part], received_block(i));
    }
  }

  void end_phase() {
    program_.phases.push_back({static_cast<int>(program_.receives.size()),
                               static_cast<int>(program_.sends.size()),
                               static_cast<int>(program_.copies.size())});
    first_copy_ = program_.copies.size();
  }

  const Schedule& schedule_;
  const Asked& asked_;
  Copying copying_;
  const std::vector<int>& border_;
  const Torus& torus_;
  const Offsets& reduced_;
  std::vector<int> mesh_;  ///< dimensions with borders
  std::vector<int> round_of_;
  std::vector<int> positions_;
  std::vector<Piece> location_;  ///< where a part is put that is received here
  std::vector<int> delivers_;    ///< the block (of several the first) that a part brings to its target; or -1
  std::vector<int> hops_left_;
  std::vector<int> arriving_;  ///< blocks, by the round that brings them
  std::size_t next_arriving_ = 0;
  std::vector<std::ptrdiff_t> slots_;
  std::size_t first_copy_ = 0;
  Program program_;
};

}  // namespace

Piece piece_of(Area area, const BlockPlaces& places, int block) {
  const BlockPlaces::Place at = places[block];
  return {area, at.contiguous ? -1 : block, at.offset, at.bytes};
}

void append_piece(std::vector<Piece>& pieces, std::size_t first, const Piece& piece) {
  if (piece.bytes() == 0) return;
  if (pieces.size() > first && continues(pieces.back(), piece)) {
    pieces.back().grow(piece.bytes());
  } else {
    pieces.push_back(piece);
  }
}

void check_extent(std::size_t blocks, const BlockPlaces& places) {
  constexpr std::size_t most_blocks = (1 << Piece::block_bits) - 2;
  constexpr double most_bytes = std::uint64_t{1} << Piece::bytes_bits;
  double bytes = 0;
  for (std::size_t i = 0; i < blocks; ++i) bytes += static_cast<double>(places[static_cast<int>(i)].bytes);
  if (blocks > most_blocks || bytes >= most_bytes) {
    throw_error(MPI_ERR_COUNT, "wisp::Neighborhood: {} blocks of {} bytes in all are more than {} or 256 GiB",
                blocks, bytes, most_blocks);
  }
}

std::vector<int> border_of(const Torus& torus, const Offsets& reduced, int rank) {
  std::vector<int> border;
  if (torus.is_periodic()) return border;
  const std::vector<int> here = torus.coordinates(rank);
  for (int j = 0; j < torus.dimensions(); ++j) {
    if (torus.periodic(j)) continue;
    const auto place = as_size(j);
    int farthest = 0;
    for (int i = 0; i < reduced.size(); ++i) {
      const std::int64_t c = reduced[i][place];
      farthest = std::max(farthest, static_cast<int>(std::min<std::int64_t>(std::abs(c), torus.dim(j))));
    }
    border.push_back(std::min(here[place], farthest));
    border.push_back(std::min(torus.dim(j) - 1 - here[place], farthest));
  }
  return border;
}

Program compile(const Stencil& stencil, const Schedule& schedule, const Asked& asked, Copying copying,
                const std::vector<int>& border) {
  check_extent(as_size(stencil.size()), asked.receive);
  return Compiler(stencil, schedule, asked, copying, border).compile();
}

}  // namespace wisp::detail
