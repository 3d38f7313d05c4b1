#include "wisp/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "environment.hpp"
#include "error_of.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/sort.hpp"

namespace wisp {
namespace {

using test::Environment;
using test::error_of;

TEST(CommTest, RanksMapBetweenCommunicators) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(comm.rank(), rank);
  EXPECT_EQ(comm.size(), size);
  const Comm strided = comm.range(0, size - 1, 2);
  const Comm inner = strided.range(0, (strided.size() - 1) / 2 * 2, 2);
  EXPECT_EQ(inner.is_member(), rank % 4 == 0);
  EXPECT_EQ(inner.rank(), rank % 4 == 0 ? rank / 4 : MPI_UNDEFINED);
  for (int r = 0; r < inner.size(); ++r) {
    EXPECT_EQ(inner.translate(r, comm), 4 * r);
    EXPECT_EQ(comm.translate(4 * r, inner), r);
    EXPECT_EQ(inner.translate(r, strided), 2 * r);
  }
  if (size > 1) {
    EXPECT_EQ(comm.translate(1, inner), MPI_UNDEFINED);
  }
}

TEST(CommTest, AnEmptyCommunicatorHasNoRanksAndSaysSo) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  for (const Comm& empty : {Comm(), comm.range(1, 0), comm.range(0, 0).range(3, 2)}) {
    EXPECT_TRUE(empty.empty());
    EXPECT_EQ(empty.size(), 0);
    EXPECT_EQ(empty.rank(), MPI_UNDEFINED);
    EXPECT_THROW(empty.barrier(), Error);
    EXPECT_EQ(comm.translate(0, empty), MPI_UNDEFINED);
  }
}

TEST(CommTest, BecomesAnMpiCommunicatorWithTheSameRanks) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const Comm part = comm.range(comm.rank() % 2, comm.size() - 1, 2);
  MPI_Comm made = part.to_mpi();
  int rank = -1, size = -1;
  MPI_Comm_rank(made, &rank);
  MPI_Comm_size(made, &size);
  EXPECT_EQ(rank, part.rank());
  EXPECT_EQ(size, part.size());
  MPI_Comm_free(&made);
}

TEST(CommTest, AnAttachedCommunicatorSharesTheContextOfTheCallers) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  {
    const Comm comm = Comm::attach(own);
    int sum = 0;
    const int one = 1;
    comm.allreduce(buffer_of(one), buffer_of(sum), MPI_SUM);
    EXPECT_EQ(sum, comm.size());
    std::vector<double> data(5, comm.rank());
    sort(comm, data);
    EXPECT_EQ(data, std::vector<double>(5, comm.rank()));
  }
  MPI_Comm_free(&own);
}

TEST(CommTest, OutlivesTheMpiCommunicatorBelowWithoutHarm) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const Comm comm = Comm::duplicate(own);
  comm.barrier();
  MPI_Comm_free(&own);
  EXPECT_THROW(comm.barrier(), Error);
}

TEST(CommTest, DuplicatesOfOneMpiCommunicatorAreOneCommunicator) {
  const Comm first = Comm::duplicate(MPI_COMM_WORLD);
  const Comm second = Comm::duplicate(MPI_COMM_WORLD);
  // Were they numbered apart, these two would have the same tag.
  int a = first.rank() == 0 ? 1 : 0, b = first.rank() == 0 ? 2 : 0;
  Request one = first.ibcast(buffer_of(a), 0);
  Request two = second.ibcast(buffer_of(b), 0);
  two.wait();
  one.wait();
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2);
}

TEST(CommTest, MessagesOfADuplicateDoNotMeetTheCallersOwn) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  int mine = comm.rank(), theirs = -1, native = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&native, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  comm.sendrecv(buffer_of(mine), next, 0, buffer_of(theirs), previous, 0);
  EXPECT_EQ(theirs, previous);
  mine += 1000;
  MPI_Send(&mine, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(native, previous + 1000);
}

