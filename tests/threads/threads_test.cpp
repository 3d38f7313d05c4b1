// Threads that call the library at a time, as far as MPI lets them.

#include <gtest/gtest.h>
#include <malloc.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "error_of.hpp"
#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/detail/frame_pool.hpp"
#include "wisp/exchange.hpp"
#include "wisp/neighborhood.hpp"
#include "wisp/simulate.hpp"
#include "wisp/sort.hpp"
#include "wisp/split.hpp"
#include "wisp/wisp.h"
#include "world.hpp"

namespace wisp::test {

struct Charge {
  double place[3];
  int charge;
};

}  // namespace wisp::test

template <>
inline constexpr auto wisp::members_of<wisp::test::Charge> = std::tuple(&wisp::test::Charge::place,
                                                                        &wisp::test::Charge::charge);

namespace wisp::test {
namespace {

constexpr int thread_count = 3;

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

/// Runs `body(t)` in threads 0 … thread_count - 1; what one of them throws is a failure.
void in_threads(const std::function<void(int thread)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&body, t] {
      try {
        body(t);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << t << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// As error_of.
std::string error_in_another_thread(const std::function<void()>& call) {
  std::string sentence;
  std::thread([&] { sentence = error_of(call); }).join();
  return sentence;
}

class ThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI serves one thread at a time";
    // One for each thread, made in the same order on all ranks.
    for (int t = 0; t < thread_count; ++t) comms.push_back(world().range(0, world().size() - 1));
  }
  std::vector<Comm> comms;
};

/// Random collectives with results that one can tell without them.
void call_some(const Comm& comm, std::mt19937& random, int calls) {
  const int p = comm.size();
  const int rank = comm.rank();
  for (int call = 0; call < calls; ++call) {
    const auto count = static_cast<std::size_t>(random() % 700);
    const int root = static_cast<int>(random() % static_cast<unsigned>(p));
    const int base = static_cast<int>(random() % 1000);
    std::vector<int> mine(count, base + rank);
    const int sum = p * base + p * (p - 1) / 2;
    switch (random() % 6) {
      case 0: {
        comm.bcast(mine, root);
        ASSERT_EQ(mine, std::vector<int>(count, base + root));
        break;
      }
      case 1: {
        std::vector<int> total(count);
        comm.allreduce(mine, total, MPI_SUM);
        ASSERT_EQ(total, std::vector<int>(count, sum));
        break;
      }
      case 2: {
        std::vector<int> before(count);
        Request request = comm.iscan(mine, before, MPI_SUM);
        while (!request.test()) {
        }
        ASSERT_EQ(before, std::vector<int>(count, (rank + 1) * base + rank * (rank + 1) / 2));
        break;
      }
      case 3: {
        const int one = base + rank;
        std::vector<int> all(static_cast<std::size_t>(p));
        std::vector<int> expected(all.size());
        std::iota(expected.begin(), expected.end(), base);
        comm.allgather(buffer_of(one), all);
        ASSERT_EQ(all, expected);
        break;
      }
      case 4: {
        int heard = -1;
        const int told = base + rank;
        Request received = comm.ireceive(buffer_of(heard), any_source, call);
        Request sent = comm.isend(buffer_of(told), (rank + 1) % p, call);
        const Status status = received.wait();
        sent.wait();
        ASSERT_EQ(status.source, (rank + p - 1) % p);
        ASSERT_EQ(heard, base + status.source);
        break;
      }
      default:
        comm.barrier();
    }
  }
}

TEST_F(ThreadsTest, EachHasCollectivesAndMessagesOnItsOwnCommunicator) {
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    call_some(comms[static_cast<std::size_t>(t)], random, 100);
  });
}

