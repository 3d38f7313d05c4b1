#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/error.hpp"

// gatherv and scatterv on real ranks, by every algorithm and through every face, against MPI's own result.

namespace wisp {
namespace {

struct Problem {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<int> mine;
  std::vector<int> room;

  Problem(const Comm& comm, int largest, unsigned seed) {
    std::mt19937 random(seed);
    int end = 0;
    for (int rank = 0; rank < comm.size(); ++rank) {
      const int draw = static_cast<int>(random() % 4);
      counts.push_back(draw == 0 ? 0 : draw == 1 ? largest : static_cast<int>(random() % 10));
      end += counts.back();
    }
    // The last rank's block comes first, with gaps between.
    displacements.resize(counts.size());
    end = 0;
    for (std::size_t rank = counts.size(); rank-- > 0;) {
      displacements[rank] = end + 1;
      end += counts[rank] + 1;
    }
    mine.resize(static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]));
    std::iota(mine.begin(), mine.end(), 100'000 * comm.rank());
    room.assign(static_cast<std::size_t>(end) + 1, -1);
  }
  int count(int rank) const { return counts[static_cast<std::size_t>(rank)]; }
};

class IrregularMpiTest : public testing::Test {
 protected:
  const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  const std::vector<int> largest = {5, 300, 20'000};
};

TEST_F(IrregularMpiTest, GathervByEveryAlgorithmGivesWhatMpiGives) {
  for (const int most : largest) {
    for (const int root : {0, comm.size() / 2, comm.size() - 1}) {
      for (const std::string_view algorithm : algorithms_of("gatherv")) {
        const Problem problem(comm, most, static_cast<unsigned>(most + root));
        std::vector<int> expected = problem.room, all = problem.room, again = problem.room;
        MPI_Gatherv(problem.mine.data(), problem.count(comm.rank()), MPI_INT, expected.data(),
                    problem.counts.data(), problem.displacements.data(), MPI_INT, root, MPI_COMM_WORLD);
        const Blocks blocks(all, problem.counts, problem.displacements);
        comm.gatherv(problem.mine, blocks, root, {.algorithm = algorithm});
        EXPECT_EQ(all, expected) << algorithm << ", root " << root << ", blocks up to " << most;
        comm.igatherv(problem.mine, Blocks(again, problem.counts, problem.displacements), root,
                      {.algorithm = algorithm})
            .wait();
        EXPECT_EQ(again, expected) << "nonblocking, " << algorithm;
        Request persistent = comm.gatherv_init(problem.mine, blocks, root, {.algorithm = algorithm});
        for (int run = 0; run < 3; ++run) {
          all = problem.room;
          persistent.start();
          persistent.wait();
          EXPECT_EQ(all, expected) << "persistent, " << algorithm;
        }
      }
    }
  }
}

TEST_F(IrregularMpiTest, ScattervByEveryAlgorithmGivesWhatMpiGives) {
  for (const int most : largest) {
    for (const int root : {0, comm.size() / 2, comm.size() - 1}) {
      for (const std::string_view algorithm : algorithms_of("scatterv")) {
        Problem problem(comm, most, static_cast<unsigned>(most + root));
        std::iota(problem.room.begin(), problem.room.end(), 7);
        std::vector<int> expected(problem.mine.size(), -1), mine = expected, again = expected;
        MPI_Scatterv(problem.room.data(), problem.counts.data(), problem.displacements.data(), MPI_INT,
                     expected.data(), problem.count(comm.rank()), MPI_INT, root, MPI_COMM_WORLD);
        const ConstBlocks blocks(problem.room, problem.counts, problem.displacements);
        comm.scatterv(blocks, mine, root, {.algorithm = algorithm});
        EXPECT_EQ(mine, expected) << algorithm << ", root " << root << ", blocks up to " << most;
        comm.iscatterv(blocks, again, root, {.algorithm = algorithm}).wait();
        EXPECT_EQ(again, expected) << "nonblocking, " << algorithm;
        Request persistent = comm.scatterv_init(blocks, mine, root, {.algorithm = algorithm});
        for (int run = 0; run < 3; ++run) {
          std::fill(mine.begin(), mine.end(), -1);
          persistent.start();
          persistent.wait();
          EXPECT_EQ(mine, expected) << "persistent, " << algorithm;
        }
      }
    }
  }
}

TEST_F(IrregularMpiTest, DatatypesMayDifferAndHaveGaps) {
  // Every rank has its ints three apart; the root's are two apart.
  const auto resized = [](int apart) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, apart * static_cast<MPI_Aint>(sizeof(int)), &type);
    MPI_Type_commit(&type);
    return type;
  };
  MPI_Datatype three = resized(3), two = resized(2);
  for (const std::string_view algorithm : algorithms_of("gatherv")) {
    const Problem problem(comm, 40, 3);
    std::vector<int> apart(3 * problem.mine.size() + 1), all(2 * problem.room.size(), -1), expected = all;
    for (std::size_t i = 0; i < problem.mine.size(); ++i) apart[3 * i] = problem.mine[i];
    MPI_Gatherv(apart.data(), problem.count(comm.rank()), three, expected.data(), problem.counts.data(),
                problem.displacements.data(), two, 0, MPI_COMM_WORLD);
    comm.gatherv({apart.data(), problem.mine.size(), three},
                 Blocks(all.data(), problem.counts, problem.displacements, two), 0, {.algorithm = algorithm});
    EXPECT_EQ(all, expected) << algorithm;
  }
  for (const std::string_view algorithm : algorithms_of("scatterv")) {
    Problem problem(comm, 40, 3);
    std::vector<int> all(2 * problem.room.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> apart(3 * problem.mine.size() + 1, -1), expected = apart;
    MPI_Scatterv(all.data(), problem.counts.data(), problem.displacements.data(), two, expected.data(),
                 problem.count(comm.rank()), three, 0, MPI_COMM_WORLD);
    comm.scatterv(ConstBlocks(all.data(), problem.counts, problem.displacements, two),
                  {apart.data(), problem.mine.size(), three}, 0, {.algorithm = algorithm});
    EXPECT_EQ(apart, expected) << algorithm;
  }
  MPI_Type_free(&three);
  MPI_Type_free(&two);
}

TEST_F(IrregularMpiTest, ABlockOfNothingNeedsNoDatatype) {
  const int p = comm.size();
  for (const std::string_view algorithm : algorithms_of("allgatherv")) {
    std::vector<int> counts(static_cast<std::size_t>(p), 1), places;
    counts.front() = 0;
    for (int r = 0; r < p; ++r) places.push_back(r * static_cast<int>(sizeof(int)));
    std::vector<MPI_Datatype> types(counts.size(), MPI_INT);
    types.front() = MPI_DATATYPE_NULL;
    const int own = comm.rank();
    std::vector<int> all(counts.size(), -1), expected(counts.size());
    std::iota(expected.begin(), expected.end(), 0);
    expected.front() = -1;
    comm.allgatherv({&own, comm.rank() == 0 ? 0U : 1U, MPI_INT}, Blocks(all.data(), counts, places, types),
                    {.algorithm = algorithm});
    EXPECT_EQ(all, expected) << algorithm;
  }
}

TEST_F(IrregularMpiTest, TheEnvironmentSetsWhereMessagesAreDirect) {
  EXPECT_GE(direct_gatherv_ranks(comm), 2);
  setenv("WISP_DIRECT_RANKS", "1", 1);
  MPI_Comm another = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &another);
  {
    const Comm led = Comm::duplicate(another);
    EXPECT_EQ(direct_gatherv_ranks(led), 1);
    const std::vector<int> mine(static_cast<std::size_t>(led.rank() % 3), led.rank());
    std::vector<int> counts, expected;
    for (int rank = 0; rank < led.size(); ++rank) {
      counts.push_back(rank % 3);
      expected.insert(expected.end(), static_cast<std::size_t>(rank % 3), rank);
    }
    std::vector<int> all(expected.size(), -1);
    led.gatherv(mine, {all, counts}, 0);
    if (led.rank() == 0) {
      EXPECT_EQ(all, expected);
    }
  }
  MPI_Comm_free(&another);
  setenv("WISP_DIRECT_RANKS", "none", 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &another);
  EXPECT_THROW(Comm::duplicate(another), Error);
  MPI_Comm_free(&another);
  unsetenv("WISP_DIRECT_RANKS");
}

