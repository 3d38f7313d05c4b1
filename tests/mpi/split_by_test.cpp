// The generalized split on real ranks: every algorithm beside MPI_Comm_split.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/split.hpp"
#include "world.hpp"

namespace wisp {
namespace {

using test::world;

/// What MPI_Comm_split says.
struct MpiSplit {
  int rank = MPI_UNDEFINED;
  int size = 0;
  std::vector<int> members;

  MpiSplit(int color, int key) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &made);
    if (made == MPI_COMM_NULL) return;
    MPI_Comm_rank(made, &rank);
    MPI_Comm_size(made, &size);
    members.resize(static_cast<std::size_t>(size));
    const int here = world().rank();
    MPI_Allgather(&here, 1, MPI_INT, members.data(), 1, MPI_INT, made);
    MPI_Comm_free(&made);
  }
};

void expect_same(const Chain& chain, const MpiSplit& mpi) {
  EXPECT_EQ(chain.rank(), mpi.rank);
  ASSERT_EQ(chain.size(), mpi.size);
  if (chain.empty()) return;
  std::vector<int> members(static_cast<std::size_t>(chain.size()));
  chain.allgather(buffer_of(chain.address()), members);
  EXPECT_EQ(members, mpi.members);
}

TEST(MpiSplitByTest, EveryAlgorithmGivesTheGroupsOfMpi) {
  const Comm comm = world();
  std::mt19937 random(17);
  for (int round = 0; round < 6; ++round) {
    std::vector<int> colors;
    std::vector<int> keys;
    for (int r = 0; r < comm.size(); ++r) {
      colors.push_back(static_cast<int>(random() % 4));
      keys.push_back(static_cast<int>(random() % 5) - 2);
    }
    const auto here = static_cast<std::size_t>(comm.rank());
    const bool is_left_out = round % 2 == 1 && colors[here] == 3;
    const MpiSplit mpi(is_left_out ? MPI_UNDEFINED : colors[here], keys[here]);
    std::optional<int> color;
    if (!is_left_out) color = colors[here];
    for (const std::string_view algorithm : split_algorithms()) {
      SCOPED_TRACE(algorithm);
      expect_same(split(comm, color, {}, keys[here], {}, {algorithm}), mpi);
      if (algorithm == "radix") continue;
      std::optional<std::string> text;
      if (color) text = fmt::format("{}{}", *color, std::string(static_cast<std::size_t>(*color) * 40, '.'));
      expect_same(split(comm, text, {}, keys[here], {}, {algorithm}), mpi);
    }
    expect_same(split(comm, color, {}, keys[here]), mpi);
  }
}

TEST(MpiSplitByTest, CommSplitIsThatOfMpi) {
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  for (const Comm& comm : {world, world.range(0, (world.size() - 1) / 2 * 2, 2)}) {
    if (!comm.is_member()) continue;
    MPI_Comm mpi = comm.to_mpi();
    for (int colors = 1; colors <= 4; ++colors) {
      const int color = comm.rank() % colors == 3 ? MPI_UNDEFINED : comm.rank() % colors;
      const int key = comm.rank() / 2 % 2 - comm.rank() / 3;
      const Comm mine = comm.split(color, key);
      MPI_Comm expected = MPI_COMM_NULL;
      MPI_Comm_split(mpi, color, key, &expected);
      EXPECT_EQ(mine.empty(), expected == MPI_COMM_NULL);
      if (expected == MPI_COMM_NULL) continue;
      MPI_Group group = MPI_GROUP_NULL, own = mine.mpi_group();
      MPI_Comm_group(expected, &group);
      int result = MPI_UNEQUAL;
      MPI_Group_compare(group, own, &result);
      EXPECT_EQ(result, MPI_IDENT);
      int sum = 0;
      mine.allreduce(buffer_of(comm.rank()), buffer_of(sum), MPI_SUM);
      int sum_of_mpi = 0;
      const int rank = comm.rank();
      MPI_Allreduce(&rank, &sum_of_mpi, 1, MPI_INT, MPI_SUM, expected);
      EXPECT_EQ(sum, sum_of_mpi);
      MPI_Group_free(&group);
      MPI_Group_free(&own);
      MPI_Comm_free(&expected);
    }
    EXPECT_EQ(comm.split(7).rank(), comm.rank());
    MPI_Comm_free(&mpi);
  }
  EXPECT_THROW(Comm().split(0), Error);
  EXPECT_THROW((void)Comm().mpi_group(), Error);
}

