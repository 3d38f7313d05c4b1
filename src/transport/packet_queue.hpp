#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace wisp::detail {

/// Packets by the time of their arrival, those of one time in the order in which they were sent. Most arrive
/// in waves, so to add and to take one mostly touches memory that was touched just before.
template <class Packet>
class PacketQueue {
 public:
  bool empty() const { return waves_.empty(); }

  void push(double time, Packet* packet) {
    if (last_ == waves_.end() || last_->first != time) {
      last_ = waves_.try_emplace(time).first;
      if (last_->second.packets.empty() && !spare_.empty()) {
        last_->second.packets.swap(spare_.back());
        spare_.pop_back();
      }
    }
    last_->second.packets.push_back(packet);
  }

  /// The earliest. Calls `soon(packet, turns)` for some that come so many turns later.
  template <class Soon>
  Packet* pop(Soon soon) {
    const auto first = waves_.begin();
    auto& [packets, next] = first->second;
    Packet* const packet = packets[next++];
    for (const std::size_t turns : {4u, 8u, 16u}) {
      if (next + turns < packets.size()) soon(packets[next + turns], turns);
    }
    if (next == packets.size()) {
      packets.clear();
      if (spare_.size() < most_spare) spare_.push_back(std::move(packets));
      if (last_ == first) last_ = waves_.end();
      waves_.erase(first);
    }
    return packet;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [time, wave] : waves_) {
      for (std::size_t i = wave.next; i < wave.packets.size(); ++i) visit(wave.packets[i]);
    }
  }

 private:
  static constexpr std::size_t most_spare = 64;
  struct Wave {
    std::vector<Packet*> packets;
    std::size_t next = 0;
  };

  std::map<double, Wave> waves_;
  typename std::map<double, Wave>::iterator last_ = waves_.end();
  std::vector<std::vector<Packet*>> spare_;
};

}  // namespace wisp::detail
