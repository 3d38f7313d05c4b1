#include "wisp/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"

namespace wisp {
namespace {

class RequestTest : public testing::Test {
 protected:
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
};

TEST_F(RequestTest, TwoOperationsWaitedForInOppositeOrdersFinish) {
  int a = comm.rank() == 0 ? 10 : 0, b = comm.rank() == comm.size() - 1 ? 20 : 0;
  Request first = comm.ibcast(buffer_of(a), 0);
  Request second = comm.ibcast(buffer_of(b), comm.size() - 1);
  if (comm.rank() % 2 == 0) {
    first.wait();
    second.wait();
  } else {
    second.wait();
    first.wait();
  }
  EXPECT_EQ(a, 10);
  EXPECT_EQ(b, 20);
}

TEST_F(RequestTest, EveryBlockingCallDrivesAllOperations) {
  // Others can only go on if this rank forwards a while it is in an unrelated receive.
  int a = comm.rank() == 0 ? 7 : 0, token = 0;
  Request broadcast = comm.ibcast(buffer_of(a), 0);
  if (comm.rank() == comm.size() - 1) {
    broadcast.wait();
    for (int r = 0; r + 1 < comm.size(); ++r) comm.send(buffer_of(a), r, 3);
  } else {
    comm.receive(buffer_of(token), comm.size() - 1, 3);
    EXPECT_EQ(token, 7);
    broadcast.wait();
  }
  EXPECT_EQ(a, 7);
}

TEST_F(RequestTest, AFinishedRequestIsInactive) {
  int value = 1;
  Request request = comm.iallreduce(in_place(), buffer_of(value), MPI_SUM);
  EXPECT_TRUE(request.active());
  while (!request.test()) {
  }
  EXPECT_FALSE(request.active());
  EXPECT_TRUE(request.test().has_value());
  request.wait();
  EXPECT_EQ(value, comm.size());
}

TEST_F(RequestTest, TestAllAndWaitAll) {
  std::vector<int> in(6, comm.rank()), out(6);
  std::vector<Request> requests;
  for (std::size_t i = 0; i < 6; ++i) {
    requests.push_back(comm.iscan(buffer_of(in[i]), buffer_of(out[i]), MPI_SUM));
  }
  while (!test_all(requests)) {
  }
  for (const int sum : out) EXPECT_EQ(sum, comm.rank() * (comm.rank() + 1) / 2);
  requests.clear();
  for (std::size_t i = 0; i < 6; ++i) requests.push_back(comm.ibarrier());
  wait_all(requests);
  for (const Request& request : requests) EXPECT_FALSE(request.active());
}

TEST_F(RequestTest, WaitAnyAndWaitSomeGiveEachRequestOnce) {
  for (const bool some : {false, true}) {
    std::vector<int> got(5, -1);
    std::vector<Request> requests;
    for (int i = 0; i < 5; ++i)
      requests.push_back(comm.ireceive(buffer_of(got[static_cast<std::size_t>(i)]), previous, i));
    for (int i = 4; i >= 0; --i) comm.send(buffer_of(i), next, i);
    std::vector<int> times(5);
    for (int left = 5; left > 0;) {
      if (some) {
        for (const Completion& completion : wait_some(requests)) {
          ++times[completion.index];
          EXPECT_EQ(completion.status.tag, static_cast<int>(completion.index));
          --left;
        }
      } else {
        const auto completion = wait_any(requests);
        ASSERT_TRUE(completion.has_value());
        ++times[completion->index];
        EXPECT_EQ(completion->status.source, previous);
        --left;
      }
    }
    EXPECT_EQ(times, std::vector<int>(5, 1));
    EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_FALSE(wait_any(requests).has_value());
    EXPECT_TRUE(wait_some(requests).empty());
  }
}

TEST_F(RequestTest, TestAnyAndTestSomeFindNothingBeforeItIsSent) {
  int got = -1;
  std::vector<Request> requests;
  requests.push_back(comm.ireceive(buffer_of(got), previous, 9));
  EXPECT_FALSE(test_any(requests).has_value());
  EXPECT_TRUE(test_some(requests).empty());
  comm.barrier();
  comm.send(buffer_of(comm.rank()), next, 9);
  while (!test_any(requests)) {
  }
  EXPECT_EQ(got, previous);
}

TEST_F(RequestTest, OneOfAFreedCommunicatorEndsWithAnErrorAndHidesNoOther) {
  const std::vector<std::function<void(std::span<Request>)>> ways = {
      [](std::span<Request> of) { wait_any(of); },
      [](std::span<Request> of) { wait_some(of); },
      [](std::span<Request> of) { test_any(of); },
      [](std::span<Request> of) { test_some(of); },
      [](std::span<Request> of) { wait_all(of); },
      [](std::span<Request> of) { test_all(of); },
      [](std::span<Request> of) {
        of[1].test();
        of[0].test();
      }};
  std::vector<int> never(ways.size()), comes(ways.size());
  std::vector<std::vector<Request>> requests(ways.size());
  MPI_Comm below = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &below);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    requests[i].push_back(Comm::duplicate(below).ireceive(buffer_of(never[i]), previous, 5));
    requests[i].push_back(comm.ireceive(buffer_of(comes[i]), previous, 5));
  }
  MPI_Comm_free(&below);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const int value = 42;
    comm.send(buffer_of(value), next, 5);
    int errors = 0;
    while (requests[i][0].active() || requests[i][1].active()) {
      try {
        ways[i](requests[i]);
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "wisp::Request: the MPI communicator below has been freed");
        ASSERT_EQ(++errors, 1);
      }
    }
    EXPECT_EQ(errors, 1);
    EXPECT_EQ(comes[i], 42);
  }
}