TEST_F(ThreadsTest, EachMakesHandlesOfC) {
  std::vector<MPI_Comm> below(thread_count);
  for (MPI_Comm& comm : below) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  in_threads([&](int t) {
    WISP_Comm self = WISP_COMM_NULL;
    ASSERT_EQ(WISP_Comm_attach(below[static_cast<std::size_t>(t)], &self), MPI_SUCCESS);
    for (int round = 0; round < 2000; ++round) {
      WISP_Request both[2];
      int received = -1;
      ASSERT_EQ(WISP_Irecv(&received, 1, MPI_INT, 0, 0, self, &both[0]), MPI_SUCCESS);
      ASSERT_EQ(WISP_Isend(&round, 1, MPI_INT, 0, 0, self, &both[1]), MPI_SUCCESS);
      ASSERT_EQ(WISP_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_SUCCESS);
      ASSERT_EQ(received, round);
    }
    WISP_Comm_free(&self);
  });
  for (MPI_Comm& comm : below) MPI_Comm_free(&comm);
}

TEST_F(ThreadsTest, SeveralDuplicateOneCommunicator) {
  for (int round = 0; round < 10; ++round) {
    MPI_Comm below = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &below);
    std::vector<Comm> made(thread_count);
    in_threads([&](int t) { made[static_cast<std::size_t>(t)] = Comm::duplicate(below); });
    for (const Comm& comm : made) {
      int sum = 0;
      comm.allreduce(buffer_of(std::as_const(round)), buffer_of(sum), MPI_SUM);
      ASSERT_EQ(sum, round * comm.size());
    }
    made.clear();
    MPI_Comm_free(&below);
  }
}

// MPI calls the function that deletes what is ours, which wants the engine, while others ask for attributes.
TEST_F(ThreadsTest, SomeFreeWhatOthersDoNotUse) {
  std::vector<MPI_Comm> below(thread_count);
  for (MPI_Comm& comm : below) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  in_threads([&](int t) {
    const MPI_Comm own = below[static_cast<std::size_t>(t)];
    if (t % 2 == 0) {
      for (int round = 0; round < 500; ++round) {
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Comm_dup(own, &copy);
        ASSERT_EQ(Comm::attach(copy).size(), 1);
        MPI_Comm_free(&copy);
      }
      return;
    }
    for (int round = 0; round < 500; ++round) {
      const Comm comm = Comm::attach(own);
      int sum = 0;
      double product = 0;
      comm.allreduce(buffer_of(std::as_const(round)), buffer_of(sum), MPI_SUM);
      comm.allreduce(buffer_of(1.0), buffer_of(product), MPI_PROD);
      ASSERT_EQ(sum, round);
    }
  });
  for (MPI_Comm& comm : below) MPI_Comm_free(&comm);
}

TEST_F(ThreadsTest, AHandleIsFreedWhileAnotherThreadWaitsForAMessageOnIt) {
  WISP_Comm same = WISP_COMM_NULL;
  ASSERT_EQ(WISP_Comm_duplicate(MPI_COMM_SELF, &same), MPI_SUCCESS);
  for (const bool probes : {false, true}) {
    WISP_Comm comm = WISP_COMM_NULL;
    ASSERT_EQ(WISP_Comm_duplicate(MPI_COMM_SELF, &comm), MPI_SUCCESS);
    int value = 0;
    std::atomic<bool> begins = false;
    std::thread waiting([&] {
      begins = true;
      MPI_Status status;
      EXPECT_EQ(probes ? WISP_Probe(0, 7, comm, &status) : WISP_Recv(&value, 1, MPI_INT, 0, 7, comm, &status),
                MPI_SUCCESS);
      EXPECT_EQ(status.MPI_SOURCE, 0);
    });
    while (!begins) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_EQ(WISP_Comm_free(&comm), MPI_SUCCESS);
    const int sent = 5;
    EXPECT_EQ(WISP_Send(&sent, 1, MPI_INT, 0, 7, same), MPI_SUCCESS);
    waiting.join();
    if (probes) WISP_Recv(&value, 1, MPI_INT, 0, 7, same, MPI_STATUS_IGNORE);
    EXPECT_EQ(value, sent);
  }
  WISP_Comm_free(&same);
}

