#include "async/polite_lock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace wisp::detail {
namespace {

TEST(PoliteLockTest, OneThreadIsInAtATime) {
  constexpr int threads = 4;
  constexpr int rounds = 5000;
  PoliteLock lock;
  int count = 0;  // not atomic
  std::vector<std::thread> counting;
  for (int t = 0; t < threads; ++t) {
    counting.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        lock.lock();
        lock.lock();
        ++count;
        lock.unlock();
        ++count;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : counting) thread.join();
  EXPECT_EQ(count, threads * rounds * 2);
}

TEST(PoliteLockTest, AHolderLetsOthersInHoweverOftenItHasTakenIt) {
  PoliteLock lock;
  lock.lock();
  lock.lock();
  bool was_in = false;
  std::thread other([&] {
    lock.lock();
    was_in = true;
    lock.unlock();
  });
  lock.let_others([&] { other.join(); });
  EXPECT_TRUE(was_in);
  lock.unlock();
  lock.unlock();
  lock.lock();  // it is free: nobody would come back from here
  lock.unlock();
}

TEST(PoliteLockTest, OneWhoOnlyWaitsGivesWay) {
  PoliteLock lock;
  bool stop = false;
  std::thread waiting([&] {
    lock.lock();
    while (!stop) lock.let_others([] {});
    lock.unlock();
  });
  for (int i = 0; i < 1000; ++i) {
    lock.lock();
    lock.unlock();
  }
  lock.lock();
  stop = true;
  lock.unlock();
  waiting.join();
}

}  // namespace
}  // namespace wisp::detail
