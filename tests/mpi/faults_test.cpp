// What once went wrong on real ranks, each test named after what broke.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "error_of.hpp"
#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "wisp/neighborhood.hpp"
#include "world.hpp"

namespace wisp {
namespace {

using test::world;

/// A communicator of MPI's own for the time of a test.
class OwnComm {
 public:
  explicit OwnComm(MPI_Comm comm) : comm_(comm) {}
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  ~OwnComm() { free(); }
  MPI_Comm get() const { return comm_; }
  void free() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

 private:
  MPI_Comm comm_;
};

MPI_Comm split_of_world() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
  return made;
}

TEST(FaultsMpiTest, ACommunicatorOfSplitHasAsManyTagsAsTheWorld) {
  const OwnComm split(split_of_world());
  EXPECT_EQ(Comm::duplicate(split.get()).tag_upper_bound(), world().tag_upper_bound());
  EXPECT_EQ(Comm::duplicate(split.get()).raw().tag_upper_bound(), world().raw().tag_upper_bound());
  EXPECT_EQ(Comm::attach(split.get()).tag_upper_bound(), world().tag_upper_bound());
}

TEST(FaultsMpiTest, AWildcardThatIsPendingWhenItsCommunicatorIsFreedDoesNotHarmOthers) {
  OwnComm split(split_of_world());
  int value = 0;
  Request pending = Comm::duplicate(split.get()).ireceive(buffer_of(value));
  split.free();
  const Comm comm = world();
  int sum = 1;
  comm.allreduce(in_place(), buffer_of(sum), MPI_SUM);
  comm.iprobe();
  EXPECT_EQ(sum, comm.size());
  try {
    pending.wait();
    ADD_FAILURE() << "nothing can come any more";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), MPI_ERR_COMM) << error.what();
  }
}

TEST(FaultsMpiTest, AReceiveThatIsDroppedWhenItsCommunicatorIsGoneIsForgotten) {
  for (const int source : {any_source, 0}) {
    OwnComm split(split_of_world());
    int value = 0;
    {
      const Request pending = Comm::duplicate(split.get()).ireceive(buffer_of(value), source, 5);
      split.free();
    }
    int sum = 1;
    world().allreduce(in_place(), buffer_of(sum), MPI_SUM);
    EXPECT_EQ(sum, world().size());
  }
}

Task<> two_receives(Comm comm, int from, int& too_small, std::vector<int>& other) {
  const Request second = comm.ireceive(other, from, 2);
  Request first = comm.ireceive(buffer_of(too_small), from, 1);
  co_await first;
}