TEST(MpiSplitByTest, WhoIsLeftOutGetsAnEmptyCommunicator) {
  const Comm world = Comm::duplicate(MPI_COMM_WORLD);
  const std::optional<int> color = world.rank() % 2 == 0 ? std::optional(5) : std::nullopt;
  const Comm blocking = wisp::split(world, color).to_comm();
  Comm started = world;
  wisp::split(world, color).ito_comm(started).wait();
  Comm awaited = world;
  world.run([](Comm on, std::optional<int> of, Comm& made) -> Task<> {
    const Chain chain = co_await async_split(on, of);
    made = co_await to_comm(chain);
  }(world, color, awaited));
  for (const Comm& made : {blocking, started, awaited}) {
    EXPECT_EQ(made.empty(), !color.has_value());
    EXPECT_EQ(made.size(), color ? (world.size() + 1) / 2 : 0);
    EXPECT_EQ(made.rank(), color ? world.rank() / 2 : MPI_UNDEFINED);
  }
}

TEST(MpiSplitByTest, SplitsOfSplitsAndInFlightTogether) {
  const Comm comm = world();
  const int rank = comm.rank();
  Chain half;
  Chain turned;
  Request requests[2] = {isplit(comm, half, rank % 2), isplit(comm, turned, {}, {}, -rank)};
  wait_all(requests);
  expect_same(half, MpiSplit(rank % 2, 0));
  expect_same(turned, MpiSplit(0, -rank));
  const Chain quarter = split(half, fmt::format("{}", half.rank() % 2), {}, -half.rank());
  expect_same(quarter, MpiSplit(rank % 4, -rank));
}

TEST(MpiSplitByTest, RanksOfOneHostMeet) {
  const Comm comm = world();
  MPI_Comm here = MPI_COMM_NULL;
  int ranks_here = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &ranks_here);
  MPI_Comm_free(&here);
  EXPECT_EQ(by_host(comm).size(), ranks_here);
  EXPECT_EQ(by_shared_memory(comm).size(), ranks_here);
  const Chain thirds = by_string(comm, fmt::format("third {}", comm.rank() % 3));
  expect_same(thirds, MpiSplit(comm.rank() % 3, 0));
  const TwoLevels levels = two_level(comm, comm.rank() % 3);
  expect_same(levels.members, MpiSplit(comm.rank() % 3, 0));
  expect_same(levels.leaders, MpiSplit(comm.rank() < 3 ? 0 : MPI_UNDEFINED, 0));
  const GroupRank found = group_rank(comm, fmt::format("third {}", comm.rank() % 3));
  EXPECT_EQ(found.group, comm.rank() % 3);
  EXPECT_EQ(found.groups, std::min(3, comm.size()));
  EXPECT_EQ(found.rank, comm.rank() / 3);
}

TEST(MpiSplitByTest, AllgatherOfMpiNeedsAllOfItsRanks) {
  const Comm comm = world();
  const Chain chain(comm, 0, std::max(0, comm.size() - 2));
  if (comm.size() == 1 || chain.empty()) return;
  try {
    split(chain, 1, {}, {}, {}, {"allgather-mpi"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "wisp::split: algorithm = allgather-mpi needs the communicator of all ranks that "
                 "Comm::duplicate or attach gives");
  }
}

}  // namespace
}  // namespace wisp
