#include "wisp/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace wisp {
namespace {

/// Suspends whoever awaits it until it is opened.
struct Gate {
  std::coroutine_handle<> waiter;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
  void await_resume() const noexcept {}
  void open() { waiter.resume(); }
};

Task<int> give(int value) {
  co_return value;
}
Task<> fail(std::string what) {
  throw std::runtime_error(what);
  co_return;
}
Task<> pass(Gate& gate, bool& passed) {
  co_await gate;
  passed = true;
}
Task<> pass_and_fail(Gate& gate, std::string what) {
  co_await gate;
  throw std::runtime_error(what);
}

/// Drives a task that needs nobody else.
template <class T>
T run(Task<T> task) {
  task.handle().resume();
  EXPECT_TRUE(task.handle().done());
  return task.handle().promise().take();
}

TEST(TaskTest, DoesNotStartUntilItIsAwaited) {
  bool started = false;
  const auto start = [](bool& flag) -> Task<> {
    flag = true;
    co_return;
  };
  Task<> task = start(started);
  EXPECT_FALSE(started);
  run(std::move(task));
  EXPECT_TRUE(started);
}

TEST(TaskTest, PassesItsValueToWhoeverAwaitsIt) {
  const auto sum = []() -> Task<int> { co_return co_await give(2) + co_await give(3); };
  EXPECT_EQ(run(sum()), 5);
}

TEST(TaskTest, PassesItsExceptionToWhoeverAwaitsIt) {
  const auto outer = []() -> Task<std::string> {
    try {
      co_await fail("inner");
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  };
  EXPECT_EQ(run(outer()), "inner");
}

TEST(TaskTest, AMillionTasksThatEndAtOnceTakeNoStack) {
  const auto loop = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await give(1);
    co_return sum;
  };
  EXPECT_EQ(run(loop()), 1'000'000);
}

TEST(WhenAllTest, OfNoTasksEndsAtOnce) {
  run(when_all(std::vector<Task<>>()));
}

TEST(WhenAllTest, OfTasksThatEndAtOnceEndsAtOnce) {
  int count = 0;
  const auto increment = [](int& n) -> Task<> {
    ++n;
    co_return;
  };
  run(when_all(increment(count), increment(count), increment(count)));
  EXPECT_EQ(count, 3);
}

TEST(WhenAllTest, EndsWhenTheLastChildEndsInWhateverOrder) {
  Gate first, second;
  bool first_passed = false, second_passed = false;
  Task<> both = when_all(pass(first, first_passed), pass(second, second_passed));
  both.handle().resume();
  second.open();
  EXPECT_TRUE(second_passed);
  EXPECT_FALSE(both.handle().done());
  first.open();
  EXPECT_TRUE(both.handle().done());
}

TEST(WhenAllTest, PassesOnTheFirstExceptionOnlyWhenAllHaveEnded) {
  Gate first, second;
  bool passed = false;
  Task<> all = when_all(pass_and_fail(first, "first"), pass(second, passed), fail("at once"));
  all.handle().resume();
  first.open();
  EXPECT_FALSE(all.handle().done()) << "a child still runs";
  second.open();
  EXPECT_TRUE(passed);
  ASSERT_TRUE(all.handle().done());
  try {
    all.handle().promise().take();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "at once");
  }
}

}  // namespace
}  // namespace wisp