TEST_F(ThreadsTest, EachMakesCommunicatorsOfItsOwn) {
  std::vector<MPI_Comm> below(thread_count);
  for (MPI_Comm& comm : below) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(100 + t));
    const Comm whole = Comm::duplicate(below[static_cast<std::size_t>(t)]);
    for (int round = 0; round < 10; ++round) {
      const int first = static_cast<int>(random() % static_cast<unsigned>(whole.size()));
      const auto seed = static_cast<unsigned>(random());
      const Comm upper = whole.range(first, whole.size() - 1);
      const Comm odd = whole.range(whole.size() > 1 ? 1 : 0, whole.size() - 1, 2);
      std::mt19937 within(seed);
      if (upper.is_member()) call_some(upper, within, 5);
      std::mt19937 again(seed + 1);
      if (odd.is_member()) call_some(odd, again, 5);
    }
  });
  for (MPI_Comm& comm : below) MPI_Comm_free(&comm);
}

TEST_F(ThreadsTest, GroupsChainsAndSplitsAreMadeByEach) {
  std::vector<MPI_Comm> below(thread_count);
  for (MPI_Comm& comm : below) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  in_threads([&](int t) {
    const Comm whole = Comm::attach(below[static_cast<std::size_t>(t)]);
    for (int round = 0; round < 10; ++round) {
      std::vector<int> backwards(static_cast<std::size_t>(whole.size()));
      std::iota(backwards.rbegin(), backwards.rend(), 0);
      const Comm reversed = whole.create_group(backwards, 7);
      int from_last = whole.rank();
      reversed.bcast(buffer_of(from_last), 0);
      EXPECT_EQ(from_last, whole.size() - 1);
      const Chain parity = split(whole, whole.rank() % 2);
      int ranks = 0;
      const int one = 1;
      parity.allreduce(buffer_of(one), buffer_of(ranks), MPI_SUM);
      EXPECT_EQ(ranks, (whole.size() + 1 - whole.rank() % 2) / 2);
      EXPECT_EQ(parity.size(), ranks);
    }
  });
  for (MPI_Comm& comm : below) MPI_Comm_free(&comm);
}

TEST_F(ThreadsTest, OneStartsWhatAnotherWaitsFor) {
  constexpr int operations = 300;
  const Comm& comm = comms.front();
  const int rank = comm.rank();
  const int p = comm.size();
  std::vector<int> mine(operations), sums(operations), roots(operations);
  std::mutex mutex;
  std::queue<std::pair<int, Request>> started;
  std::thread waiter([&] {
    for (int waited = 0; waited < 2 * operations;) {
      std::optional<std::pair<int, Request>> next;
      {
        const std::lock_guard lock(mutex);
        if (!started.empty()) {
          next = std::move(started.front());
          started.pop();
        }
      }
      if (!next) {
        std::this_thread::yield();
        continue;
      }
      next->second.wait();
      const auto place = static_cast<std::size_t>(next->first / 2);
      const bool is_sum = next->first % 2 == 0;
      EXPECT_EQ(is_sum ? sums[place] : roots[place],
                is_sum ? p * next->first + p * (p - 1) / 2 : next->first);
      ++waited;
    }
  });
  for (int i = 0; i < 2 * operations; ++i) {
    const auto place = static_cast<std::size_t>(i / 2);
    if (i % 2 == 0) mine[place] = i + rank;
    if (i % 2 == 1) roots[place] = rank == i % p ? i : -1;
    Request request = i % 2 == 0 ? comm.iallreduce(buffer_of(mine[place]), buffer_of(sums[place]), MPI_SUM)
                                 : comm.ibcast(buffer_of(roots[place]), i % p);
    const std::lock_guard lock(mutex);
    started.emplace(i, std::move(request));
  }
  waiter.join();
}

TEST_F(ThreadsTest, SeveralRequestsAreWaitedForByEach) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    constexpr std::size_t operations = 20;
    for (int round = 0; round < 10; ++round) {
      std::vector<int> mine(operations, comm.rank() + t), sums(operations);
      std::vector<Request> requests;
      for (std::size_t i = 0; i < operations; ++i) {
        requests.push_back(comm.iallreduce(buffer_of(mine[i]), buffer_of(sums[i]), MPI_SUM));
      }
      std::size_t ended = wait_some(requests).size();
      if (wait_any(requests)) ++ended;
      EXPECT_GE(ended, 2u);
      while (!test_all(requests)) {
      }
      EXPECT_EQ(sums, std::vector<int>(operations, comm.size() * t + comm.size() * (comm.size() - 1) / 2));
    }
  });
}

