#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "wisp/wisp.hpp"
#include "world.hpp"

// What communicators and requests are called.

namespace wisp {
namespace {

TEST(NamesTest, ACommunicatorIsCalledHowItWasMade) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const Comm all = Comm::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(all.describe(), "world");
  EXPECT_EQ(Comm().describe(), "no communicator");
  EXPECT_EQ(all.raw().describe(), "world (raw)");
  const int last = all.size() - 1;
  EXPECT_EQ(all.range(last, last).describe(), last == 0 ? "world" : "world[" + std::to_string(last) + "]");
  if (all.size() >= 3) {
    const std::string odd = all.size() >= 4 ? "world[1..3:2]" : "world[1]";
    EXPECT_EQ(all.range(1, all.size() >= 4 ? 3 : 2, 2).describe(), odd);
    EXPECT_EQ(all.range(1, 2).describe(), "world[1..2]");
    EXPECT_EQ(all.subset(std::vector{2, 0, 1}).describe(), "world{2, 0, 1}");
    EXPECT_EQ(all.subset(std::vector{2, 0, 1}).range(0, 1).describe(), "world{2, 0}");
    EXPECT_EQ(all.create_group(std::vector{0, 2}).describe(),
              all.rank() == 0 || all.rank() == 2 ? "world[0..2:2]" : "no communicator");
  }
  // With MPI's name, if it has one when it is first used.
  MPI_Comm_set_name(own, "atmosphere");
  EXPECT_EQ(Comm::attach(own).range(0, 0).describe(), all.size() == 1 ? "atmosphere" : "atmosphere[0]");
  MPI_Comm_free(&own);
}

TEST(NamesTest, ANameOfTheUsersIsThatOfAllCopies) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const Comm all = Comm::duplicate(own);
  const Comm row = all.range(0, all.size() - 1);
  const Comm copy = row;
  row.set_name("row 3");
  EXPECT_EQ(copy.describe(), "row 3");
  EXPECT_EQ(all.range(0, all.size() - 1).describe(), all.describe());
  all.set_name("ocean");
  EXPECT_EQ(Comm::duplicate(own).describe(), "ocean");
  EXPECT_EQ(all.range(0, 0).describe(), all.size() == 1 ? "ocean" : "ocean[0]");
  EXPECT_EQ(copy.describe(), "row 3");
  EXPECT_THROW(Comm().set_name("nothing"), Error);
  MPI_Comm_free(&own);
}

TEST(NamesTest, ARequestTellsForWhomItWaits) {
  const Comm all = Comm::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(describe(Request()), "an inactive request");
  if (all.size() == 1) GTEST_SKIP() << "nobody to wait for";
  int received = 0;
  if (all.rank() == 0) {
    Request request = all.ireceive(Buffer{&received, 1, MPI_INT}, 1, 7);
    EXPECT_EQ(
        describe(request),
        "a request on world, which waits in wisp::Comm::ireceive (tag 7 on world) for a message from rank 1");
    all.barrier();
    request.wait();
    EXPECT_EQ(describe(request), "an inactive request");
  } else {
    all.barrier();
    if (all.rank() == 1) all.send(ConstBuffer{&received, 1, MPI_INT}, 0, 7);
  }
}

}  // namespace
}  // namespace wisp
