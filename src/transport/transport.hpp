#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "async/engine.hpp"
#include "transport/type_layout.hpp"
#include "wisp/buffer.hpp"
#include "wisp/posted.hpp"

namespace wisp::detail {

enum class SendMode { standard, synchronous };

/// A message that has arrived, is matched, and is not received yet.
struct Arrived {
  Envelope envelope;
  MPI_Message mpi_message = MPI_MESSAGE_NULL;
  void* held = nullptr;  ///< the message itself, where it is not with MPI
};

class Recorder;

/// Told when messages that nobody has posted a receive for may have arrived.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual bool look() = 0;  ///< true when something moved
};

/// How messages travel between the processes of one World. Ranks are the World's, tags those on the wire;
/// -1 is any.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Engine& engine() = 0;
  /// What carries the messages.
  virtual Transport& inner() { return *this; }
  /// Who records its messages, or null.
  virtual Recorder* recorder() { return nullptr; }
  /// Whether somebody else's messages may arrive too: none is taken whose tag is not wisp's own.
  virtual bool is_shared() const { return false; }
  /// Whether joining bytes in a reduction is told to `join`, which lets it take simulated time; false: the
  /// bytes are not there, nothing is to be done.
  virtual bool meters_joins() const { return false; }
  virtual bool join(std::size_t) { return true; }
  /// Whether a receive with such a tag may be posted at once; else its messages are taken when they arrive.
  virtual bool can_post(WireTag) const { return true; }
  /// The message, `message` if given, or null: it has left, and nobody need wait for it. `operation` is what
  /// reports call it.
  virtual Message* send(const ConstBuffer& buffer, int destination, WireTag tag, SendMode mode,
                        const char* operation, Message* message = nullptr) = 0;
  /// The same of bytes that were packed for this message alone: the memory may be kept until they are gone,
  /// and `packed` is empty then.
  virtual Message* send_packed(ScratchVector& packed, std::size_t bytes, int destination, WireTag tag,
                               const char* operation) = 0;
  /// Whether memory may be kept for one more that nobody waits for: not without bound.
  virtual bool has_room_for_kept() { return true; }
  /// The same, and nobody waits for it.
  virtual void send_owned(ScratchVector packed, int destination, WireTag tag, const char* operation) = 0;
  virtual void receive(Message& message, const Buffer& buffer, int source, WireTag tag) = 0;

  /// Whether one has arrived for a receive that may be posted; it stays where it is.
  virtual std::optional<Envelope> peek(int source, WireTag tag) = 0;
  /// Takes the first message that has arrived from `source` with `tag`, if there is one.
  virtual std::optional<Arrived> take_arrived(int source, WireTag tag) = 0;
  virtual void receive_arrived(Message& message, const Buffer& buffer, const Arrived& arrived) = 0;

  virtual void watch(Watcher& watcher) = 0;
  virtual void unwatch(Watcher& watcher) = 0;

  /// Marks a message as done and lets whoever waits for it go on.
  virtual void complete(Message& message) = 0;
  /// Gives up a message that is not done.
  virtual void abandon(Message& message) noexcept = 0;
  /// Does not resume who waited for a message that is done.
  virtual void forget(Message& message) noexcept = 0;

  /// Ranks that have failed, as far as this process knows.
  virtual std::vector<int> failed() { return {}; }

  /// Whether the communicator is gone.
  bool is_closed() const { return is_closed_; }

 protected:
  bool is_closed_ = false;
};

}  // namespace wisp::detail
