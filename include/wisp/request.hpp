#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wisp/detail/context_ptr.hpp"
#include "wisp/status.hpp"
#include "wisp/task.hpp"

namespace wisp {

namespace detail {

class Engine;

/// A task with a status or without, driven from outside of any coroutine.
class RunningTask {
 public:
  RunningTask() = default;
  template <class T>
  RunningTask(Task<T> task) noexcept {  // NOLINT(google-explicit-constructor): any task
    auto handle = task.release();
    if (!handle) return;
    handle_ = handle;
    promise_ = &handle.promise();
    if constexpr (!std::is_void_v<T>) status_ = &handle.promise().value;
  }
  RunningTask(RunningTask&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        promise_(other.promise_),
        status_(other.status_),
        has_ended_(std::exchange(other.has_ended_, false)) {}
  RunningTask& operator=(RunningTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(promise_, other.promise_);
    std::swap(status_, other.status_);
    std::swap(has_ended_, other.has_ended_);
    return *this;
  }
  ~RunningTask() {
    if (handle_) handle_.destroy();
  }
  /// Of what has ended at once, without a coroutine.
  static RunningTask ended() {
    RunningTask task;
    task.has_ended_ = true;
    return task;
  }

  bool exists() const noexcept { return handle_ != nullptr || has_ended_; }
  bool done() const noexcept { return has_ended_ || handle_.done(); }
  void resume() const { handle_.resume(); }
  void continue_with(std::coroutine_handle<> awaiting) const noexcept { promise_->continuation = awaiting; }
  bool has_failed() const noexcept { return !has_ended_ && promise_->exception != nullptr; }
  Status take() const {
    if (has_failed()) std::rethrow_exception(promise_->exception);
    return status_ != nullptr ? **status_ : Status();
  }

 private:
  std::coroutine_handle<> handle_;
  TaskPromiseBase* promise_ = nullptr;
  std::optional<Status>* status_ = nullptr;  ///< null: the task has none
  bool has_ended_ = false;
};

}  // namespace detail

class Comm;
struct Completion;
class Request;

namespace detail {
/// As `test`, of a wait of one's own, which tells the engine itself for how long nothing has `moved`.
std::optional<Status> test_in_wait(Request& request, bool& moved);
/// Moves what is in flight; so does a wait for a request of MPI's own, whose code it gives.
void look(const Comm& comm);
int wait_for_mpi(const Comm& comm, MPI_Request* request, MPI_Status* status);
}  // namespace detail

/// An operation that was started and may still be running. `test` and `wait` drive all operations of the
/// process, not only this one; after either has reported the end the request is inactive, as in MPI.
///
/// A persistent request (of the `…_init` members of Comm) is inactive until `start` starts it, and after its
/// end it can be started again: its arguments are checked and its algorithm is chosen once.
///
/// Dropping an active request waits for it, so that no buffer dies under a message; `free` lets it run on.
/// On a simulated cluster nothing can wait: `co_await` the request instead.
class [[nodiscard]] Request {
 public:
  Request() = default;
  /// What becomes of an operation that an exception passes.
  enum class Unwinding { waits, cancels };
  /// Starts `operation`; `context` is kept as long as it runs.
  Request(detail::RunningTask operation, detail::ContextPtr context, Unwinding unwinding = Unwinding::waits);
  /// A persistent one; `make` gives the operation of one run.
  static Request persistent(std::function<detail::RunningTask()> make, detail::ContextPtr context,
                            Unwinding unwinding = Unwinding::waits);
  Request(Request&&) noexcept = default;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True while there is an operation whose end has not been reported.
  bool active() const noexcept { return operation_.exists(); }

  bool is_persistent() const noexcept { return static_cast<bool>(make_); }
  /// Starts a persistent request that is inactive. Those of one communicator may start in any order.
  void start();
  /// Throws, by this name of a call, where `start` would.
  void check_start(const char* call) const;

  /// The status if the operation is done, else nothing. An inactive request is done, with an empty status.
  std::optional<Status> test();
  Status wait();

  /// Inside a coroutine: suspends it until the operation is done, and gives the status.
  auto operator co_await() noexcept {
    struct Awaiter {
      explicit Awaiter(Request& awaited) noexcept : request(awaited) {}
      Awaiter(const Awaiter&) = delete;
      Awaiter& operator=(const Awaiter&) = delete;
      ~Awaiter() {  // a coroutine that is dropped is not resumed
        if (is_suspended && request.active()) request.operation_.continue_with(std::noop_coroutine());
      }
      bool await_ready() const noexcept { return request.done(); }
      void await_suspend(std::coroutine_handle<> awaiting) noexcept {
        is_suspended = true;
        request.operation_.continue_with(awaiting);
      }
      Status await_resume() {
        is_suspended = false;
        return request.take();
      }
      Request& request;
      bool is_suspended = false;
    };
    return Awaiter(*this);
  }

  /// Lets the operation run on in whatever calls of the library follow; its buffers must live until it ends.
  void free();

 private:
  friend std::vector<Completion> test_some(std::span<Request> requests);
  friend std::optional<Completion> test_any(std::span<Request> requests);
  friend bool test_all(std::span<Request> requests, std::span<Status> statuses);
  friend std::optional<Completion> wait_any(std::span<Request> requests);
  friend std::vector<Completion> wait_some(std::span<Request> requests);
  friend detail::Engine* engine_of(const Request& request);
  friend std::optional<Status> detail::test_in_wait(Request& request, bool& moved);
  friend std::string describe(const Request& request);
  class Several;

  bool done() const noexcept { return !active() || operation_.done(); }
  bool is_lost() const noexcept;
  bool has_ended() const noexcept { return done() || is_lost(); }
  bool fails() const noexcept { return is_lost() || operation_.has_failed(); }
  bool is_to_be_told() const noexcept { return active() && has_ended(); }
  static std::optional<Completion> take_any(std::span<Request> requests);
  static std::vector<Completion> take_some(std::span<Request> requests);
  void finish() noexcept;
  template <class Look>
  std::optional<Status> test(Look look);
  Status take();
  Status take(detail::ContextPtr& context);

  detail::ContextPtr context_;
  detail::RunningTask operation_;
  std::function<detail::RunningTask()> make_;  ///< of a persistent one
  Unwinding unwinding_ = Unwinding::waits;
  int exceptions_ = std::uncaught_exceptions();  ///< in flight when this was made
};

/// As MPI_Startall, MPI_Testall, MPI_Waitall, MPI_Testany, …; inactive requests count as done in `all` and
/// are passed over in `any` and `some`, which give nothing if no request is active. An operation that has
/// failed is told of by its exception, and nothing else with it: what is done otherwise stays for the next
/// call, or, of `all`, is in `statuses` if it comes before.
void start_all(std::span<Request> requests);
/// `statuses`, if there are any, are one for each request.
bool test_all(std::span<Request> requests, std::span<Status> statuses = {});
void wait_all(std::span<Request> requests, std::span<Status> statuses = {});

struct Completion {
  std::size_t index = 0;
  Status status;
};
std::optional<Completion> test_any(std::span<Request> requests);
std::optional<Completion> wait_any(std::span<Request> requests);
std::vector<Completion> test_some(std::span<Request> requests);
std::vector<Completion> wait_some(std::span<Request> requests);

/// What it is and for whom it waits, with the ranks of the communicator below: "a request on world[0..7],
/// which waits in wisp::bcast (call 17 on world[0..7]#1) for a message from rank 0". Of several operations on
/// one communicator it tells all waits. Local.
std::string describe(const Request& request);

}  // namespace wisp
