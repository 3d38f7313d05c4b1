#include "async/engine.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "wisp/detail/frame_pool.hpp"

namespace wisp::detail {
namespace {

class CountingEngine : public Engine {
 public:
  bool poll() override { return ++polls % 100 == 0; }
  int polls = 0;
};

TEST(EngineTest, ABlockingCallPollsUntilItsConditionHolds) {
  CountingEngine engine;
  engine.run_until([&] { return engine.polls >= 5000; });
  EXPECT_EQ(engine.polls, 5000);
}

TEST(EngineTest, ABlockingCallWhoseConditionHoldsDoesNotPoll) {
  CountingEngine engine;
  engine.run_until([] { return true; });
  EXPECT_EQ(engine.polls, 0);
}

TEST(FramePoolTest, WhatOneThreadTakesAndAnotherGivesBackDoesNotRestWithoutBound) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the pool is off, so that the sanitizer sees every frame";
#endif
  constexpr std::size_t bytes = 4000;
  constexpr std::size_t most_at_rest = std::size_t{16} << 20;
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> taken(1000);
    std::thread([&] {
      for (void*& block : taken) block = FramePool::allocate(bytes);
    }).join();
    for (void* block : taken) FramePool::release(block, bytes);
  }
  EXPECT_GT(FramePool::resting_blocks(bytes), 0U);
  EXPECT_LE(FramePool::resting_blocks(bytes) * bytes, most_at_rest);
}

TEST(FramePoolTest, AFrameIsUsedAgain) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the pool is off, so that the sanitizer sees every frame";
#endif
  void* first = FramePool::allocate(200);
  FramePool::release(first, 200);
  EXPECT_EQ(FramePool::allocate(230), first) << "200 and 230 bytes are one class";
  FramePool::release(first, 230);
}

}  // namespace
}  // namespace wisp::detail