TEST_F(ThreadsTest, CopiesOfOneCommunicatorAreMadeAndDroppedByAll) {
  const Comm shared = comms.front();
  in_threads([&](int) {
    for (int i = 0; i < 10000; ++i) {
      const Comm copy = shared;
      const Comm second = copy.raw();
      EXPECT_EQ(second.size(), copy.size());
    }
  });
  shared.barrier();
}

TEST_F(ThreadsTest, DatatypesOfStructsAreMadeOnce) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    std::vector<Charge> charges(10, Charge{{1, 2, 3}, comm.rank()});
    comm.bcast(charges, comm.size() - 1);
    EXPECT_EQ(charges.front().charge, comm.size() - 1);
  });
}

TEST_F(ThreadsTest, EachSortsAndExchanges) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    constexpr std::size_t n = 1000;
    std::vector<int> all;
    for (int r = 0; r < comm.size(); ++r) {
      std::mt19937 random(static_cast<unsigned>(1000 * t + r));
      for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<int>(random() % 5000));
    }
    const auto mine = [&] {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(n) * comm.rank();
      return std::vector<int>(begin, begin + static_cast<std::ptrdiff_t>(n));
    };
    std::vector<int> data = mine();
    sort(comm, data);
    std::ranges::sort(all);
    EXPECT_EQ(data, mine());
    const int told = 1000 * t + comm.rank();
    Arrivals arrivals;
    const Outgoing outgoing{(comm.rank() + 1) % comm.size(), buffer_of(told)};
    comm.exchange(std::span(&outgoing, 1), arrivals);
    ASSERT_EQ(arrivals.size(), 1u);
    const int left = (comm.rank() + comm.size() - 1) % comm.size();
    EXPECT_EQ(arrivals[0].source, left);
    EXPECT_EQ(arrivals[0].as<int>(), std::vector<int>{1000 * t + left});
  });
}

TEST_F(ThreadsTest, EachHasANeighborhood) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    const Neighborhood ring(comm, Stencil(Torus({comm.size()}), {{-1}, {1}}));
    const std::vector<int> send = {comm.rank(), comm.rank()};
    std::vector<int> receive(2);
    Request request = ring.neighbor_alltoall_init(send, receive);
    for (int round = 0; round < 50; ++round) {
      request.start();
      request.wait();
      EXPECT_EQ(receive[0], (comm.rank() + 1) % comm.size());
      EXPECT_EQ(receive[1], (comm.rank() + comm.size() - 1) % comm.size());
    }
  });
}

TEST_F(ThreadsTest, NeighborhoodsOfEachAreMadeOfOneStencil) {
  for (int round = 0; round < 50; ++round) {
    const Stencil stencil(Torus({comms[0].size(), 1, 1}), moore(3, 1 + round % 2));
    in_threads([&](int t) {
      const Comm& comm = comms[static_cast<std::size_t>(t)];
      const Neighborhood on(comm, stencil);
      std::vector<int> send(static_cast<std::size_t>(on.size())), receive(send.size(), -1);
      for (std::size_t i = 0; i < send.size(); ++i) send[i] = 1000 * comm.rank() + static_cast<int>(i);
      on.neighbor_alltoall(send, receive);
      for (std::size_t i = 0; i < send.size(); ++i)
        EXPECT_EQ(receive[i], 1000 * on.sources()[i] + static_cast<int>(i));
    });
  }
}