/// As MPI's own split says.
TEST(CommTest, NodesAreThoseOfTheHosts) {
  MPI_Comm host = MPI_COMM_NULL;
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &host);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &size);
  MPI_Comm_free(&host);
  const Comm node = world.node();
  const Comm leaders = world.node_leaders();
  EXPECT_EQ(node.rank(), rank);
  EXPECT_EQ(node.size(), size);
  EXPECT_EQ(leaders.is_member(), rank == 0);
  int ranks = 0;
  if (leaders.is_member()) leaders.allreduce(buffer_of(std::as_const(size)), buffer_of(ranks), MPI_SUM);
  node.bcast(buffer_of(ranks), 0);
  EXPECT_EQ(ranks, world.size());
}

/// Blocks of MPI_COMM_WORLD's ranks, whatever the order of those that are attached.
TEST(CommTest, NodesOfAnAttachedCommunicatorAreThoseOfTheEnvironment) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto on_node = [&](int node, int per_node) { return std::min(per_node, size - node * per_node); };
  for (const int per_node : {1, 3, size}) {
    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    const Comm world = [&] {
      const std::string ranks = std::to_string(per_node);
      const Environment words{{"WISP_RANKS_PER_NODE", ranks.c_str()}};
      return Comm::attach(backwards);
    }();
    const Comm node = world.node();
    const int mine = rank / per_node;
    EXPECT_EQ(node.size(), on_node(mine, per_node));
    EXPECT_EQ(node.rank(), node.size() - 1 - rank % per_node);
    EXPECT_EQ(world.node_leaders().is_member(), node.rank() == 0);
    EXPECT_EQ(world.node_leaders().size(), node.rank() == 0 ? (size + per_node - 1) / per_node : 0);
    int sum = 0;
    node.allreduce(buffer_of(std::as_const(rank)), buffer_of(sum), MPI_SUM);
    EXPECT_EQ(sum, mine * per_node * node.size() + node.size() * (node.size() - 1) / 2);
    std::vector<int> all(static_cast<std::size_t>(size));
    world.allgather(buffer_of(std::as_const(rank)), all, {.algorithm = "two_level"});
    for (int i = 0; i < size; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], size - 1 - i);
    MPI_Comm_free(&backwards);
  }
}

TEST(CommTest, SlurmsBlocksAreTheNodesOfAnAttachedCommunicator) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) GTEST_SKIP();
  const std::string right = "1," + std::to_string(size - 1);
  const std::string of_others = "1," + std::to_string(size);
  struct Case {
    const char* tasks;
    const char* distribution;
    bool is_known;
  };
  for (const Case& slurm :
       {Case{right.c_str(), "block", true}, Case{right.c_str(), "block:cyclic,Pack", true},
        Case{right.c_str(), "cyclic", false}, Case{right.c_str(), nullptr, false},
        Case{of_others.c_str(), "block", false}, Case{"1,x", "block", false}}) {
    const Environment words({{"WISP_RANKS_PER_NODE", nullptr},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", nullptr},
                             {"MPI_LOCALNRANKS", nullptr},
                             {"SLURM_STEP_TASKS_PER_NODE", slurm.tasks},
                             {"SLURM_DISTRIBUTION", slurm.distribution}});
    MPI_Comm fresh = MPI_COMM_NULL;                    // that nobody has attached to
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &fresh);  // backwards: nodes are those of the world's ranks
    {
      const Comm attached = Comm::attach(fresh);
      if (slurm.is_known) {
        EXPECT_EQ(attached.node().size(), rank == 0 ? 1 : size - 1);
        int sum = 0;
        attached.allreduce(buffer_of(rank), buffer_of(sum), MPI_SUM);
        EXPECT_EQ(sum, size * (size - 1) / 2);
      } else {
        EXPECT_THROW(attached.node(), Error) << slurm.tasks;
      }
    }
    MPI_Comm_free(&fresh);
  }
}

