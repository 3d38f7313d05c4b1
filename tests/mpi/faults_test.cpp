// What once went wrong on real ranks, each test named after what broke.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
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

TEST(FaultsMpiTest, ATagThatMpiHasNotIsAnErrorBeforeACommunicatorIsMade) {
  for (const Comm& comm : {world(), Comm::attach(MPI_COMM_WORLD)}) {
    try {
      comm.to_mpi(-1);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 30), "wisp::Comm::to_mpi: tag = -1 i");
    }
  }
}

/// Rank 2 waits for rank 3 and sends on meanwhile, with numbers that come back.
TEST(FaultsMpiTest, AReductionThatIsLateIsNotMetByTheCollectiveThatHasItsNumber) {
  constexpr int ranks = 4;
  constexpr int numbers = 1 << 14;
  if (world().size() < ranks) GTEST_SKIP() << "needs four ranks";
  const Comm comm = world().range(0, ranks - 1);
  if (!comm.is_member()) return;
  int token = 0;
  if (comm.rank() == 3) comm.receive(buffer_of(token), 2);
  const int mine = 1000 + comm.rank();
  int sum = 0;
  std::vector<int> all(ranks);
  Request late = comm.ireduce(buffer_of(mine), buffer_of(sum), MPI_SUM, 0, {.algorithm = "binomial"});
  for (int i = 0; i < numbers; ++i) {
    if (comm.rank() == 2 && i == numbers / 2) comm.send(buffer_of(token), 3);
    comm.gather(buffer_of(mine), all, 0, {.algorithm = "direct"});
  }
  late.wait();
  if (comm.rank() == 0) {
    EXPECT_EQ(sum, 4006);
  }
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
