// Requests that exceptions pass, and communicators that are empty: nothing is written to what is gone, and
// nothing is lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "error_of.hpp"
#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "world.hpp"

namespace wisp {
namespace {

using test::world;

Task<> two_receives(Comm comm, int from, int& too_small, std::vector<int>& other) {
  const Request second = comm.ireceive(other, from, 2);
  Request first = comm.ireceive(buffer_of(too_small), from, 1);
  co_await first;
}

TEST(LifetimesMpiTest, ARequestWhoseMessageHasComeIsDroppedByTheFailureOfAnother) {
  const Comm comm = world();
  if (comm.size() == 1) GTEST_SKIP() << "Open MPI does not say that a message to oneself was too long";
  const std::vector<int> mine(4, 7);
  std::vector<int> other(4);
  int too_small = 0;
  const int next = (comm.rank() + 1) % comm.size();
  Request both =
      comm.start(two_receives(comm, (comm.rank() + comm.size() - 1) % comm.size(), too_small, other));
  const Request sent_second = comm.isend(mine, next, 2);
  const Request sent_first = comm.isend(mine, next, 1);
  EXPECT_THROW(both.wait(), Error);
  comm.barrier();
  int sum = 1;
  comm.allreduce(in_place(), buffer_of(sum), MPI_SUM);
  EXPECT_EQ(sum, comm.size());
}

TEST(LifetimesMpiTest, AnExceptionThatPassesAPendingReceiveGetsOut) {
  const Comm comm = world();
  int value = -1;
  try {
    const Request never = comm.ireceive(buffer_of(value), comm.rank(), 11);
    const Request never_any = comm.ireceive(buffer_of(value), any_source, 12);
    comm.bcast(buffer_of(value), comm.size());  // a wrong root
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), MPI_ERR_ROOT);
  }
  // What was cancelled takes no message.
  const int mine = comm.rank();
  const Request sent = comm.isend(buffer_of(mine), comm.rank(), 11);
  comm.receive(buffer_of(value), comm.rank(), 11);
  EXPECT_EQ(value, comm.rank());
}

Task<> drop_a_receive(Comm comm, int& late, int& early) {
  const Request dropped = comm.ireceive(buffer_of(late), 1, 5);
  co_await receive(comm, buffer_of(early), 0, 6);
}

/// Blocks while an exception is in flight, which lets other operations go on.
struct AsksWhenDropped {
  const Comm& comm;
  ~AsksWhenDropped() {
    int one = 1;
    comm.send(buffer_of(one), 0, 6);
    comm.send(buffer_of(one), 1, 7);
    comm.receive(buffer_of(one), 1, 8);
  }
};

TEST(LifetimesMpiTest, AReceiveThatACoroutineDropsIsWaitedForWhileAnExceptionIsInFlightElsewhere) {
  const Comm comm = world();
  if (comm.size() == 1) GTEST_SKIP();
  int late = -1;
  if (comm.rank() == 0) {
    int early = -1;
    Request other = comm.start(drop_a_receive(comm, late, early));
    try {
      const AsksWhenDropped asks{comm};
      throw std::runtime_error("");
    } catch (const std::runtime_error&) {
    }
    other.wait();
    EXPECT_EQ(late, 42);
  } else if (comm.rank() == 1) {
    comm.receive(buffer_of(late), 0, 7);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    late = 42;
    comm.send(buffer_of(late), 0, 5);
    comm.send(buffer_of(late), 0, 8);
  }
  comm.barrier();
}

/// Starts a receive, and throws when its message has begun to come.
void receive_in_vain(const Comm& comm, std::vector<char>& to) {
  const Request pending = comm.ireceive(to, 1, 5);
  int behind = 0;
  comm.receive(buffer_of(behind), 1, 6);
  throw std::runtime_error("");
}

