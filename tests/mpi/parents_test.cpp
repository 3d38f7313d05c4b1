// MPI communicators of all kinds that wisp's come from: MPI_COMM_SELF, with error handlers, split, with names
// and attributes, intercommunicators.

#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <string>
#include <vector>

#include "error_of.hpp"
#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/sort.hpp"
#include "wisp/wisp.h"

namespace wisp {
namespace {

using test::error_of;

std::atomic<int> handled = 0;

void count_error(MPI_Comm*, int*, ...) {
  ++handled;
}

TEST(ParentsTest, MpiCommSelf) {
  for (const Comm& self : {Comm::duplicate(MPI_COMM_SELF), Comm::attach(MPI_COMM_SELF)}) {
    ASSERT_EQ(self.size(), 1);
    int value = 5, sum = 0, all = 0;
    self.bcast(buffer_of(value), 0);
    self.allreduce(buffer_of(value), buffer_of(sum), MPI_SUM);
    self.allgather(buffer_of(value), buffer_of(all));
    EXPECT_EQ(sum, 5);
    EXPECT_EQ(all, 5);
    Request sent = self.isend(buffer_of(value), 0, 1);
    self.receive(buffer_of(all), any_source, any_tag);
    sent.wait();
    std::vector<int> numbers = {3, 1, 2};
    sort(self, numbers);
    EXPECT_EQ(numbers, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(Chain(self).size(), 1);
  }
}

/// Errors of wisp are its own: no handler of a communicator below hears of a wrong argument.
TEST(ParentsTest, ErrorHandlersAreLeftAlone) {
  MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &counting);
  for (MPI_Errhandler handler : {MPI_ERRORS_ARE_FATAL, counting}) {
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, handler);
    {
      for (const Comm& comm : {Comm::duplicate(parent), Comm::attach(parent)}) {
        int value = 1;
        EXPECT_NE(error_of([&] { comm.bcast(buffer_of(value), comm.size()); }).find("root"),
                  std::string::npos);
        EXPECT_NE(error_of([&] { comm.send(buffer_of(value), -7, 0); }).find("destination"),
                  std::string::npos);
        comm.bcast(buffer_of(value), 0);
      }
      WISP_Comm comm = WISP_COMM_NULL;
      int value = 1;
      EXPECT_EQ(WISP_Comm_duplicate(parent, &comm), MPI_SUCCESS);
      EXPECT_EQ(WISP_Bcast(&value, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
      WISP_Comm_free(&comm);
    }
    // Theirs is the one that was there before.
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(parent, &now);
    EXPECT_EQ(now, handler);
    if (now != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&now);
    MPI_Comm_free(&parent);
  }
  MPI_Errhandler_free(&counting);
  EXPECT_EQ(handled, 0);
}

TEST(ParentsTest, PartsOfTheWorldInAnyOrder) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  int place = 0;
  MPI_Comm_rank(part, &place);
  {
    for (const Comm& comm : {Comm::duplicate(part), Comm::attach(part)}) {
      EXPECT_EQ(comm.rank(), place);
      std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
      comm.allgather(buffer_of(rank), ranks);
      for (int r = 0; r < comm.size(); ++r) {
        EXPECT_EQ(ranks[static_cast<std::size_t>(r)] % 2, rank % 2);
        if (r > 0) {
          EXPECT_LT(ranks[static_cast<std::size_t>(r)], ranks[static_cast<std::size_t>(r - 1)]);
        }
      }
    }
  }
  MPI_Comm_free(&part);
}

TEST(ParentsTest, AnIntercommunicatorIsAnError) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) GTEST_SKIP() << "needs two ranks";
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
  EXPECT_EQ(error_of([&] { Comm::duplicate(between); }),
            "wisp::Comm::duplicate: comm is an intercommunicator");
  EXPECT_EQ(error_of([&] { Comm::attach(between); }), "wisp::Comm::attach: comm is an intercommunicator");
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(between, rank % 2, &merged);
  Comm::duplicate(merged).barrier();  // what it can be made to
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

}  // namespace
}  // namespace wisp
