#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"

namespace wisp {
namespace {

class MessagesTest : public testing::Test {
 protected:
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
};

TEST_F(MessagesTest, TravelInARing) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{500}, std::size_t{100000}}) {
    const std::vector<int> mine(count, comm.rank());
    std::vector<int> theirs(count, -1);
    const Status status = comm.sendrecv(mine, next, 3, theirs, previous, 3);
    EXPECT_EQ(status.source, previous);
    EXPECT_EQ(status.count(MPI_INT), count);
    EXPECT_EQ(theirs, std::vector<int>(count, previous));
    Request both = comm.isendrecv(mine, next, 4, theirs, any_source, 4);
    EXPECT_EQ(both.wait().source, previous);
  }
}

TEST_F(MessagesTest, WhatIsSentIsReplacedByWhatComes) {
  for (const Comm& on : {comm, comm.raw(), comm.range(0, comm.size() - 1), Comm::attach(MPI_COMM_WORLD)}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{500}, std::size_t{100000}}) {
      std::vector<int> data(count, comm.rank());
      const Status status = on.sendrecv_replace(data, next, 3, previous, 3);
      EXPECT_EQ(status.source, previous);
      EXPECT_EQ(status.count<int>(), count);
      EXPECT_EQ(data, std::vector<int>(count, previous));
      Request several[] = {on.isendrecv_replace(data, previous, 4, next, 4),
                           on.isendrecv_replace({}, next, 5, previous, any_tag)};
      EXPECT_EQ(several[0].wait().source, next);
      EXPECT_EQ(several[1].wait().tag, 5);
      EXPECT_EQ(data, std::vector<int>(count, comm.rank()));
    }
    // Every second element, and what lies between stays.
    std::vector<int> gaps(7, comm.rank());
    on.sendrecv_replace(Strided(gaps.data(), 4, 2), next, 0, previous, 0);
    for (std::size_t i = 0; i < gaps.size(); ++i) EXPECT_EQ(gaps[i], i % 2 == 0 ? previous : comm.rank());
    // With nobody on one side.
    int value = comm.rank();
    const bool is_first = comm.rank() == 0;
    const bool is_last = comm.rank() == comm.size() - 1;
    on.sendrecv_replace(buffer_of(value), is_last ? MPI_PROC_NULL : next, 1,
                        is_first ? MPI_PROC_NULL : previous, 1);
    EXPECT_EQ(value, is_first ? 0 : previous);
    for (const auto& wrong : std::vector<std::function<void()>>{
             [&] { on.sendrecv_replace(buffer_of(value), comm.size(), 1, previous, 1); },
             [&] { on.sendrecv_replace(buffer_of(value), next, -1, previous, 1); },
             [&] { on.sendrecv_replace(buffer_of(value), next, 1, comm.size(), 1); },
             [&] { on.sendrecv_replace(buffer_of(value), next, 1, previous, -7); },
             [&] {
               on.sendrecv_replace({&value, 1, MPI_DATATYPE_NULL}, next, 1, previous, 1);
             },
             [&] { on.sendrecv_replace(in_place(), next, 1, previous, 1); }}) {
      EXPECT_THROW(wrong(), Error);
    }
    comm.barrier();
    EXPECT_FALSE(on.iprobe().has_value());
  }
}

TEST_F(MessagesTest, WhatWasToBeReplacedIsSentThoughNobodyWaits) {
  for (const Comm& on : {comm, Comm::attach(MPI_COMM_WORLD)}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{300000}}) {
      std::vector<int> data(count, comm.rank());
      { const Task<Status> dropped = sendrecv_replace(on, data, next, 1, previous, 99); }
      std::fill(data.begin(), data.end(), -1);
      const std::vector<int> others(count, -2);  // where what was packed might have been
      std::vector<int> got(count);
      comm.barrier();
      on.receive(got, previous, 1);
      EXPECT_EQ(got, std::vector<int>(count, previous));
      EXPECT_EQ(others[count - 1], -2);
      comm.barrier();
    }
  }
}