TEST(LifetimesMpiTest, NothingComesToABufferWhoseReceiveAnExceptionHasPassed) {
  const Comm comm = world();
  if (comm.size() == 1) GTEST_SKIP();
  for (const std::size_t bytes : {100, 100000, 4194304}) {
    std::vector<char> data(bytes, 's');
    if (comm.rank() == 0) {
      EXPECT_THROW(receive_in_vain(comm, data), std::runtime_error);
      std::ranges::fill(data, 'r');
    } else if (comm.rank() == 1) {
      const int behind = 0;
      Request sent = comm.isend(data, 0, 5);
      comm.send(buffer_of(behind), 0, 6);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      sent.wait();
    }
    comm.barrier();
    EXPECT_EQ(std::ranges::count(data, comm.rank() == 0 ? 'r' : 's'), static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST(LifetimesMpiTest, ASendIsDoneWhenTheReceiveBesideItHasFailed) {
  const Comm comm = world();
  if (comm.size() == 1) GTEST_SKIP();
  const std::vector<int> four(4, 4);
  std::vector<int> many(100000, 1);
  int too_small = 0;
  if (comm.rank() == 0) {
    EXPECT_THROW(comm.sendrecv(many, 1, 5, buffer_of(too_small), 1, 6), Error);
    std::ranges::fill(many, 2);
  } else if (comm.rank() == 1) {
    comm.send(four, 0, 6);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    comm.receive(many, 0, 5);
    EXPECT_EQ(std::ranges::count(many, 1), 100000);
  }
  comm.barrier();
}

Task<> nothing() {
  co_return;
}

TEST(LifetimesMpiTest, WhatIsSentHasLeftWhenTheCommunicatorBelowIsFreed) {
  if (world().size() == 1) GTEST_SKIP() << "one rank cannot receive while it waits";
  const int rank = world().rank();
  for (const bool waits : {false, true}) {
    MPI_Comm below = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &below);
    Comm comm = Comm::duplicate(below);
    std::vector<int> values(1'000'000, rank == 0 ? 7 : 0);  // more than leaves at once
    if (rank == 0) {
      Request sent = comm.isend(values, 1, 3);
      MPI_Comm_free(&below);
      if (waits) {
        EXPECT_THROW(sent.wait(), Error);
      } else {
        sent = Request();
      }
      std::ranges::fill(values, -1);
    } else {
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        comm.receive(values, 0, 3);
        EXPECT_EQ(std::ranges::count(values, 7), 1'000'000);
      }
      comm = Comm();
      MPI_Comm_free(&below);
    }
  }
}

TEST(LifetimesMpiTest, WhatIsExchangedComesWhenTheCommunicatorBelowIsFreed) {
  const int rank = world().rank();
  const int next = (rank + 1) % world().size();
  const int previous = (rank + world().size() - 1) % world().size();
  for (int how = 0; how < 6; ++how) {
    MPI_Comm below = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &below);
    const Comm comm = Comm::duplicate(below);
    const std::vector<int> values(300'000, rank);
    std::vector<int> got = values;
    std::vector<Request> requests;
    if (how / 2 == 0) requests.push_back(comm.isendrecv_replace(got, next, 1, previous, 1));
    if (how / 2 == 1) requests.push_back(comm.isendrecv(values, next, 1, got, previous, 1));
    if (how / 2 == 2) {
      requests.push_back(comm.ireceive(got, previous, 1));
      requests.push_back(comm.isend(values, next, 1));
    }
    MPI_Comm_free(&below);
    bool has_failed = how % 2 == 1;
    for (Request& request : requests) {
      if (how % 2 == 1) continue;
      try {
        request.wait();  // what is to oneself may be done already
      } catch (const Error& error) {
        EXPECT_EQ(error.error_class(), MPI_ERR_COMM);
        has_failed = true;
      }
    }
    requests.clear();
    MPI_Barrier(MPI_COMM_WORLD);
    const bool has_come = got == std::vector<int>(values.size(), previous);
    EXPECT_TRUE(has_come || (has_failed && got == values)) << how;  // all of it or nothing
  }
}

TEST(LifetimesMpiTest, CommunicatorsThatAreEmptyOrMovedFromRefuseAllCalls) {
  Comm moved = world();
  const Comm taken = std::move(moved);
  int value = 0;
  const ChainNeighbors alone{1, 0, MPI_PROC_NULL, MPI_PROC_NULL};
  for (const Comm& none : {Comm(), moved}) {  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(none.empty());
    EXPECT_THROW(none.run(nothing()), Error);
    EXPECT_THROW(static_cast<void>(none.start(nothing())), Error);
    EXPECT_THROW(static_cast<void>(Chain::of_neighbors(none, alone)), Error);
    EXPECT_THROW(none.send(buffer_of(value), 0), Error);
    EXPECT_THROW(static_cast<void>(none.ireceive(buffer_of(value), 0)), Error);
    EXPECT_THROW(none.sendrecv(buffer_of(value), 0, 1, buffer_of(value), 0, 1), Error);
    EXPECT_THROW(none.probe(), Error);
    EXPECT_THROW(none.iprobe(), Error);
    EXPECT_THROW(static_cast<void>(none.translate(0, taken)), Error);
    EXPECT_THROW(none.create_group(std::vector<int>{0}), Error);
    EXPECT_THROW(none.barrier(), Error);
    EXPECT_THROW(Chain(none).barrier(), Error);
    EXPECT_THROW(static_cast<void>(split(none, 1)), Error);
    EXPECT_THROW(static_cast<void>(two_level(none, 1)), Error);
  }
  EXPECT_THROW(Chain().run(nothing()), Error);
  EXPECT_THROW(static_cast<void>(Chain().start(nothing())), Error);
}

TEST(LifetimesMpiTest, TasksThatAreEmptyOrMovedFromAreErrors) {
  const Comm comm = world();
  Task<> moved = nothing();
  comm.run(std::move(moved));
  EXPECT_THROW(comm.run(std::move(moved)), Error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(static_cast<void>(comm.start({})), Error);
  EXPECT_THROW(Chain(comm).run({}), Error);
  EXPECT_THROW(static_cast<void>(Chain(comm).start({})), Error);
}

TEST(LifetimesMpiTest, FewerStatusesThanRequestsAreAnError) {
  std::vector<Request> requests(3);
  std::vector<Status> statuses(2);
  EXPECT_EQ(test::error_of([&] { wait_all(requests, statuses); }),
            "wisp::wait_all: 2 statuses for 3 requests");
  EXPECT_EQ(test::error_of([&] { test_all(requests, statuses); }),
            "wisp::test_all: 2 statuses for 3 requests");
}

}  // namespace
}  // namespace wisp
