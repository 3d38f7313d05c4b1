#pragma once

#include <array>
#include <optional>
#include <vector>

#include "comm/context.hpp"
#include "comm/pair_codes.hpp"
#include "comm/tag_layout.hpp"
#include "transport/kept_arguments.hpp"
#include "transport/transport.hpp"
#include "wisp/comm.hpp"
#include "wisp/group.hpp"

namespace wisp::detail {

/// Receives and probes that MPI's own matching cannot serve: those that take messages from any member of a
/// range, or with any tag of the user's; and messages of either direction whose code the two processes have
/// not agreed on yet.
///
/// A message that was looked at and is somebody else's is set aside in arrival order, and every later receive
/// and probe looks there first: it is never taken wrongly, and hides nothing behind it. What lies aside has
/// come before all that MPI still has of that sender: where one may have to lie there, or somebody waits for
/// any tag, messages are taken as they come, whatever their tags. (Of an attached communicator all are of one
/// tag, and those that may not be wisp's are only taken for a raw receive of any.)
class Mailbox final : public Watcher {
 public:
  struct Pattern {
    Context* context = nullptr;
    Group members;          ///< who may be the sender, if it is not one rank
    int source = -1;        ///< one rank of the World, or -1: any of the members
    int tag = 0;            ///< without a code; if any of the lane will do, one of them
    WireTag wire_tag = -1;  ///< or -1: it depends on the sender or the message, or is not known yet
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
    bool lacks_code() const { return source >= 0 && wire_tag < 0 && context->tag_from(tag, source) < 0; }
    bool is_exact() const { return is_any_source || (source >= 0 && wire_tag >= 0); }
  };

  /// `services` are told of their messages that come here.
  Mailbox(Transport& transport, TagLayout tags, PairCodes& codes,
          const std::array<ServiceMessages*, 2>& services)
      : transport_(transport), tags_(tags), codes_(codes), services_(services) {}
  ~Mailbox() override;

  /// Of a message to `peer`.
  struct Sending {
    Context* context = nullptr;
    ConstBuffer buffer;
    int peer = -1;
    int tag = 0;  ///< without a code
    SendMode mode = SendMode::standard;
    const char* operation = "";
  };

  /// Sends it when its code is known, in the order of posting.
  void send(Message& message, const Sending& sending);
  /// Receives the first message that matches. In the order of posting, as MPI demands.
  void receive(Message& message, const Buffer& buffer, Pattern pattern);
  /// The same of a message of any size, into elements of a type; the last of them may get a part.
  void receive_whole(Message& message, MPI_Datatype type, RoomFor room, Pattern pattern);
  /// Done when a message that matches has arrived; the message stays for a receive.
  void probe(Message& message, const Pattern& pattern);
  std::optional<Envelope> probe_now(Pattern pattern);

  /// True if a receive that MPI could match itself may go to MPI: nothing is set aside for it, and nobody
  /// waits here who would have to be served first.
  bool is_idle() const { return aside_.empty() && waiting_.empty(); }
  /// MPI's own matching can serve it.
  bool can_post(const Pattern& pattern) const {
    return pattern.is_exact() && transport_.can_post(pattern.wire_tag);
  }

  /// Messages that wait here.
  template <class Function>
  void for_each_waiting(Function of) const {
    for (const Waiting& waiting : waiting_) of(*waiting.message);
    for (const Parked& parked : parked_) {
      if (parked.message != nullptr) of(*parked.message);
    }
  }

  /// Whether a message from any source that is waited for here may be one of this rank's; nothing, if it is
  /// not waited for here.
  std::optional<bool> may_come_from(const Message& message, int rank) const;

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
    KeptArguments types;
    ContextPtr context;
    RoomFor room = {};  ///< of a message of any size, whose buffer has only its type
  };
  struct Parked {
    Message* message;
    Sending sending;
    KeptArguments types;
    ContextPtr context;  ///< which may be dropped before
    ScratchVector left;  ///< its data, once nobody waits for it
  };

  void send_parked(Parked& parked, WireTag tag);
  void leave(Parked& parked) noexcept;
  std::vector<Arrived>::const_iterator find_aside(const Pattern& pattern) const;
  std::optional<Arrived> take_aside(const Pattern& pattern);
  std::optional<Arrived> take_arrived(const Pattern& pattern, bool is_probe);
  bool someone_waits_for_messages_of(const Pattern& pattern, std::size_t before) const;
  bool may_peek(const Pattern& pattern, std::size_t before) const;
  bool find_room(Waiting& waiting, const Arrived& arrived);
  Waiting take_waiting(std::size_t place);
  void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived);
  static bool asks_the_same(const Waiting& one, const Waiting& other);
  void end_probe(std::size_t place, const Envelope& found);
  bool someone_takes_any_tag(const Pattern& pattern) const;
  std::optional<Envelope> first_aside(const Pattern& pattern) const;
  void wait(Waiting waiting);
  bool hand_out(const Arrived& arrived);
  /// False: there is none, and never will be as things are.
  bool find_code(Pattern& pattern);
  bool use_codes();
  void refuse(Message& message);
  void watch_if_needed();

  std::vector<Arrived> aside_;  // with the next: what every receive looks at
  std::vector<Waiting> waiting_;
  Transport& transport_;
  TagLayout tags_;
  PairCodes& codes_;
  std::array<ServiceMessages*, 2> services_;
  std::vector<Parked> parked_;  ///< sends that wait for their codes
  bool is_watching_ = false;
};

}  // namespace wisp::detail