TEST_F(MessagesTest, ElementsOfNoBytesTravelFromNowhere) {
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (const Comm& on : {comm, Comm::attach(MPI_COMM_WORLD)}) {
    const Buffer empty(nullptr, 3, nothing);
    EXPECT_EQ(on.sendrecv(empty, next, 1, empty, previous, 1).bytes, 0U);
    EXPECT_EQ(on.sendrecv_replace(empty, next, 1, previous, 1).bytes, 0U);
  }
  MPI_Type_free(&nothing);
}

TEST_F(MessagesTest, ThousandsOfReceivesOfAnySizeArePending) {
  constexpr int many = 3000;
  std::vector<std::vector<int>> got(many);
  std::vector<Request> requests;
  for (std::vector<int>& into : got) requests.push_back(comm.ireceive_whole(into));
  for (int i = 0; i < many; ++i) comm.send(std::vector<int>(static_cast<std::size_t>(i % 5), i), next, 7);
  wait_all(requests);
  for (int i = 0; i < many; ++i) {
    EXPECT_EQ(got[static_cast<std::size_t>(i)], std::vector<int>(static_cast<std::size_t>(i % 5), i));
  }
  comm.barrier();
}

TEST_F(MessagesTest, AMessageOfAnySizeIsReceivedWhole) {
  for (const Comm& on : {comm, comm.raw(), comm.range(0, comm.size() - 1), Comm::attach(MPI_COMM_WORLD)}) {
    std::vector<double> whole(3, -1.0);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{500}, std::size_t{100000}}) {
      const std::vector<double> mine(count, comm.rank());
      Request sent = on.isend(mine, next, 3);
      const Status status = on.receive_whole(whole, previous, 3);
      EXPECT_EQ(status.source, previous);
      EXPECT_EQ(status.tag, 3);
      EXPECT_EQ(whole, std::vector<double>(count, previous));
      sent.wait();
    }
    // In the order in which they were posted, whatever the others are.
    std::vector<int> first, third;
    int second = -1, fourth = -1;
    Request received[] = {on.ireceive_whole(first, previous), on.ireceive(buffer_of(second), previous, 7),
                          on.ireceive_whole(third, previous, 7),
                          on.ireceive(buffer_of(fourth), previous, any_tag)};
    for (int i = 1; i <= 4; ++i) on.send(buffer_of(i), next, 7);
    wait_all(received);
    EXPECT_EQ(first, std::vector<int>{1});
    EXPECT_EQ(second, 2);
    EXPECT_EQ(third, std::vector<int>{3});
    EXPECT_EQ(fourth, 4);
    // What has been seen by a probe, or lies aside.
    for (int i = 1; i <= 2; ++i) on.send(buffer_of(i), next, i);
    on.probe(previous, 2);
    EXPECT_EQ(on.receive_whole(first, previous, 2).tag, 2);
    on.receive_whole(third, previous);
    EXPECT_EQ(first, std::vector<int>{2});
    EXPECT_EQ(third, std::vector<int>{1});
    // No whole number of elements; and no room, where it stays to be received.
    on.send(std::vector<char>(9, 'x'), next, 1);
    EXPECT_THROW(on.receive_whole(whole, previous, 1), Error);
    on.send(std::vector<char>(9, 'x'), next, 1);
    const auto nowhere = [](std::size_t) -> void* { throw std::bad_alloc(); };
    EXPECT_THROW(on.receive_whole(MPI_CHAR, nowhere, previous, 1), std::bad_alloc);
    Request one_more = on.ireceive_whole(
        MPI_CHAR, [](std::size_t) -> void* { throw 7; }, previous, 1);
    const auto null = [](std::size_t) -> void* { return nullptr; };
    EXPECT_THROW(on.receive_whole(MPI_CHAR, null, previous, 1), Error);
    EXPECT_THROW(one_more.wait(), int);
    EXPECT_THROW(on.receive_whole(MPI_CHAR, RoomFor(), previous, 1), Error);
    std::vector<char> text;
    on.receive_whole(text, previous, 1);
    EXPECT_EQ(text, std::vector<char>(9, 'x'));
    EXPECT_EQ(on.receive_whole(text, MPI_PROC_NULL).source, MPI_PROC_NULL);
    EXPECT_TRUE(text.empty());
    EXPECT_THROW(on.receive_whole(text, comm.size()), Error);
    EXPECT_THROW(on.receive_whole(text, previous, -7), Error);
    EXPECT_THROW(on.receive_whole(MPI_DATATYPE_NULL, nowhere, previous), Error);
    comm.barrier();
    EXPECT_FALSE(on.iprobe().has_value());
  }
}