TEST(CommTest, AWrongWordInTheEnvironmentOfOneRankIsHeardOfOnAll) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm fresh = MPI_COMM_NULL;  // that has no duplicate yet
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  for (const char* name : {"WISP_CHECK", "WISP_STALL_SECONDS", "WISP_LATENCY_US", "WISP_NODE_BANDWIDTH_GBS",
                           "WISP_DIRECT_RANKS"}) {
    const char* before = std::getenv(name);
    const std::string kept = before != nullptr ? before : "";
    if (rank == size - 1) setenv(name, "much", 1);
    const std::string said = error_of([&] { Comm::duplicate(fresh); });
    if (rank == size - 1) {
      EXPECT_EQ(said.find(std::string("wisp: ") + name + " = much is "), 0U) << said;
    } else {
      EXPECT_EQ(said, "wisp::Comm::duplicate: the environment of another rank is wrong: its error says how");
    }
    setenv(name, kept.c_str(), 1);  // empty is as if it were not there
  }
  Comm::duplicate(fresh).barrier();
  MPI_Comm_free(&fresh);
}

TEST(CommTest, WrongArgumentsAreErrorsThatNameCallArgumentValueAndBound) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const int p = comm.size();
  const std::string ranks = "0.." + std::to_string(p - 1);
  int value = 0;
  std::vector<int> two(2);
  EXPECT_EQ(error_of([&] { comm.range(0, p); }),
            "wisp::Comm::range: last = " + std::to_string(p) + " is outside " + ranks);
  EXPECT_EQ(error_of([&] { comm.range(-1, 0); }), "wisp::Comm::range: first = -1 is outside " + ranks);
  EXPECT_EQ(error_of([&] { comm.range(0, p - 1, 0); }), "wisp::Comm::range: stride = 0 is below 1");
  EXPECT_EQ(error_of([&] { comm.bcast(buffer_of(value), p); }),
            "wisp::bcast: root = " + std::to_string(p) + " is outside " + ranks);
  EXPECT_EQ(error_of([&] { comm.send(buffer_of(value), -7); }),
            "wisp::Comm::send: destination = -7 is outside " + ranks);
  EXPECT_EQ(error_of([&] { comm.send(buffer_of(value), 0, -1); }),
            "wisp::Comm::send: tag = -1 is outside 0.." + std::to_string(comm.tag_upper_bound()));
  EXPECT_EQ(error_of([&] { comm.receive(buffer_of(value), p + 3); }),
            "wisp::Comm::receive: source = " + std::to_string(p + 3) + " is outside " + ranks);
  EXPECT_EQ(error_of([&] { comm.ibarrier({.own_tag = -2}).wait(); }),
            "wisp::barrier: own_tag = -2 is outside 0.." + std::to_string(comm.tag_upper_bound()));
  EXPECT_EQ(error_of([&] { comm.allreduce(two, buffer_of(value), MPI_SUM); }),
            "wisp::allreduce: send has 2 elements, but receive has 1");
  EXPECT_EQ(error_of([&] { comm.scan(two, two, MPI_OP_NULL); }), "wisp::scan: op = MPI_OP_NULL");
  const double number = 0;
  double numbers = 0;
  EXPECT_EQ(error_of([&] { comm.allreduce(buffer_of(number), buffer_of(numbers), MPI_BXOR); }),
            "wisp::allreduce: op: MPI does not define this operator for elements of MPI_DOUBLE");
  std::vector<float> floats(static_cast<std::size_t>(p));
  const std::vector<int> ints(static_cast<std::size_t>(p));
  EXPECT_EQ(error_of([&] {
              comm.reduce_scatter(ints, Buffer(floats.data(), 1, MPI_FLOAT), std::vector<int>(ints.size(), 1),
                                  MPI_SUM);
            }),
            "wisp::reduce_scatter: send and receive have different datatypes");
  EXPECT_EQ(error_of([&] { comm.allreduce(buffer_of(std::as_const(value)), buffer_of(value), MPI_NO_OP); }),
            "wisp::allreduce: op: MPI does not define this operator for elements of MPI_INT");
  const std::vector<int> two_ints(2);
  std::vector<int> two_sums(2);
  MPI_Datatype derived = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  EXPECT_EQ(error_of([&] {
              comm.scan({two_ints.data(), 1, derived}, {two_sums.data(), 1, derived}, MPI_SUM);
            }),
            "wisp::scan: op: MPI does not define this operator for elements of a derived datatype");
  MPI_Type_free(&derived);
  EXPECT_EQ(error_of([&] { comm.bcast(Buffer(&value, 1, MPI_DATATYPE_NULL), 0); }),
            "wisp::bcast: the datatype of buffer is MPI_DATATYPE_NULL");
  if (p > 1) {
    std::vector<int> odd(static_cast<std::size_t>(2 * p + 1));
    EXPECT_EQ(error_of([&] { comm.allgather(two, odd); }),
              "wisp::allgather: receive has " + std::to_string(2 * p + 1) + " elements, not a multiple of " +
                  std::to_string(p) + " ranks");
    const Comm others = comm.rank() == 0 ? comm.range(1, p - 1) : comm.range(0, 0);
    EXPECT_EQ(error_of([&] { others.barrier(); }),
              "wisp::barrier: the caller is not a member of the communicator");
  }
  EXPECT_EQ(error_of([] { Comm::duplicate(MPI_COMM_NULL); }), "wisp::Comm::duplicate: comm = MPI_COMM_NULL");
  // Nothing was sent: the communicator still works.
  comm.barrier();
}

