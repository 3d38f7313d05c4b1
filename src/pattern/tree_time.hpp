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
  /// What comes at one time comes one message after the other; or all of it late, and is then worked off one
  /// by one, as where a network shares a port fairly.
  enum class Ports { own, shared };

  /// `bytes` of a rank; each byte that comes up takes `joining` times its time at the port to be joined.
  /// Children less than `on_node` ranks away are on their parent's node.
  TreeTime(const Machine& machine, int radix_bits, Load load, double bytes, double joining = 0,
           int on_node = 1, Ports ports = Ports::own)
      : far_(machine),
        near_(machine.at(Level::inside)),
        on_node_(on_node),
        radix_bits_(radix_bits),
        load_(load),
        bytes_(bytes),
        joining_(joining),
        ports_(ports) {}

  /// Until everybody has what the root had.
  double down(int ranks) {
    return known(ranks, [&](const KnomialTree& tree) {
      double last = 0;
      double clock = 0;
      double port = 0;
      for (int i = 0; i < tree.child_count(); ++i) {
        // As bcast_tree and scatter_tree send.
        const int k = load_ == Load::vectors ? tree.served(i) : tree.child_count() - 1 - i;
        const int size = tree.child_subtree_size(k);
        const Machine& machine = to(tree.child_offset(k));
        clock += machine.overhead;
        port = std::max(clock, port) + wire(machine, size);
        last = std::max(last, port + travel(machine) + machine.overhead + down(size));
      }
      return last;
    });
  }
  /// Until the root has what everybody had.
  double up(int ranks) {
    return known(ranks, [&](const KnomialTree& tree) {
      double clock = 0;
      double port = 0;
      for (int k = 0; k < tree.child_count();) {
        const int size = tree.child_subtree_size(k);
        int together = 1;
        while (ports_ == Ports::shared && k + together < tree.child_count() &&
               tree.child_subtree_size(k + together) == size)
          ++together;
        const Machine& machine = to(tree.child_offset(k));
        port = std::max(port, up(size) + machine.overhead + travel(machine)) + together * wire(machine, size);
        clock =
            std::max(clock, port) +
            together * (machine.overhead + joining_ * (wire(far_, size) + 2 * bytes_ * far_.joins_longer));
        k += together;
      }
      return clock;
    });
  }

 private:
  const Machine& to(int offset) const { return offset < on_node_ ? near_ : far_; }
  /// On the way between two ranks that are busy with it.
  static double travel(const Machine& machine) { return machine.latency - 2 * machine.overhead; }
  double wire(const Machine& machine, int ranks) const {
    return bytes_ * (load_ == Load::blocks ? ranks : 1) * machine.seconds_per_byte;
  }
  /// That of a full subtree is computed once; there is one on each level that is not full.
  template <class Compute>
  double known(int ranks, Compute compute) {
    const int bits = ceil_log2(ranks);
    const bool is_full = ranks == 1 << bits && bits % radix_bits_ == 0;
    if (is_full && full_[as_size(bits)] >= 0) return full_[as_size(bits)];
    const double seconds = ranks == 1 ? 0 : compute(KnomialTree(0, ranks, 0, radix_bits_));
    if (is_full) full_[as_size(bits)] = seconds;
    return seconds;
  }

  const Machine& far_;
  Machine near_;
  int on_node_;
  int radix_bits_;
  Load load_;
  double bytes_;
  double joining_;
  Ports ports_;
  std::array<double, 32> full_ = [] {
    std::array<double, 32> unknown{};
    unknown.fill(-1);
    return unknown;
  }();
};

}  // namespace wisp::detail
