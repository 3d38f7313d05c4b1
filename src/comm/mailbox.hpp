#pragma once

#include <optional>
#include <vector>

#include "comm/context.hpp"
#include "comm/tag_layout.hpp"
#include "transport/transport.hpp"
#include "wisp/group.hpp"

namespace wisp::detail {

/// Receives and probes that MPI's own matching cannot serve: those that take messages from any member of a
/// range, or with any tag of the user's.
///
/// A message that was looked at and is somebody else's is set aside in arrival order, and every later receive
/// and probe looks there first: it is never taken wrongly, and hides nothing behind it.
class Mailbox final : public Watcher {
 public:
  struct Pattern {
    Context* context = nullptr;
    Group members;      ///< who may be the sender, if it is not one rank
    int source = -1;    ///< one rank of the World, or -1: any of the members
    int tag = 0;        ///< without a code; if any of the lane will do, one of them
    int wire_tag = -1;  ///< on the wire, or -1: it depends on the sender or the message
    bool is_any_number = false;
    bool is_any_source = false;  ///< the tag on the wire says enough: nobody else's messages have it

    bool matches(const Envelope& envelope, const TagLayout& tags) const {
      if (is_any_source) return envelope.tag == wire_tag;
      const bool is_from = source >= 0 ? envelope.source == source : members.from_world(envelope.source) >= 0;
      if (!is_from) return false;
      if (wire_tag >= 0) return envelope.tag == wire_tag;
      const int wanted =
          is_any_number ? tags.encode(context->kind, tags.lane(tag), tags.number(envelope.tag)) : tag;
      return tags.kind_of(envelope.tag) == context->kind &&
             envelope.tag == context->tag_from(wanted, envelope.source);
    }
    /// MPI's own matching can serve it.
    bool is_exact() const { return is_any_source || (source >= 0 && wire_tag >= 0); }
  };

  Mailbox(Transport& transport, TagLayout tags) : transport_(transport), tags_(tags) {}
  ~Mailbox() override;

  /// Receives the first message that matches. In the order of posting, as MPI demands.
  void receive(Message& message, const Buffer& buffer, const Pattern& pattern);
  /// Done when a message that matches has arrived; the message stays for a receive.
  void probe(Message& message, const Pattern& pattern);
  std::optional<Envelope> probe_now(const Pattern& pattern);

  /// True if a receive that MPI could match itself may go to MPI: nothing is set aside for it, and nobody
  /// waits here who would have to be served first.
  bool is_idle() const { return aside_.empty() && waiting_.empty(); }

  bool look() override;
  void abandon(Message& message) noexcept;
  /// Whoever waits here learns that the communicator is gone.
  void close() noexcept;

 private:
  struct Waiting {
    Message* message;
    Buffer buffer;
    Pattern pattern;
    bool is_probe;
  };

  std::optional<Arrived> take_aside(const Pattern& pattern);
  bool someone_waits_for_messages_of(const Pattern& pattern) const;
  void wait(Waiting waiting);
  bool hand_out(const Arrived& arrived);

  Transport& transport_;
  TagLayout tags_;
  std::vector<Arrived> aside_;
  std::vector<Waiting> waiting_;
};

}  // namespace wisp::detail
