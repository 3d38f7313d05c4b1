// What once went wrong on real ranks, each test named after what broke.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace wisp