TEST_F(ThreadsTest, WhoTestsAgainAndAgainGivesWay) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    int value = t;
    if (t > 0) {
      for (int round = 0; round < 100; ++round)
        comm.sendrecv(buffer_of(t), comm.rank(), 0, buffer_of(value), comm.rank(), 0);
      comms[0].send(buffer_of(value), comm.rank(), t);
      return;
    }
    for (int other = 1; other < thread_count; ++other) {
      Request request = comm.ireceive(buffer_of(value), comm.rank(), other);
      while (!request.test()) {
      }
      EXPECT_EQ(value, other);
    }
  });
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ThreadsTest, NothingRestsWhenAThreadHasEnded) {
  constexpr std::size_t bytes = 100000;
  const std::size_t before = mallinfo2().uordblks;
  for (int round = 0; round < 50; ++round) {
    std::thread([] { detail::FramePool::release(detail::FramePool::allocate(bytes), bytes); }).join();
  }
  EXPECT_LT(mallinfo2().uordblks, before + 10 * bytes);
}
#endif

TEST_F(ThreadsTest, HandlesThatAnotherThreadFreesAreUsedAgain) {
  WISP_Comm comm = WISP_COMM_NULL;
  ASSERT_EQ(WISP_Comm_attach(MPI_COMM_SELF, &comm), MPI_SUCCESS);
  std::set<WISP_Request> seen;
  for (int round = 0; round < 20; ++round) {
    std::vector<WISP_Request> requests(100);
    for (WISP_Request& request : requests) {
      ASSERT_EQ(WISP_Ibarrier(comm, &request), MPI_SUCCESS);
      seen.insert(request);
    }
    std::thread([&] {
      for (WISP_Request& request : requests) EXPECT_EQ(WISP_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }).join();
  }
  EXPECT_LE(seen.size(), 300u);
  WISP_Comm_free(&comm);
}

TEST_F(ThreadsTest, ACoroutineGoesOnInWhicheverThreadPolls) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    int sum = 0;
    comm.run([](Comm on, int& total) -> Task<> {
      for (int round = 0; round < 100; ++round) {
        int one = on.rank() == round % on.size() ? 1 : 0;
        co_await bcast(on, buffer_of(one), round % on.size());
        total += one;
        if (round % 10 == 0) co_await barrier(on);
      }
    }(comm, sum));
    EXPECT_EQ(sum, 100);
  });
}

TEST_F(ThreadsTest, WhatIsDroppedMayJustHaveCome) {
  in_threads([&](int t) {
    const Comm& comm = comms[static_cast<std::size_t>(t)];
    for (int i = 0; i < 200; ++i) {
      int got = -1;
      Request sent = comm.isend(buffer_of(std::as_const(i)), comm.rank(), 5);
      {
        const Task<Status> dropped = receive(comm, buffer_of(got), comm.rank(), 5);
        std::this_thread::sleep_for(std::chrono::microseconds(i % 4 * 100));
      }
      if (got < 0) comm.receive(buffer_of(got), comm.rank(), 5);
      sent.wait();
      EXPECT_EQ(got, i);
    }
  });
}

TEST_F(ThreadsTest, EachSimulatesACluster) {
  std::vector<double> seconds(thread_count);
  in_threads([&](int t) {
    // Ranks of one cluster share its thread; clusters share nothing.
    const SimulationReport report =
        simulate({.ranks = 33, .jitter = 1e-6, .seed = 7}, [](Comm comm) -> Task<> {
          for (int root = 0; root < comm.size(); ++root) {
            std::vector<int> data(100, comm.rank());
            co_await bcast(comm, data, root);
            std::vector<int> sums(100);
            co_await allreduce(comm, data, sums, MPI_SUM);
            EXPECT_EQ(sums.back(), root * comm.size());
          }
        });
    seconds[static_cast<std::size_t>(t)] = report.seconds;
  });
  for (const double of_thread : seconds) EXPECT_EQ(of_thread, seconds.front());
}