TEST_F(MessagesTest, WhatAReplacingCallSendsHasLeftWhenItEnds) {
  if (comm.size() == 1) GTEST_SKIP() << "nobody waits for oneself";
  MPI_Comm two = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, comm.rank() < 2 ? 0 : MPI_UNDEFINED, 0, &two);
  if (two == MPI_COMM_NULL) return;
  // So many communicators that their codes must be asked for, which who is in a call of MPI's does not do.
  for (int i = 0; i < 1600; ++i) {
    const Comm pair = comm.range(0, 1);
    int value = i;
    if (comm.rank() == 0) pair.sendrecv_replace(buffer_of(value), 1, 0, MPI_PROC_NULL, 0);
    if (comm.rank() == 1) pair.receive(buffer_of(value), 0, 0);
    EXPECT_EQ(value, i);
    MPI_Barrier(two);
  }
  MPI_Comm_free(&two);
}

TEST_F(MessagesTest, SynchronousSendsAreReceived) {
  int value = -1;
  Request sent = comm.issend(buffer_of(comm.rank()), next, 1);
  comm.receive(buffer_of(value), previous, 1);
  sent.wait();
  EXPECT_EQ(value, previous);
  if (comm.rank() == 0 && comm.size() > 1) comm.ssend(buffer_of(value), 1, 2);
  if (comm.rank() == 1) comm.receive(buffer_of(value), 0, 2);
}

TEST_F(MessagesTest, ASmallMessagesBufferMayBeReusedAtOnce) {
  // They are copied: what the sender writes afterwards does not travel.
  int value = comm.rank();
  comm.send(buffer_of(value), next, 5);
  value = -1;
  int got = -2;
  comm.receive(buffer_of(got), previous, 5);
  EXPECT_EQ(got, previous);
}

TEST_F(MessagesTest, WildcardsTakeOnlyMessagesOfTheirCommunicator) {
  const int p = comm.size();
  const int middle = p / 2;
  const Comm low = comm.range(0, middle);
  const Comm high = comm.range(middle, p - 1);
  for (int round = 0; round < 20; ++round) {
    int value = comm.rank();
    if (comm.rank() < middle) low.send(buffer_of(value), middle, round);
    if (comm.rank() > middle) high.send(buffer_of(value), 0, round);
    if (comm.rank() == middle) {
      for (int i = 0; i < p - 1 - middle; ++i) {
        const Status status = high.receive(buffer_of(value), any_source, i % 2 == 0 ? any_tag : round);
        EXPECT_EQ(value, middle + status.source);
      }
      for (int i = 0; i < middle; ++i) {
        const Status seen = low.probe();
        const Status status = low.receive(buffer_of(value), seen.source, seen.tag);
        EXPECT_EQ(value, status.source);
      }
      EXPECT_FALSE(low.iprobe().has_value());
      EXPECT_FALSE(high.iprobe().has_value());
    }
    comm.barrier();
  }
}

// What has been posted or sent first is first, as MPI demands, whatever the tags: also if both messages have
// come before anybody looks.

TEST_F(MessagesTest, AReceiveOfAnyTagComesBeforeALaterOneOfOneTag) {
  for (const Comm& on : {comm, comm.raw()}) {
    for (int round = 0; round < 2000; ++round) {
      int any = -1;
      int one = -1;
      int last = -1;
      Request first = on.ireceive(buffer_of(any), previous, any_tag);
      Request second = on.ireceive(buffer_of(one), previous, 5);
      comm.barrier();
      for (int i = 0; i < 3; ++i) on.send(buffer_of(i), next, i == 0 ? 6 : 5);
      EXPECT_EQ(first.wait().tag, 6);
      second.wait();
      on.receive(buffer_of(last), previous, any_tag);
      ASSERT_EQ((std::vector{any, one, last}), (std::vector{0, 1, 2})) << round;
    }
  }
}