TEST(CommTest, BlocksOfAnotherSizeOrNumberAreErrorsThatSayBoth) {
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const auto p = static_cast<std::size_t>(comm.size());
  const std::string ranks = std::to_string(p);
  const std::vector<int> two(2), mine(p);
  std::vector<int> all(p);
  EXPECT_EQ(error_of([&] { comm.allgather(two, all); }),
            "wisp::allgather: send has 8 bytes, but a block of receive has 4");
  EXPECT_EQ(error_of([&] { comm.iallgather(two, all).wait(); }),
            "wisp::allgather: send has 8 bytes, but a block of receive has 4");
  const std::vector<int> too_many(p + 1, 0), right(p, 0);
  EXPECT_EQ(error_of([&] {
              comm.alltoallv({mine, right}, {all, too_many});
            }),
            "wisp::alltoallv: receive has " + std::to_string(p + 1) + " counts for " + ranks + " ranks");
  EXPECT_EQ(error_of([&] {
              comm.alltoallv({mine, too_many}, {all, right});
            }),
            "wisp::alltoallv: send has " + std::to_string(p + 1) + " counts for " + ranks + " ranks");
  EXPECT_EQ(error_of([&] {
              comm.alltoallv({mine, right, too_many}, {all, right, right});
            }),
            "wisp::alltoallv: send has " + std::to_string(p + 1) + " displacements for " + ranks + " ranks");
  comm.barrier();  // nothing was sent
}

TEST(CommTest, AGroupThatIsNotCompleteSendsNothing) {
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  std::vector<int> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  Comm made;
  Request creation = world.icreate_group(ranks, 1, made);
  const int next = (world.rank() + 1) % world.size();
  const int mine = world.rank();
  if (world.size() > 1) {  // nothing has looked since
    EXPECT_NE(error_of([&] { made.isend(buffer_of(mine), next, 5).wait(); }).find("is not complete"),
              std::string::npos);
  }
  creation.wait();
  int got = -1;
  made.sendrecv(buffer_of(mine), next, 6, buffer_of(got), any_source, 6);
  EXPECT_EQ(got, (world.rank() + world.size() - 1) % world.size());
}

}  // namespace
}  // namespace wisp
