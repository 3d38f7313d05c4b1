#pragma once

#include <mpi.h>

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "async/detached.hpp"
#include "async/engine.hpp"
#include "wisp/request.hpp"

namespace wisp::preload {

class Served;

/// Nonblocking operations that the program has started. To it each is a generalized request of MPI, so that
/// it may be waited for and tested like any other, alone or among others.
///
/// What moves them are the program's waits and tests, and where it is in a call of MPI that knows nothing of
/// them, or in none, a thread that looks now and then. So they are there only where MPI serves several
/// threads.
class Progress {
 public:
  void begin();
  void end();

  /// Held by whoever is in wisp: the program's thread, or the one that looks. Nothing where there is none.
  std::unique_lock<std::mutex> lock() {
    return looker_.joinable() ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  /// Makes a request of MPI for one that has been started under the lock.
  int hand_out(Request started, Served& served, MPI_Request* request);

  /// The same for a persistent one. No generalized request can be started again: it is a receive of a message
  /// that this rank sends to itself when the operation ends.
  int hand_out_persistent(Request made, Served& served, MPI_Request* request);
  bool has_persistent() const { return !persistent_.empty(); }
  /// Starts, or frees, one of these; false: it is none.
  bool start(MPI_Request* request, int& code);
  bool free(MPI_Request* request, int& code);

  /// Nothing is in flight, and MPI knows of all that has ended: what is idle may wait in MPI alone, where
  /// MPICH does not hear of requests that another thread completes.
  bool is_idle() const { return in_flight_.load(std::memory_order_relaxed) == 0; }
  /// Whether the request is of an operation of ours that has not ended, or not so that MPI knows.
  bool is_in_flight(MPI_Request request);
  /// Some operation has failed, perhaps one that the program has yet to wait for.
  bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
  /// Moves all until done() says so.
  template <class Done>
  void wait_until(Done done) {
    struct Waiting {  // may be left by an exception of an error handler
      std::atomic<bool>& flag;
      bool before = flag.exchange(true);
      ~Waiting() { flag = before; }
    } const waiting{is_waited_for_};
    detail::IdleLoop idle;
    int polls_before_yield = detail::IdleLoop::fewest_polls;
    while (!done()) {
      if (look()) {
        idle.moved();
      } else if (const auto idle_for = idle.pause(polls_before_yield); idle_for > detail::Engine::fast_wait) {
        attend_wait(idle_for);
      }
    }
  }
  bool look() {
    const std::lock_guard held(mutex_);
    return engine_ != nullptr && poll();
  }

 private:
  struct Started;
  struct Persistent;

  // MPI waits for them, through the request.
  detail::Detached watch(Request started, Started& state);
  detail::Detached watch_again(Persistent& operation);
  void use(const Served& served);
  void look_now_and_then();
  /// Under the lock. What goes wrong here is nobody's call.
  bool poll() noexcept;
  void attend_wait(detail::IdleLoop::Duration idle) noexcept;

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::thread looker_;
  std::atomic<int> in_flight_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> is_waited_for_ = false;
  bool ends_ = false;
  detail::Engine* engine_ = nullptr;
  std::fenv_t arithmetic_ = {};    ///< of the program's thread, when it last began something
  std::set<MPI_Request> started_;  ///< of nonblocking operations in flight
  std::map<MPI_Request, std::unique_ptr<Persistent>> persistent_;
  MPI_Comm to_oneself_ = MPI_COMM_NULL;
  std::vector<int> free_tags_;  ///< below the number of requests there have been at a time
};

/// Never destroyed: a program may exit while the thread looks.
extern Progress& progress;

}  // namespace wisp::preload
