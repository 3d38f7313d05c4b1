#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "pattern/log2.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::detail {

/// The circulant graph over `size` ranks: ⌈log2 p⌉ skips, halved and rounded up from p on. In a round with
/// skip k, rank r sends to r + skip(k) and receives from r - skip(k), around the ring.
///
///   p = 11: skips 1 2 3 6
class CirculantGraph {
 public:
  static constexpr std::size_t most_rounds = 31;

  explicit constexpr CirculantGraph(int size) : rounds_(ceil_log2(size)) {
    skips_[as_size(rounds_)] = size;
    for (int k = rounds_; k > 0; --k) skips_[as_size(k - 1)] = (skip(k) + 1) / 2;
  }

  constexpr int size() const { return skip(rounds_); }
  /// ⌈log2 p⌉
  constexpr int rounds() const { return rounds_; }
  /// 0 <= k < rounds(); and skip(rounds()) is the size.
  constexpr int skip(int k) const { return skips_[as_size(k)]; }
  constexpr int next(int rank, int k) const {
    const int to = rank + skip(k);
    return to < size() ? to : to - size();
  }
  constexpr int previous(int rank, int k) const {
    const int from = rank - skip(k);
    return from < 0 ? from + size() : from;
  }

 private:
  int rounds_;
  std::array<int, most_rounds + 1> skips_{};
};

/// Which piece a rank receives along each skip when rank 0 passes a stream of pieces to all others, round
/// after round along skips 0, 1, …, q - 1, 0, 1, … (q = ⌈log2 p⌉). Relative to the turn through the skips:
/// turn t adds t q. Of the q pieces of a rank, all different modulo q, one is its turn's own and the others,
/// negative, are of turns before. Found by a search through the ways on which pieces come from rank 0, O(log
/// p) by itself: what a rank sends is what its partner receives.
///
/// Source: Träff, arXiv 2407.18004
class CirculantSchedule {
 public:
  CirculantSchedule(const CirculantGraph& graph, int rank)
      : graph_(graph), target_(graph.size() + rank), base_(base_of(rank)), free_(~(1U << base_)) {
    search(0, 2 * graph.size(), graph.rounds(), 0);
    for (int k = 0; k < graph.rounds(); ++k) {
      int& piece = pieces_[as_size(k)];
      piece = piece == graph.rounds() ? base_ : piece - graph.rounds();
    }
  }

  int piece(int k) const { return pieces_[as_size(k)]; }

 private:
  /// The smallest skip of the way from rank 0 that takes the largest skips first.
  int base_of(int rank) const {
    int left = rank;
    for (int k = graph_.rounds() - 1; k >= 0; --k) {
      if (graph_.skip(k) == left) return k;
      if (graph_.skip(k) < left) left -= graph_.skip(k);
    }
    return graph_.rounds();
  }

  /// Depth first over the ways towards the target, large skips first; each skip ends one way only. Returns
  /// the first k without a piece.
  int search(int from, int bound, int largest, int k) {
    for (int skip = largest; skip >= 0; --skip) {
      if ((free_ >> skip & 1U) == 0) continue;
      const int to = from + graph_.skip(skip);
      if (to > target_ - graph_.skip(k) || to >= bound) continue;
      if (to <= target_ - graph_.skip(k + 1)) k = search(to, bound, skip, k);
      if (from > target_ - graph_.skip(k + 1)) return k;
      bound = to;
      pieces_[as_size(k++)] = skip;
      free_ &= ~(1U << skip);
    }
    return k;
  }

  const CirculantGraph& graph_;
  int target_;
  int base_;
  unsigned free_;
  std::array<int, CirculantGraph::most_rounds + 1> pieces_{};
};

/// The rounds in which one rank, counted from the root, takes part in a broadcast of pieces: n - 1 + ⌈log2
/// p⌉, the least possible. Each other rank than the root receives each piece once, before it sends it.
/// Backwards, it is a reduction.
class CirculantPipeline {
 public:
  /// Of one message; piece -1: there is none.
  struct Hop {
    int partner;
    int piece;
  };

  CirculantPipeline(int rank, int size, int pieces)
      : graph_(size),
        rank_(rank),
        pieces_(pieces),
        // The last turn through the skips is whole, the first one may not be.
        begin_(graph_.rounds() == 0 ? 0
                                    : (graph_.rounds() - (pieces - 1) % graph_.rounds()) % graph_.rounds()) {
    const CirculantSchedule own(graph_, rank);
    for (int k = 0; k < graph_.rounds(); ++k) {
      received_[as_size(k)] = own.piece(k);
      sent_[as_size(k)] = CirculantSchedule(graph_, graph_.next(rank, k)).piece(k);
    }
  }

  int rounds() const { return graph_.rounds() == 0 ? 0 : pieces_ - 1 + graph_.rounds(); }
  Hop received(int round) const {
    const int k = skip_of(round);
    return {graph_.previous(rank_, k), rank_ == 0 ? -1 : piece_in(received_, round)};
  }
  Hop sent(int round) const {
    const int to = graph_.next(rank_, skip_of(round));
    return {to, to == 0 ? -1 : piece_in(sent_, round)};
  }

 private:
  using Pieces = std::array<int, CirculantGraph::most_rounds>;

  int skip_of(int round) const { return (begin_ + round) % graph_.rounds(); }
  int piece_in(const Pieces& schedule, int round) const {
    const int turn = (begin_ + round) / graph_.rounds();
    const int piece = schedule[as_size(skip_of(round))] + turn * graph_.rounds() - begin_;
    return piece < 0 ? -1 : std::min(piece, pieces_ - 1);
  }

  CirculantGraph graph_;
  int rank_;
  int pieces_;
  int begin_;
  Pieces received_{};
  Pieces sent_{};
};

}  // namespace wisp::detail
