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
/// likes. It may be run or started again when the run before has ended; each time it takes its place in the
/// order of the communicator's collectives. What is checked then: that the communicator is still there, and
/// the own tag.
///
/// Buffers, arrays, datatypes and operators are the caller's, and must live while it may still be run;
/// started or made persistent, it has arrays and datatypes of its own. One that was moved from, or made
/// persistent, can only be assigned to or dropped.
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
  /// Of derived datatypes it has duplicates from here on.
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