TEST_F(IrregularMpiTest, ARankThatDisagreesWithTheRootIsNamed) {
  if (comm.size() == 1) GTEST_SKIP() << "nobody to disagree with";
  const int wrong = comm.size() - 1;
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 4);
  for (const int count : {3, 6}) {
    const std::string sentence = "rank " + std::to_string(wrong) + " has " + std::to_string(4 * count) +
                                 " bytes, but the root's counts give it 16";
    for (const std::string_view algorithm : algorithms_of("gatherv")) {
      std::vector<int> all(4 * counts.size());
      const std::vector<int> mine(static_cast<std::size_t>(comm.rank() == wrong ? count : 4));
      std::string error;
      try {
        comm.gatherv(mine, {all, counts}, 0, {.algorithm = algorithm});
      } catch (const Error& caught) {
        EXPECT_EQ(caught.error_class(), MPI_ERR_TRUNCATE);
        error = caught.what();
      }
      if (comm.rank() != 0) continue;
      // MPICH does not say how long a message was that was too long.
      const bool may_not_know = algorithm == "direct" && count > 4;
      EXPECT_TRUE(error.find(sentence) != std::string::npos ||
                  (may_not_know && error.find("more than 16 bytes") != std::string::npos))
          << algorithm << ": " << error;
    }
    for (const std::string_view algorithm : algorithms_of("scatterv")) {
      const std::vector<int> all(4 * counts.size());
      std::vector<int> mine(static_cast<std::size_t>(comm.rank() == wrong ? count : 4));
      std::string error;
      try {
        comm.scatterv({all, counts}, mine, 0, {.algorithm = algorithm});
      } catch (const Error& caught) {
        EXPECT_EQ(caught.error_class(), MPI_ERR_TRUNCATE);
        error = caught.what();
      }
      if (comm.rank() != (algorithm == "tree" ? 0 : wrong)) continue;
      const bool may_not_know = algorithm == "direct" && count < 4;
      EXPECT_TRUE(error.find(sentence) != std::string::npos ||
                  (may_not_know && error.find("counts give it more than 12") != std::string::npos))
          << algorithm << ": " << error;
    }
  }
}

}  // namespace
}  // namespace wisp
