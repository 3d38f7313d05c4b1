#pragma once

#include <mpi.h>

#include <coroutine>
#include <memory>
#include <vector>

#include "async/engine.hpp"
#include "transport/transport.hpp"

namespace wisp::detail {

Envelope envelope_of(const MPI_Status& status);

/// What must give its MPI objects back before MPI is gone.
class Closable {
 public:
  virtual ~Closable() = default;
  virtual void close() noexcept = 0;
};

/// All pending MPI requests of this process and whom they wake: one poll is one MPI_Testsome over all.
class MpiEngine final : public Engine {
 public:
  /// With a communicator for what needs one at the beginning. Throws if this thread may not call MPI.
  explicit MpiEngine(MPI_Comm any);
  ~MpiEngine() override;
  /// The engine of this process.
  static std::shared_ptr<MpiEngine> of_process(MPI_Comm any);

  bool poll() override;
  bool step() override;
  std::span<Message* const> pending() const override { return messages_; }

  /// Small messages are copied and have left, as far as their sender is concerned: it need not wait until a
  /// receiver that has no core at the moment takes them. False: this one has other bytes, or too many wait.
  struct Copied {
    std::size_t least = 0;  ///< bytes
    std::size_t largest = 0;
    std::size_t largest_in_a_row = 0;  ///< of those behind a first one, with no look between
  };
  bool send_buffered(const ConstBuffer& buffer, const Copied& copied, int destination, int tag,
                     MPI_Comm comm);

  /// True if one more message may be kept until it is gone. If that is needed, all that can be done is done.
  bool has_room_for_kept(std::size_t bytes = 0, bool is_needed = false);
  /// The same of bytes in memory that nobody else needs, which is kept instead of copied.
  void send_kept(ScratchVector& packed, std::size_t bytes, int destination, int tag, MPI_Comm comm);

  /// Writes WISP_TRACE.RANK, if that is set; else null.
  Recorder* recorder() const { return recorder_.get(); }

  /// Takes a request that MPI has ended when it was made; false: it is not one. Such requests are one object,
  /// in Open MPI and in MPICH, and a look at the handle costs less than a test.
  bool take_ended(MPI_Request& request);
  void add(MPI_Request request, Message& message);
  using Clock = std::chrono::steady_clock;
  /// A receive may end by itself until then.
  void abandon(Message& message, Clock::time_point patience_ends = {}) noexcept;
  /// Until MPI is done with a message that nobody goes on with, maybe as all of its World is being dropped.
  void finish(Message& message, bool is_world_gone) noexcept;
  void forget(Message& message) noexcept;

  void register_closable(Closable& closable) { closables_.push_back(&closable); }
  void unregister_closable(Closable& closable) { std::erase(closables_, &closable); }
  /// Called when MPI_Finalize deletes the attribute that holds the engine.
  void close() noexcept;

  void watch(Watcher& watcher) { watchers_.push_back(&watcher); }
  void unwatch(Watcher& watcher) { std::erase(watchers_, &watcher); }

  /// Marks a message as done, and whoever waits for it as ready to go on.
  void complete(Message& message);

 private:
  /// Who goes on, and because of which message.
  struct Ready {
    std::coroutine_handle<> waiter;
    Message* message;
  };

  struct BufferedSend {
    void* copy;
    std::size_t bytes;
  };

  void drain_buffered();
  // How many are done; their places are in indices_, their statuses in statuses_.
  int test_requests();
  /// Whether a look at one request has found that, of as many as an MPI takes to tell.
  template <class Look>
  bool has_ended(Look look) const;
  int test_only();
  int test_in_turn();
  int test_some();
  /// Where all have ended: nobody waits.
  int take_all();
  /// True if one coroutine waits for all pending messages.
  bool are_awaited_together() const;
  /// False if nobody waits for what has completed.
  bool collect(int completed);
  bool resume_ready();
  static void give_up(MPI_Request request, bool is_receive, Clock::time_point patience_ends = {}) noexcept;

  MPI_Request ended_ = MPI_REQUEST_NULL;  ///< kept, so that its handle is nobody else's
  std::vector<MPI_Request> requests_;
  std::vector<Message*> messages_;  ///< messages_[i] waits for requests_[i]
  std::vector<MPI_Request> buffered_requests_;
  std::vector<BufferedSend> buffered_;
  unsigned full_looks_ = 0;       ///< for room, since there was some
  bool has_copied_long_ = false;  ///< since the last look
  unsigned looks_ = 0;
  std::size_t known_ended_ = 0;  ///< so many requests, from the first on, have ended and are not taken yet
  void refuse(const char* call) const override;

  bool is_closed_ = false;
  std::unique_ptr<Recorder> recorder_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Ready> ready_;
  std::size_t next_ready_ = 0;        ///< those before it have gone on
  std::vector<const World*> ending_;  ///< whose messages resume nobody at the moment
  std::vector<Ready> held_;           ///< because of them
  std::vector<Watcher*> watchers_;
  std::vector<Closable*> closables_;
};

}  // namespace wisp::detail