TEST(ThreadLevelTest, BelowFunneledOnlyTheMainThreadCalls) {
  if (thread_level() > MPI_THREAD_FUNNELED) GTEST_SKIP() << "MPI serves more threads";
  const Comm comm = world();
  int value = 1;
  const auto refused = [&](const char* name, const std::function<void()>& call) {
    const std::string sentence = error_in_another_thread(call);
    EXPECT_EQ(sentence.find(name), 0u) << sentence;
    EXPECT_NE(sentence.find("another thread than the one that initialized MPI"), std::string::npos)
        << sentence;
  };
  refused("wisp::barrier", [&] { comm.barrier(); });
  refused("wisp::bcast", [&] { comm.ibcast(buffer_of(value), 0).wait(); });
  refused("wisp::Comm::isend", [&] { comm.isend(buffer_of(value), 0, 0).wait(); });
  refused("wisp::Comm::receive", [&] { comm.receive(buffer_of(value), 0, 0); });
  refused("wisp::Comm::range", [&] { static_cast<void>(comm.range(0, 0)); });
  refused("wisp::Comm::send_init", [&] { static_cast<void>(comm.send_init(buffer_of(value), 0)); });
  refused("wisp::Comm::raw", [&] { static_cast<void>(comm.raw()); });
  refused("wisp::Comm::to_mpi", [&] { comm.to_mpi(); });
  refused("wisp::Comm::duplicate", [&] { Comm::duplicate(MPI_COMM_WORLD); });
  refused("wisp::Comm::attach", [&] { Comm::attach(MPI_COMM_SELF); });
  const Chain chain(comm);
  refused("wisp::Chain::barrier", [&] { chain.barrier(); });
  refused("wisp::Chain", [&] { static_cast<void>(Chain(comm)); });
  refused("wisp::Neighborhood", [&] { Neighborhood::adjacent(comm, {}, {}); });
  WISP_Comm handle = WISP_COMM_NULL;
  ASSERT_EQ(WISP_Comm_duplicate(MPI_COMM_WORLD, &handle), MPI_SUCCESS);
  WISP_Chain chain_handle = WISP_CHAIN_NULL;
  ASSERT_EQ(WISP_Chain_of_comm(handle, &chain_handle), MPI_SUCCESS);
  const auto refused_to_free = [](const std::string& name, const std::function<int()>& free) {
    std::thread([&] {
      EXPECT_NE(free(), MPI_SUCCESS);
      EXPECT_EQ(std::string(WISP_Error_message()).find(name + ": called by another thread"), 0u);
    }).join();
    EXPECT_EQ(free(), MPI_SUCCESS);
  };
  refused_to_free("WISP_Chain_free", [&] { return WISP_Chain_free(&chain_handle); });
  refused_to_free("WISP_Comm_free", [&] { return WISP_Comm_free(&handle); });
  Request request = comm.ibarrier();
  refused("wisp::Request::wait", [&] { request.wait(); });
  request.wait();
  comm.barrier();
}

TEST(ThreadLevelTest, SerializedTheyTakeTurns) {
  if (thread_level() != MPI_THREAD_SERIALIZED) GTEST_SKIP() << "MPI serves others";
  const Comm comm = world();
  int sum = 0;
  const int one = 1;
  EXPECT_EQ(error_in_another_thread([&] { comm.allreduce(buffer_of(one), buffer_of(sum), MPI_SUM); }),
            "nothing");
  EXPECT_EQ(sum, comm.size());
  // Who drops a request waits for it, and goes on with its task.
  int heard_of_all = 0;
  Request started = comm.start([](Comm on, int& total) -> Task<> {
    for (int root = 0; root < on.size(); ++root) {
      int told = on.rank() == root ? root + 1 : 0;
      co_await bcast(on, buffer_of(told), root);
      total += told;
    }
  }(comm, heard_of_all));
  std::thread([&] { const Request dropped = std::move(started); }).join();
  EXPECT_EQ(heard_of_all, comm.size() * (comm.size() + 1) / 2);
  if (comm.size() < 2) return;
  // Rank 0 waits in one thread and calls in another.
  if (comm.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    comm.send(buffer_of(one), 0, 0);
  } else if (comm.rank() == 0) {
    int heard = 0;
    std::atomic<bool> begins = false;
    std::thread waiter([&] {
      begins = true;
      comm.receive(buffer_of(heard), 1, 0);
    });
    while (!begins) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::string sentence = error_in_another_thread([&] { comm.barrier(); });
    EXPECT_NE(sentence.find("wisp::barrier: another thread is in a call of wisp"), std::string::npos)
        << sentence;
    waiter.join();
    EXPECT_EQ(heard, 1);
  }
  comm.barrier();
}

}  // namespace
}  // namespace wisp::test
