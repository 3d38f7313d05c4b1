// Sorted sequences that are merged on their way to the root.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;

Merge merge_of_ints() {
  return [](void* first, void* first_end, void* second, void* second_end, void* result) {
    std::merge(static_cast<int*>(first), static_cast<int*>(first_end), static_cast<int*>(second),
               static_cast<int*>(second_end), static_cast<int*>(result));
  };
}

TEST(GathermTest, MergesSortedSequencesOfAnyLength) {
  for (int p = 1; p <= 33; ++p) {
    for (const int seed : {0, 1, 2}) {
      simulate(cluster_of(p, seed), [](Comm comm) -> Task<> {
        const auto sequence_of = [](int rank) {
          std::vector<int> sequence;
          for (int i = 0; i < rank % 4; ++i) sequence.push_back((rank * 7 + 13 * i) % 31);
          std::sort(sequence.begin(), sequence.end());
          return sequence;
        };
        std::vector<int> expected;
        for (int r = 0; r < comm.size(); ++r) {
          const std::vector<int> sequence = sequence_of(r);
          expected.insert(expected.end(), sequence.begin(), sequence.end());
        }
        std::sort(expected.begin(), expected.end());
        const std::vector<int> mine = sequence_of(comm.rank());
        for (const int root : {0, comm.size() / 2, comm.size() - 1}) {
          std::vector<int> all(comm.rank() == root ? expected.size() : 0, -1);
          co_await gatherm(comm, mine, all, root, merge_of_ints());
          if (comm.rank() == root) {
            EXPECT_EQ(all, expected);
          }
        }
        std::vector<int> everywhere(expected.size(), -1);
        co_await allgatherm(comm, mine, everywhere, merge_of_ints());
        EXPECT_EQ(everywhere, expected);
      });
    }
  }
}

TEST(GathermTest, TooLittleRoomIsAnErrorOfTheRoot) {
  std::string sentence;
  try {
    simulate(cluster_of(3, 0), [](Comm comm) -> Task<> {
      const std::vector<int> mine(2, comm.rank());
      std::vector<int> all(5);
      co_await gatherm(comm, mine, all, 1, merge_of_ints());
    });
  } catch (const Error& error) {
    sentence = error.what();
  }
  EXPECT_EQ(sentence, "wisp::gatherm: the ranks have 6 elements together, but receive has room for 5");
}

/// Elements of another type of the same signature at the root, or none at all there, or nothing anywhere.
TEST(GathermTest, TheRootsDatatypeIsItsOwn) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&nothing);
  simulate(cluster_of(3, 0), [&](Comm comm) -> Task<> {
    const std::vector<int> mine(2, comm.rank());
    const std::vector<int> expected = {0, 0, 1, 1, 2, 2};
    std::vector<int> all(6, -1);
    co_await gatherm(comm, {mine.data(), 1, pair}, all, 0, merge_of_ints());
    if (comm.rank() == 0) {
      EXPECT_EQ(all, expected);
    }
    std::fill(all.begin(), all.end(), -1);
    co_await allgatherm(comm, mine, {all.data(), 3, pair}, merge_of_ints());
    EXPECT_EQ(all, expected);

    std::vector<int> of_others(4, -1);
    co_await gatherm(comm, comm.rank() == 0 ? ConstBuffer() : mine, of_others, 0, merge_of_ints());
    if (comm.rank() == 0) {
      EXPECT_EQ(of_others, (std::vector<int>{1, 1, 2, 2}));
    }
    co_await allgatherm(comm, {mine.data(), 2, nothing}, {all.data(), 6, nothing}, merge_of_ints());
    EXPECT_EQ(all, expected);

    std::string odd;
    try {
      co_await allgatherm(comm, {mine.data(), 1, MPI_INT}, {all.data(), 3, pair}, merge_of_ints());
    } catch (const Error& error) {
      odd = error.what();
    }
    EXPECT_EQ(odd, "wisp::allgatherm: the ranks have 12 bytes together, but an element of receive has 8");
  });
  MPI_Type_free(&pair);
  MPI_Type_free(&nothing);
}

TEST(GathermTest, NothingThatMergesIsAnErrorOnAllBeforeAMessage) {
  simulate(cluster_of(3, 0), [](Comm comm) -> Task<> {
    const std::vector<int> mine(2, comm.rank());
    std::vector<int> all(6, -1);
    for (const bool at_one : {true, false}) {
      std::string said;
      try {
        if (at_one) {
          co_await gatherm(comm, mine, all, 0, Merge());
        } else {
          co_await allgatherm(comm, mine, all, Merge());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.error_class(), MPI_ERR_ARG);
        said = error.what();
      }
      EXPECT_EQ(said, at_one ? "wisp::gatherm: merge is empty" : "wisp::allgatherm: merge is empty");
    }
    co_await allgatherm(comm, mine, all, merge_of_ints());
    EXPECT_EQ(all, (std::vector<int>{0, 0, 1, 1, 2, 2}));
  });
}

}  // namespace
}  // namespace wisp
