#include "async/engine.hpp"

#include <gtest/gtest.h>

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