TEST_F(MessagesTest, AProbeOfOneTagLeavesTheOrderOfMessages) {
  for (const Comm& on : {comm, comm.raw()}) {
    for (int i = 0; i < 3; ++i) on.send(buffer_of(i), next, i);
    while (!on.iprobe(previous, 2)) continue;
    EXPECT_EQ(on.probe(previous, 1).tag, 1);
    EXPECT_EQ(on.probe(previous, any_tag).tag, 0);
    for (int i = 0; i < 3; ++i) {
      int got = -1;
      EXPECT_EQ(on.receive(buffer_of(got), previous, any_tag).tag, i);
      EXPECT_EQ(got, i);
    }
  }
}

TEST_F(MessagesTest, AProbeSeesNoMessageThatAReceiveWaitsFor) {
  int any = -1;
  int one = -1;
  Request first = comm.ireceive(buffer_of(any), previous, any_tag);
  Request second = comm.ireceive(buffer_of(one), previous, 5);
  for (int i = 0; i < 4; ++i) comm.send(buffer_of(i), next, i == 3 ? 4 : 5);
  EXPECT_EQ(comm.probe(previous, 4).tag, 4);
  int got = -1;
  EXPECT_EQ(comm.receive(buffer_of(got), previous, any_tag).tag, 5);
  first.wait();
  second.wait();
  EXPECT_EQ((std::vector{any, one, got}), (std::vector{0, 1, 2}));
  comm.receive(buffer_of(got), previous, any_tag);
  EXPECT_EQ(got, 3);
}

TEST_F(MessagesTest, AReceiveFromAnyMemberLeavesTheOrderOfOthersMessages) {
  const Comm fresh = Comm::duplicate(MPI_COMM_WORLD);
  if (fresh.size() < 3) return;
  const Comm low = fresh.range(0, 1);
  const Comm even = fresh.range(0, 2, 2);
  int waited = -1;
  Request waiting;
  if (fresh.rank() == 0) waiting = low.ireceive(buffer_of(waited), any_source, 5);
  if (fresh.rank() == 2) {
    for (const int tag : {6, 5}) even.send(buffer_of(tag), 0, tag);
  }
  fresh.barrier();
  if (fresh.rank() == 0) {
    for (const int tag : {6, 5}) {
      int got = -1;
      EXPECT_EQ(even.receive(buffer_of(got), 1, any_tag).tag, tag);
      EXPECT_EQ(got, tag);
    }
  }
  if (fresh.rank() == 1) low.send(buffer_of(next), 0, 5);
  if (fresh.rank() == 0) waiting.wait();
}

TEST_F(MessagesTest, ARawProbeOfAnAttachedCommunicatorLeavesItsOwnersMessages) {
  const Comm attached = Comm::attach(MPI_COMM_WORLD).raw();
  int own = 17;
  int got = -1;
  MPI_Request sent = MPI_REQUEST_NULL;
  const auto send = [&] {
    MPI_Isend(&own, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &sent);
    attached.send(buffer_of(own), next, 5);
  };
  if (comm.rank() == 0) send();
  EXPECT_EQ(attached.probe(previous, 5).tag, 5);  // waits, on all but the first
  if (comm.rank() != 0) send();
  attached.receive(buffer_of(got), previous, 5);
  MPI_Recv(&got, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, own);
}

TEST_F(MessagesTest, ARawReceiveOfAnyTagLeavesOtherMessagesOfAnAttachedCommunicator) {
  const Comm attached = Comm::attach(MPI_COMM_WORLD);
  const Comm raw = attached.raw();
  for (const std::size_t count : {1, 2000}) {  // told with their data, and before them
    for (int tag = 0; tag < 3; ++tag) {
      int own = -1;
      Request waiting = raw.ireceive(buffer_of(own), previous, any_tag);
      std::vector<int> sent(count, comm.rank());
      Request sending = attached.isend(sent, next, tag);
      while (!attached.iprobe(previous, any_tag)) continue;
      EXPECT_FALSE(waiting.test());
      int sum = 0;
      attached.allreduce(buffer_of(tag), buffer_of(sum), MPI_SUM);
      EXPECT_EQ(sum, tag * comm.size());
      std::vector<int> got(count);
      EXPECT_EQ(attached.receive(got, previous, any_tag).tag, tag);
      EXPECT_EQ(got, std::vector<int>(count, previous));
      raw.send(buffer_of(tag), next, 7);
      EXPECT_EQ(waiting.wait().tag, 7);
      EXPECT_EQ(own, tag);
      sending.wait();
    }
  }
}

