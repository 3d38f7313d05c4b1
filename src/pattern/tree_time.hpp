#pragma once

#include <algorithm>
#include <array>

#include "pattern/cost_model.hpp"
#include "pattern/knomial_tree.hpp"
#include "wisp/detail/as_size.hpp"

namespace wisp::detail {

/// How long data take down or up a k-nomial tree where every rank has a core of its own: message by message,
/// each rank being busy with one at a time, and its port with the bytes of one. Subtrees of the same size
/// take the same time, so this is O(radix · log² p).
class TreeTime {
 public:
  enum class Load { vectors, blocks };  ///< the same bytes for everybody; those of all ranks of a subtree

  /// `bytes` of a rank; each byte that comes up takes `joining` times its time at the port to be joined.
  constexpr TreeTime(const Machine& machine, int radix_bits, Load load, double bytes, double joining = 0)
      : machine_(machine), radix_bits_(radix_bits), load_(load), bytes_(bytes), joining_(joining) {}

  /// Until everybody has what the root had.
  constexpr double down(int ranks) {
    return known(ranks, [&](const KnomialTree& tree) {
      double last = 0;
      double clock = 0;
      double port = 0;
      for (int k = tree.child_count() - 1; k >= 0; --k) {
        const int size = tree.child_subtree_size(k);
        clock += machine_.overhead;
        port = std::max(clock, port) + wire(size);
        last = std::max(last, port + travel() + machine_.overhead + down(size));
      }
      return last;
    });
  }
  /// Until the root has what everybody had.
  constexpr double up(int ranks) {
    return known(ranks, [&](const KnomialTree& tree) {
      double clock = 0;
      double port = 0;
      for (int k = 0; k < tree.child_count(); ++k) {
        const int size = tree.child_subtree_size(k);
        port = std::max(port, up(size) + machine_.overhead + travel()) + wire(size);
        clock = std::max(clock, port) + machine_.overhead + joining_ * wire(size);
      }
      return clock;
    });
  }

 private:
  /// On the way between two ranks that are busy with it.
  constexpr double travel() const { return machine_.latency - 2 * machine_.overhead; }
  constexpr double wire(int ranks) const {
    return bytes_ * (load_ == Load::blocks ? ranks : 1) * machine_.seconds_per_byte;
  }
  /// That of a full subtree is computed once; there is one on each level that is not full.
  template <class Compute>
  constexpr double known(int ranks, Compute compute) {
    const int bits = ceil_log2(ranks);
    const bool is_full = ranks == 1 << bits && bits % radix_bits_ == 0;
    if (is_full && full_[as_size(bits)] >= 0) return full_[as_size(bits)];
    const double seconds = ranks == 1 ? 0 : compute(KnomialTree(0, ranks, 0, radix_bits_));
    if (is_full) full_[as_size(bits)] = seconds;
    return seconds;
  }

  const Machine& machine_;
  int radix_bits_;
  Load load_;
  double bytes_;
  double joining_;
  std::array<double, 32> full_ = [] {
    std::array<double, 32> unknown{};
    unknown.fill(-1);
    return unknown;
  }();
};

}  // namespace wisp::detail
