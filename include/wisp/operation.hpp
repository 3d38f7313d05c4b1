#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include "wisp/request.hpp"
#include "wisp/task.hpp"

namespace wisp {

namespace detail {
class OperationBody;
}  // namespace detail

/// A collective whose arguments are checked and whose algorithm is chosen; nothing else has happened yet.
/// Awaited or run it is blocking, started it is nonblocking, `persistent` makes it start as often as one
/// likes. It may be run or started again; each time it takes its place in the order of the communicator's
/// collectives.
///
///     co_await wisp::bcast(comm, data, 0);        // inside a coroutine
///     wisp::bcast(comm, data, 0).run();           // the same as comm.bcast(data, 0)
///     wisp::Request r = wisp::bcast(comm, data, 0).start();       // comm.ibcast
///     wisp::Request p = wisp::bcast(comm, data, 0).persistent();  // comm.bcast_init
class [[nodiscard]] Operation {
 public:
  explicit Operation(std::unique_ptr<detail::OperationBody> body) noexcept;
  Operation(Operation&&) noexcept;
  Operation& operator=(Operation&&) noexcept;
  ~Operation();

  /// To its end, driving all operations of the process.
  void run() const;
  /// The user may free his datatypes then; operators must live until the end.
  Request start() const;
  Request persistent() &&;

  /// To be awaited later, as with `when_all`. It has its place in the order from here on.
  operator Task<>() const;  // NOLINT(google-explicit-constructor)
  auto operator co_await() const {
    struct Awaiter {
      Task<> task;
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> awaiting) const noexcept {
        return Task<>::begin_for(task.handle(), awaiting);
      }
      void await_resume() const { task.handle().promise().take(); }
    };
    return Awaiter{*this};
  }

 private:
  std::unique_ptr<detail::OperationBody> body_;
};

}  // namespace wisp
