#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "transport/transport.hpp"

namespace wisp::detail {

class World;

/// Short messages of numbers that the processes of a World send each other beside all operations, with a tag
/// of their own.
class ServiceMessages {
 public:
  using Words = std::vector<std::int64_t>;
  struct Received {
    int source;
    Words words;
  };

  /// `is_background`: their coming and going is not taken for progress.
  ServiceMessages(World& world, WireTag tag, const char* operation, bool is_background = false)
      : world_(world), tag_(tag), operation_(operation), is_background_(is_background) {}

  WireTag tag() const { return tag_; }
  void tell(int peer, Words words);
  /// One that somebody has come upon.
  void take(const Arrived& arrived);
  /// Takes what has arrived.
  void take_arrived();
  bool has_incoming() const { return !incoming_.empty(); }
  /// The next one of those that were taken, in their order; or nothing, if there is none, or not all of it.
  std::optional<Received> next();

  /// Before the transport is closed.
  void close() noexcept;

 private:
  struct Incoming {
    int source;
    Words words;
    Posted received;
  };
  struct Outgoing {
    Words words;
    Posted sent;
  };

  World& world_;
  WireTag tag_;
  const char* operation_;
  bool is_background_;
  std::deque<Incoming> incoming_;
  std::deque<Outgoing> outgoing_;
};

}  // namespace wisp::detail
