#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "wisp/detail/context_ptr.hpp"
#include "wisp/status.hpp"
#include "wisp/task.hpp"

namespace wisp {

namespace detail {
class Engine;
}  // namespace detail

struct Completion;
class Request;

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
  Request(Task<Status> operation, detail::ContextPtr context, Unwinding unwinding = Unwinding::waits);
  Request(Task<> operation, detail::ContextPtr context);
  /// A persistent one; `make` gives the operation of one run.
  Request(std::function<Task<>()> make, detail::ContextPtr context);
  Request(std::function<Task<Status>()> make, detail::ContextPtr context);
  Request(Request&&) noexcept = default;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True while there is an operation whose end has not been reported.
  bool active() const noexcept { return plain_.handle() != nullptr || with_status_.handle() != nullptr; }

  bool is_persistent() const noexcept { return persistent_ != nullptr; }
  /// Starts a persistent request that is inactive. Those of one communicator may start in any order.
  void start();

  /// The status if the operation is done, else nothing. An inactive request is done, with an empty status.
  std::optional<Status> test();
  Status wait();

  /// Inside a coroutine: suspends it until the operation is done, and gives the status.
  auto operator co_await() noexcept {
    struct Awaiter {
      Request& request;
      bool await_ready() const noexcept { return request.done(); }
      void await_suspend(std::coroutine_handle<> awaiting) const noexcept {
        request.set_continuation(awaiting);
      }
      Status await_resume() const { return request.take(); }
    };
    return Awaiter{*this};
  }

  /// Lets the operation run on in whatever calls of the library follow; its buffers must live until it ends.
  void free();

 private:
  friend std::vector<Completion> test_some(std::span<Request> requests);
  friend std::optional<Completion> test_any(std::span<Request> requests);
  friend bool test_all(std::span<Request> requests, std::span<Status> statuses);
  friend detail::Engine* engine_of(std::span<Request> requests);

  struct Persistent {
    std::function<Task<>()> make_plain;
    std::function<Task<Status>()> make_with_status;
  };

  bool done() const noexcept {
    if (plain_.handle() != nullptr) return plain_.handle().done();
    return with_status_.handle() == nullptr || with_status_.handle().done();
  }
  void set_continuation(std::coroutine_handle<> awaiting) const noexcept;
  void finish() noexcept;
  Status take();

  detail::ContextPtr context_;
  // The operation; at most one of the two is there.
  Task<> plain_;
  Task<Status> with_status_;
  std::unique_ptr<Persistent> persistent_;
  Unwinding unwinding_ = Unwinding::waits;
  int exceptions_ = std::uncaught_exceptions();  ///< in flight when this was made
};

/// As MPI_Startall, MPI_Testall, MPI_Waitall, MPI_Testany, …; inactive requests count as done in `all` and
/// are passed over in `any` and `some`, which give nothing if no request is active.
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

}  // namespace wisp
