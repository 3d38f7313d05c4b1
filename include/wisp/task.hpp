#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "wisp/detail/frame_pool.hpp"

/// Coroutines: Task, when_all. Nothing here knows of MPI.

namespace wisp {

template <class T = void>
class Task;

namespace detail {

/// Ends a coroutine by resuming whoever awaits it, by symmetric transfer.
struct ResumeContinuation {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
    return finished.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct PooledFrame {
  static void* operator new(std::size_t bytes) { return FramePool::allocate(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { FramePool::release(frame, bytes); }
};

struct TaskPromiseBase : PooledFrame {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr exception;

  std::suspend_always initial_suspend() const noexcept { return {}; }
  ResumeContinuation final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception = std::current_exception(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;

  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (exception) std::rethrow_exception(exception);
    return std::move(*value);
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const {
    if (exception) std::rethrow_exception(exception);
  }
};

}  // namespace detail

/// A coroutine that has not started. It starts when it is awaited, and resumes its awaiter when it is done;
/// an exception inside passes to the awaiter.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> task;
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> awaiting) const noexcept {
        return begin_for(task, awaiting);
      }
      T await_resume() const { return task.promise().take(); }
    };
    return Awaiter{handle_};
  }

  /// Begins the task; false if it has ended, otherwise it resumes `awaiting` at its end. A task that ends at
  /// once comes back here, so that a loop over such tasks takes no stack, even where the compiler makes no
  /// tail call of a symmetric transfer.
  static bool begin_for(std::coroutine_handle<promise_type> task, std::coroutine_handle<> awaiting) noexcept {
    task.resume();
    if (task.done()) return false;
    task.promise().continuation = awaiting;
    return true;
  }

  /// For whoever drives a task from outside a coroutine: resume it once, and wait until it is done.
  std::coroutine_handle<promise_type> handle() const noexcept { return handle_; }
  /// The same, to be destroyed by the caller.
  std::coroutine_handle<promise_type> release() noexcept { return std::exchange(handle_, nullptr); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

template <class T>
Task<T> after(Task<> first, Task<T> then) {
  co_await Task<>(std::move(first));  // its frame is not kept any longer
  co_return co_await std::move(then);
}

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

struct Join;

/// A child of when_all: owns its frame, and reports to the Join when it ends.
struct JoinedChild {
  struct promise_type : PooledFrame {
    Join* join;
    promise_type* next;
    promise_type** here;  ///< who points to it

    inline promise_type(Task<>&, Join& target) noexcept;
    promise_type(const promise_type&) = delete;
    promise_type& operator=(const promise_type&) = delete;
    ~promise_type() {
      *here = next;
      if (next != nullptr) next->here = here;
    }
    JoinedChild get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    inline auto final_suspend() const noexcept;
    void return_void() const noexcept {}
    inline void unhandled_exception() noexcept;
  };

  std::coroutine_handle<promise_type> handle;
};

/// Counts the children of one when_all that still run; the last one resumes the parent. They go with it.
struct Join {
  std::size_t running = 0;
  std::coroutine_handle<> parent = {};
  std::exception_ptr first_exception = {};
  JoinedChild::promise_type* children = nullptr;

  Join() = default;
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;
  ~Join() {
    while (children != nullptr)
      std::coroutine_handle<JoinedChild::promise_type>::from_promise(*children).destroy();
  }
};

inline JoinedChild::promise_type::promise_type(Task<>&, Join& target) noexcept
    : join(&target), next(target.children), here(&target.children) {
  if (next != nullptr) next->here = &next;
  target.children = this;
}

inline void JoinedChild::promise_type::unhandled_exception() noexcept {
  if (!join->first_exception) join->first_exception = std::current_exception();
}

inline auto JoinedChild::promise_type::final_suspend() const noexcept {
  struct Arrive {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> child) const noexcept {
      Join* const joins = child.promise().join;
      child.destroy();
      return --joins->running == 0 ? joins->parent : std::coroutine_handle<>(std::noop_coroutine());
    }
    void await_resume() const noexcept {}
  };
  return Arrive{};
}

inline JoinedChild join_child(Task<> task, Join&) {
  co_await std::move(task);
}

inline Task<> nothing() {
  co_return;
}

}  // namespace detail

/// Runs all tasks at once and ends when every one has ended; only then an exception (the first) passes on,
/// so no buffer dies under a message that is still on its way.
inline Task<> when_all(std::vector<Task<>> tasks) {
  struct Awaiter {
    std::vector<Task<>>& tasks;
    detail::Join join = {};

    bool await_ready() const noexcept { return tasks.empty(); }
    bool await_suspend(std::coroutine_handle<> parent) {
      // One more than there are tasks: those that end at once must not resume a parent that is still here.
      join.running = tasks.size() + 1;
      join.parent = parent;
      for (Task<>& task : tasks) detail::join_child(std::move(task), join).handle.resume();
      return --join.running != 0;
    }
    void await_resume() const {
      if (join.first_exception) std::rethrow_exception(join.first_exception);
    }
  };
  Awaiter awaiter{tasks};
  co_await awaiter;
}

template <class... Tasks>
Task<> when_all(Task<> first, Tasks... rest) {
  std::vector<Task<>> tasks;
  tasks.reserve(1 + sizeof...(rest));
  tasks.push_back(std::move(first));
  (tasks.push_back(std::move(rest)), ...);
  return when_all(std::move(tasks));
}

}  // namespace wisp