TEST_F(MessagesTest, ManySmallMessagesArriveInOrder) {
  constexpr int messages = 20000;
  constexpr int lag = 200;
  for (int i = 0; i < messages + lag; ++i) {
    if (i < messages) comm.send(buffer_of(i), next, 6);
    if (i < lag) continue;
    int got = -1;
    comm.receive(buffer_of(got), previous, 6);
    ASSERT_EQ(got, i - lag);
  }
}

TEST_F(MessagesTest, ARoomThatLooksAndThrowsLeavesTheOrderOfMessages) {
  for (const Comm& on : {comm, comm.raw()}) {
    const int mine[] = {2 * comm.rank(), 2 * comm.rank() + 1};
    for (const int& value : mine) on.send(buffer_of(value), next, 7);
    comm.barrier();  // both have been sent: whoever looks for the second one finds it
    const auto looks_and_throws = [&](std::size_t) -> void* {
      while (!on.iprobe(previous, any_tag)) continue;  // the second: the first is in the hand of who asks
      throw std::bad_alloc();
    };
    Request refused = on.ireceive_whole(MPI_INT, looks_and_throws, previous, 7);
    EXPECT_THROW(refused.wait(), std::bad_alloc);
    for (int i = 0; i < 2; ++i) {
      int got = -1;
      on.receive(buffer_of(got), previous, 7);
      EXPECT_EQ(got, 2 * previous + i);
    }
    comm.barrier();
  }
}

TEST_F(MessagesTest, AProbeBehindManyReceivesLeavesItsMessage) {
  constexpr int many = 20;
  for (const Comm& on : {comm, comm.raw(), comm.range(0, comm.size() - 1)}) {
    std::vector<std::vector<int>> got(many);
    std::vector<Request> requests;
    for (std::vector<int>& into : got) requests.push_back(on.ireceive_whole(into, any_source, 7));
    const auto send = [&] {
      for (const int tag : {8, 9}) on.send(buffer_of(tag), next, tag);
      for (int i = 0; i < many; ++i) on.send(std::vector<int>(static_cast<std::size_t>(i), i), next, 7);
    };
    if (comm.rank() == 0) send();
    EXPECT_EQ(on.probe(previous, 9).tag, 9);  // waits, on all but the first
    if (comm.rank() != 0) send();
    int value = -1;
    EXPECT_EQ(on.probe(previous, any_tag).tag, 8);
    on.receive(buffer_of(value), previous, any_tag);
    EXPECT_EQ(value, 8);
    on.receive(buffer_of(value), previous, 9);
    EXPECT_EQ(value, 9);
    wait_all(requests);
    for (int i = 0; i < many; ++i) {
      EXPECT_EQ(got[static_cast<std::size_t>(i)], std::vector<int>(static_cast<std::size_t>(i), i));
    }
    comm.barrier();
  }
}

TEST_F(MessagesTest, ManySendsToOneselfLeaveRoomForMore) {
  constexpr int many = 4096;  // as many as are kept
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < many; ++i) comm.send(buffer_of(std::as_const(i)), comm.rank(), 8);
    const Request one_more = comm.isend(buffer_of(many), comm.rank(), 8);
    for (int i = 0; i <= many; ++i) {
      int got = -1;
      comm.receive(buffer_of(got), comm.rank(), 8);
      ASSERT_EQ(got, i);
    }
  }
}

/// Also of datatypes whose sizes MPI is asked for.
TEST_F(MessagesTest, ASendToOneselfEndsBeforeItsReceive) {
  for (const MPI_Datatype type :
       {MPI_INTEGER, MPI_SHORT, MPI_C_BOOL, MPI_DOUBLE_PRECISION, MPI_C_DOUBLE_COMPLEX}) {
    if (type == MPI_DATATYPE_NULL) continue;
    std::array<char, 32> sent{}, got{};
    sent.fill(7);
    comm.send(ConstBuffer(sent.data(), 2, type), comm.rank(), 8);
    comm.receive(Buffer(got.data(), 2, type), comm.rank(), 8);
    int size = 0;
    MPI_Type_size(type, &size);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + 2 * size, sent.begin()));
  }
}

}  // namespace
}  // namespace wisp