TEST_F(RequestTest, AFreedRequestRunsOn) {
  int value = comm.rank() == 0 ? 5 : 0;
  comm.ibcast(buffer_of(value), 0).free();
  // The barrier's messages follow those of the broadcast on each pair, and drive it.
  comm.barrier();
  for (int i = 0; i < 1000 && value != 5; ++i) comm.iprobe();
  comm.barrier();
  EXPECT_EQ(value, 5);
}

TEST_F(RequestTest, ADroppedRequestIsWaitedFor) {
  int value = comm.rank() == 0 ? 5 : 0;
  { const Request dropped = comm.ibcast(buffer_of(value), 0); }
  EXPECT_EQ(value, 5);
}

TEST_F(RequestTest, AnErrorInAnOperationComesWithItsCompletion) {
  if (comm.size() < 2) GTEST_SKIP();
  std::vector<int> data(comm.rank() == 0 ? 3 : 1);
  if (comm.rank() == 0) comm.send(data, 1, 2);
  if (comm.rank() == 1) {
    Request request = comm.ireceive(data, 0, 2);
    try {
      request.wait();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.error_class(), MPI_ERR_TRUNCATE) << error.what();
    }
    EXPECT_FALSE(request.active());
  }
}

TEST_F(RequestTest, AnExceptionCancelsAReceiveThatIsPersistentToo) {
  int value = 0;
  try {
    Request request = comm.receive_init(buffer_of(value), previous, 3);
    request.start();
    throw 1;
  } catch (int) {
  }
  comm.barrier();  // what comes earlier is that receive's
  Request sent = comm.isend(buffer_of(next), next, 3);
  comm.receive(buffer_of(value), previous, 3);
  EXPECT_EQ(value, comm.rank());
  sent.wait();
}

TEST_F(RequestTest, StartAllChecksAllBeforeItStartsOne) {
  int value = 0;
  std::vector<Request> requests(2);
  requests[0] = comm.send_init(buffer_of(next), next, 4);
  EXPECT_THROW(start_all(requests), Error);
  EXPECT_FALSE(requests[0].active());
  requests[1] = comm.receive_init(buffer_of(value), previous, 4);
  requests[1].start();
  EXPECT_THROW(start_all(requests), Error);
  EXPECT_FALSE(requests[0].active());
  requests[0].start();
  wait_all(requests);
  EXPECT_EQ(value, comm.rank());
}

}  // namespace
}  // namespace wisp
