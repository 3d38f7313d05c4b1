#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "comm/tag_layout.hpp"
#include "transport/forwarding_transport.hpp"

namespace wisp::detail {

/// Messages over an MPI communicator that its owner uses too: none is looked at that may be the owner's. A
/// receive with any tag could only look at all, so the user's messages travel with one tag of their
/// communicator, and their own tag before the data:
///
///   | tag | 0 | bytes | data … |     small ones
///   | tag | 1 | bytes |              others; the data follow in a message whose number is 1
///
/// The data of a pair's messages arrive in the order of what was told of them.
///
/// Others than the user's, and those of raw communicators, travel as they are.
class SharedTransport final : public ForwardingTransport {
 public:
  SharedTransport(std::unique_ptr<Transport> inner, TagLayout tags, int rank)
      : ForwardingTransport(std::move(inner)), tags_(tags), rank_(rank) {}
  ~SharedTransport() override;

  bool is_shared() const override { return true; }
  bool can_post(WireTag tag) const override { return !is_told(tag); }

  Message* send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode, const char* operation,
                Message* message) override;
  void send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) override;
  std::optional<Arrived> take_arrived(int source, WireTag tag) override;
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) override;

 private:
  /// What was told, received as bytes; and its data, once they are there.
  struct Opening {
    Envelope envelope;
    std::vector<std::byte> bytes;
    std::unique_ptr<Message> received = std::make_unique<Message>();
    std::optional<Arrived> data;
  };

  /// Whether the tag is told before the data.
  bool is_told(WireTag tag) const {
    return tag >= 0 && tags_.kind_of(tag) == TagLayout::Kind::isolated &&
           tags_.lane(tag) == TagLayout::Lane::point_to_point;
  }

  /// Tells the tag; true: the data follow.
  bool send_head(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                 const char* operation);
  void open(const Arrived& head);
  std::optional<Arrived> take_any(int source);
  std::optional<Arrived> take_data(int source, WireTag tag);

  TagLayout tags_;
  int rank_;
  std::deque<std::unique_ptr<Opening>> opening_;
  std::deque<Arrived> data_;  ///< that came to who looked for any message
};

}  // namespace wisp::detail