TEST(FaultsMpiTest, ARequestWhoseMessageHasComeIsDroppedByTheFailureOfAnother) {
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

TEST(FaultsMpiTest, AnExceptionThatPassesAPendingReceiveGetsOut) {
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

TEST(FaultsMpiTest, AReceiveThatACoroutineDropsIsWaitedForWhileAnExceptionIsInFlightElsewhere) {
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

TEST(FaultsMpiTest, NothingComesToABufferWhoseReceiveAnExceptionHasPassed) {
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

TEST(FaultsMpiTest, ASendIsDoneWhenTheReceiveBesideItHasFailed) {
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

TEST(FaultsMpiTest, CommunicatorsThatAreEmptyOrMovedFromRefuseAllCalls) {
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
  }
  EXPECT_THROW(Chain().run(nothing()), Error);
  EXPECT_THROW(static_cast<void>(Chain().start(nothing())), Error);
}

TEST(FaultsMpiTest, FewerStatusesThanRequestsAreAnError) {
  std::vector<Request> requests(3);
  std::vector<Status> statuses(2);
  EXPECT_EQ(test::error_of([&] { wait_all(requests, statuses); }),
            "wisp::wait_all: 2 statuses for 3 requests");
  EXPECT_EQ(test::error_of([&] { test_all(requests, statuses); }),
            "wisp::test_all: 2 statuses for 3 requests");
}

TEST(FaultsMpiTest, WildcardsAndNobodyHaveMpisOwnNames) {
  const Comm comm = world();
  const int mine = comm.rank();
  int value = -1;
  const Request sent = comm.isend(buffer_of(mine), comm.rank(), 3);
  const Status status = comm.receive(buffer_of(value), MPI_ANY_SOURCE, MPI_ANY_TAG);
  EXPECT_EQ(value, mine);
  EXPECT_EQ(status.source, comm.rank());
  EXPECT_EQ(status.tag, 3);
  comm.send(buffer_of(mine), MPI_PROC_NULL);
  EXPECT_EQ(comm.receive(buffer_of(value), MPI_PROC_NULL, MPI_ANY_TAG).source, MPI_PROC_NULL);
  EXPECT_EQ(value, mine);
}

TEST(FaultsMpiTest, ADatatypeWithAddressesNeedsNone) {
  const Comm comm = world();
  int value = comm.rank() == 0 ? 9 : 0;
  MPI_Aint address = 0;
  MPI_Get_address(&value, &address);
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(1, 1, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  comm.bcast(Buffer(MPI_BOTTOM, 1, absolute), 0);
  EXPECT_EQ(value, 9);
  MPI_Type_free(&absolute);
}

#if MPI_VERSION >= 4
TEST(FaultsMpiTest, ADatatypeOfLargeCountsIsOneLikeOthers) {
  const Comm comm = world();
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  std::array<int, 6> values{};
  if (comm.rank() == 0) values = {1, 2, 3, 4, 5, 6};
  comm.bcast(Buffer(values.data(), 2, three), 0);
  EXPECT_EQ(values, (std::array<int, 6>{1, 2, 3, 4, 5, 6}));
  comm.ibcast(Buffer(values.data(), 2, three), 0).wait();
  MPI_Type_free(&three);
}
#endif

TEST(FaultsMpiTest, DatatypesWithAddressesWorkInEveryAlgorithm) {
  const Comm comm = world();
  const int p = comm.size();
  std::vector<int> mine(static_cast<std::size_t>(p));
  std::vector<int> theirs(mine.size());
  const auto integers_of = [](const std::vector<int>& vector) {
    MPI_Aint address = 0;
    MPI_Get_address(vector.data(), &address);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(1, 1, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
  };
  MPI_Datatype sent = integers_of(mine);
  MPI_Datatype received = integers_of(theirs);
  const auto n = static_cast<std::size_t>(p);
  for (const std::string_view call : {"gather", "scatter", "allgather", "alltoall"}) {
    for (const std::string_view name : algorithms_of(call)) {
      const CollectiveOptions options{.algorithm = name};
      for (int r = 0; r < p; ++r) mine[static_cast<std::size_t>(r)] = comm.rank() * p + r;
      theirs.assign(n, -1);
      const ConstBuffer all(MPI_BOTTOM, n, sent);
      const ConstBuffer one(MPI_BOTTOM, 1, sent);
      if (call == "gather") comm.gather(one, Buffer(MPI_BOTTOM, n, received), p - 1, options);
      if (call == "scatter") comm.scatter(all, Buffer(MPI_BOTTOM, 1, received), p - 1, options);
      if (call == "allgather") comm.allgather(one, Buffer(MPI_BOTTOM, n, received), options);
      if (call == "alltoall") comm.alltoall(all, Buffer(MPI_BOTTOM, n, received), options);
      for (int r = 0; r < p; ++r) {
        const int of_rank = call == "alltoall" ? r * p + comm.rank() : r * p;
        const int expected = call == "scatter" ? (r == 0 ? (p - 1) * p + comm.rank() : -1)
                             : call == "gather" && comm.rank() != p - 1 ? -1
                                                                        : of_rank;
        EXPECT_EQ(theirs[static_cast<std::size_t>(r)], expected) << call << ' ' << name;
      }
    }
  }
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
}

TEST(FaultsMpiTest, AMessageThatIsTooLongForAWildcardNamesItsReceive) {
  const Comm comm = world();
  const std::vector<int> mine(4);
  int value = -1;
  const Request sent = comm.isend(mine, comm.rank(), 3);
  try {
    comm.receive(buffer_of(value));
    ADD_FAILURE() << "the message is too long";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(std::string(error.what()).find("rank -1"), std::string::npos) << error.what();
  }
}

TEST(FaultsMpiTest, AWildcardOfAnAttachedCommunicatorLeavesTheUsersOwnMessages) {
  const OwnComm split(split_of_world());
  const Comm comm = Comm::attach(split.get());
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{5000}}) {
    const int own = 100 + comm.rank();
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(&own, 1, MPI_INT, next, 5, split.get(), &sent);
    // The user's message is the first to come; wisp's own is behind it.
    std::vector<int> got(count, -1);
    Request received = comm.ireceive(got);
    const std::vector<int> data(count, comm.rank());
    Request sending = count == 1 ? comm.isend(data, next, 7) : comm.issend(data, next, 7);
    const Status status = received.wait();
    sending.wait();
    EXPECT_EQ(got, std::vector<int>(count, previous));
    EXPECT_EQ(status.source, previous);
    EXPECT_EQ(status.tag, 7);
    EXPECT_EQ(status.bytes, count * sizeof(int));
    int users = -1;
    MPI_Recv(&users, 1, MPI_INT, previous, 5, split.get(), MPI_STATUS_IGNORE);
    EXPECT_EQ(users, 100 + previous);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

TEST(FaultsMpiTest, ADatatypeIsFreedWhileAnOperationUsesIt) {
  const Comm comm = world();
  constexpr int count = 3000;
  const auto with_gaps = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(count, 1, 2, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
  };
  std::vector<int> data(2 * count, comm.rank() == 0 ? 7 : -1);
  std::vector<int> again = data;
  MPI_Datatype type = with_gaps();
  Request once = comm.ibcast({data.data(), 1, type}, 0);
  Request persistent = comm.bcast_init({again.data(), 1, type}, 0);
  Request task = comm.start(bcast(comm, {data.data(), 1, type}, 0));
  MPI_Type_free(&type);
  std::vector<MPI_Datatype> others(20);  // whoever takes the place of the one that was freed
  for (MPI_Datatype& other : others) {
    MPI_Type_contiguous(3, MPI_DOUBLE, &other);
    MPI_Type_commit(&other);
  }
  once.wait();
  task.wait();
  for (int run = 0; run < 2; ++run) {
    persistent.start();
    persistent.wait();
  }
  for (MPI_Datatype& other : others) MPI_Type_free(&other);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(data[static_cast<std::size_t>(2 * i)], 7);
    EXPECT_EQ(again[static_cast<std::size_t>(2 * i)], 7);
  }
}

/// MPI_COMM_SELF, whose handler ends the program, has nothing to do with it.
TEST(FaultsMpiTest, ADatatypeThatWasNeverCommittedIsAnError) {
  const Comm self = world().range(world().rank(), world().rank());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  std::vector<int> from(64, 3), to(64);
  const ConstBuffer send(from.data(), 3, type);
  const Buffer receive(to.data(), 3, type);
  Arrivals arrivals;
  const std::vector<Outgoing> messages{{0, send}};
  EXPECT_THROW(self.exchange(messages, arrivals), Error);
  EXPECT_THROW(self.sendrecv(send, 0, 0, receive, 0, 0), Error);
  EXPECT_THROW(self.gather(send, receive, 0), Error);
  EXPECT_THROW(self.alltoall({from.data(), 1, type}, {to.data(), 1, type}), Error);
  const Neighborhood neighbors(self, Stencil(Torus({1, 1}), moore(2, 1)));
  for (const std::string_view algorithm : schedule_names()) {
    for (const NeighborCopying copying : {NeighborCopying::pack, NeighborCopying::datatypes}) {
      EXPECT_THROW(neighbors.neighbor_alltoall({from.data(), 1, type}, {to.data(), 1, type},
                                               {.algorithm = algorithm, .copying = copying}),
                   Error)
          << algorithm;
    }
  }
  MPI_Type_free(&type);
  int sum = 1;
  world().allreduce(in_place(), buffer_of(sum), MPI_SUM);
  EXPECT_EQ(sum, world().size());
}

/// What only the root's arguments say may be anything elsewhere.
TEST(FaultsMpiTest, ADatatypeThatOnlyTheRootLooksAtMayBeGone) {
  const Comm& comm = world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const bool is_root = comm.rank() == 0;
  MPI_Datatype gone = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &gone);
  MPI_Type_commit(&gone);
  const MPI_Datatype freed = gone;
  MPI_Type_free(&gone);

  const int mine = 10 + comm.rank();
  const std::vector<int> counts(ranks, 1);
  std::vector<int> all(ranks), to_all(ranks, 7);
  int sum = -1, part = -1;
  const ConstBuffer own = buffer_of(mine);
  for (const MPI_Datatype type : {freed, MPI_DATATYPE_NULL}) {
    const Buffer nothing(nullptr, 0, type);
    const auto make = [&](std::string_view call, const CollectiveOptions& options) {
      if (call == "gather") return gather(comm, own, is_root ? Buffer(all) : nothing, 0, options);
      if (call == "gatherv") {
        return gatherv(comm, own, is_root ? Blocks(all, counts) : Blocks(nullptr, {}, {}, type), 0, options);
      }
      if (call == "reduce") {
        return reduce(comm, own, is_root ? buffer_of(sum) : nothing, MPI_SUM, 0, options);
      }
      if (call == "scatter") {
        return scatter(comm, is_root ? ConstBuffer(to_all) : ConstBuffer(nothing), buffer_of(part), 0,
                       options);
      }
      return scatterv(comm, is_root ? ConstBlocks(to_all, counts) : ConstBlocks(nullptr, {}, {}, type),
                      buffer_of(part), 0, options);
    };
    for (const std::string_view call : {"gather", "gatherv", "reduce", "scatter", "scatterv"}) {
      for (const std::string_view algorithm : algorithms_of(call)) {
        SCOPED_TRACE(std::string(call) + " " + std::string(algorithm));
        const CollectiveOptions options{.algorithm = algorithm};
        const auto expect_result = [&] {
          const int p = comm.size();
          const int result = call.starts_with("scatter") ? part : call == "reduce" ? sum : all.back();
          const int due = call.starts_with("scatter") ? 7
                          : call == "reduce"          ? 10 * p + p * (p - 1) / 2
                                                      : 9 + p;
          EXPECT_EQ(result, call.starts_with("scatter") || is_root ? due : -1);
          part = sum = -1;
          std::ranges::fill(all, -1);
        };
        std::ranges::fill(all, -1);
        make(call, options).run();
        expect_result();
        make(call, options).start().wait();
        expect_result();
        Request repeated = make(call, options).persistent();
        for (int time = 0; time < 2; ++time) {
          repeated.start();
          repeated.wait();
          expect_result();
        }
      }
    }
  }
}

TEST(FaultsMpiTest, ThousandsAreAliveAndThereMayHaveBeenAnyNumber) {
  if (world().size() > 3) GTEST_SKIP() << "a few ranks are enough";
  const OwnComm split(split_of_world());
  const Comm comm = Comm::duplicate(split.get(), {16});
  std::vector<Comm> alive;
  std::vector<Comm> groups;
  std::vector<int> all(static_cast<std::size_t>(comm.size()));
  for (int r = 0; r < comm.size(); ++r) all[static_cast<std::size_t>(r)] = comm.size() - 1 - r;
  for (int i = 0; i < 4000; ++i) {
    alive.push_back(comm.range(0, comm.size() - 1));
    int sum = i;
    if (i % 4 == 0) groups.push_back(comm.create_group(all, 1));
    alive.back().allreduce(in_place(), buffer_of(sum), MPI_SUM);
    ASSERT_EQ(sum, i * comm.size());
  }
  for (int i = 0; i < 6000; ++i) {
    int value = comm.rank() == 0 ? i : -1;
    comm.range(0, comm.size() - 1).bcast(buffer_of(value), 0);
    ASSERT_EQ(value, i);
  }
  for (const std::vector<Comm>& comms : {alive, groups}) {
    for (const Comm& one : comms) {
      int value = one.rank() == 0 ? 5 : -1;
      one.bcast(buffer_of(value), 0);
      ASSERT_EQ(value, 5);
    }
  }
  try {
    Comm::duplicate(split.get(), {17});
    ADD_FAILURE() << "there are 16";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("mpi_communicators = 17"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisp
