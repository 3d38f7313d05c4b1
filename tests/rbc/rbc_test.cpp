#include "wisp/rbc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>
#include <vector>

#include "wisp/error.hpp"

// Every public name of the RBC library, called as its users' programs call it, beside MPI's own results; and
// what that library does wrong.

namespace {

class RbcTest : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi);
    RBC::Create_Comm_from_MPI(mpi, &comm);
    RBC::Comm_rank(comm, &rank);
    RBC::Comm_size(comm, &size);
    in.resize(static_cast<std::size_t>(3 * size));
    std::iota(in.begin(), in.end(), 1000 * rank);
  }
  void TearDown() override {
    RBC::Comm_free(comm);
    MPI_Comm_free(&mpi);
  }
  std::vector<int> room() const { return std::vector<int>(static_cast<std::size_t>(3 * size), -1); }

  /// `run(out)` by RBC's blocking form, `start(out, request)` by the nonblocking one, with both default and
  /// own tag; all must give what `by_mpi(out)` gives.
  void compare(const std::function<void(int*)>& by_mpi, const std::function<int(int*)>& run,
               const std::function<int(int*, RBC::Request*)>& start) const {
    std::vector<int> expected = room(), out = room();
    by_mpi(expected.data());
    EXPECT_EQ(run(out.data()), MPI_SUCCESS);
    EXPECT_EQ(out, expected);
    out = room();
    RBC::Request request;
    EXPECT_EQ(start(out.data(), &request), MPI_SUCCESS);
    int flag = 0;
    while (flag == 0) RBC::Test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(out, expected);
  }

  MPI_Comm mpi = MPI_COMM_NULL;
  RBC::Comm comm;
  int rank = -1;
  int size = 0;
  std::vector<int> in;
};

TEST_F(RbcTest, CollectivesOfEqualBlocks) {
  for (const int root : {0, size / 2, size - 1}) {
    compare(
        [&](int* out) {
          *out = rank;
          MPI_Bcast(out, 1, MPI_INT, root, mpi);
        },
        [&](int* out) {
          *out = rank;
          return RBC::Bcast(out, 1, MPI_INT, root, comm);
        },
        [&](int* out, RBC::Request* r) {
          *out = rank;
          return RBC::Ibcast(out, 1, MPI_INT, root, comm, r);
        });
    compare([&](int* out) { MPI_Reduce(in.data(), out, 2, MPI_INT, MPI_SUM, root, mpi); },
            [&](int* out) { return RBC::Reduce(in.data(), out, 2, MPI_INT, MPI_SUM, root, comm); },
            [&](int* out, RBC::Request* r) {
              return RBC::Ireduce(in.data(), out, 2, MPI_INT, MPI_SUM, root, comm, r, 77);
            });
    compare([&](int* out) { MPI_Gather(in.data(), 2, MPI_INT, out, 2, MPI_INT, root, mpi); },
            [&](int* out) { return RBC::Gather(in.data(), 2, MPI_INT, out, 2, MPI_INT, root, comm); },
            [&](int* out, RBC::Request* r) {
              return RBC::Igather(in.data(), 2, MPI_INT, out, 2, MPI_INT, root, comm, r);
            });
  }
  compare([&](int* out) { MPI_Allreduce(in.data(), out, 2, MPI_INT, MPI_SUM, mpi); },
          [&](int* out) { return RBC::Allreduce(in.data(), out, 2, MPI_INT, MPI_SUM, comm); },
          [&](int* out, RBC::Request* r) {
            return RBC::Iallreduce(in.data(), out, 2, MPI_INT, MPI_SUM, comm, r);
          });
  compare(
      [&](int* out) { MPI_Scan(in.data(), out, 2, MPI_INT, MPI_SUM, mpi); },
      [&](int* out) { return RBC::Scan(in.data(), out, 2, MPI_INT, MPI_SUM, comm); },
      [&](int* out, RBC::Request* r) { return RBC::Iscan(in.data(), out, 2, MPI_INT, MPI_SUM, comm, r); });
  compare(
      [&](int* out) {
        std::vector<int> sum(2);
        MPI_Exscan(in.data(), sum.data(), 2, MPI_INT, MPI_SUM, mpi);
        if (rank > 0) std::copy(sum.begin(), sum.end(), out);
      },
      [&](int* out) { return RBC::Exscan(in.data(), out, 2, MPI_INT, MPI_SUM, comm); },
      [&](int* out, RBC::Request* r) { return RBC::Iexscan(in.data(), out, 2, MPI_INT, MPI_SUM, comm, r); });
  compare(
      [&](int* out) {
        MPI_Scan(in.data(), out, 1, MPI_INT, MPI_SUM, mpi);
        MPI_Allreduce(in.data(), out + 1, 1, MPI_INT, MPI_SUM, mpi);
      },
      [&](int* out) { return RBC::ScanAndBcast(in.data(), out, out + 1, 1, MPI_INT, MPI_SUM, comm); },
      [&](int* out, RBC::Request* r) {
        return RBC::IscanAndBcast(in.data(), out, out + 1, 1, MPI_INT, MPI_SUM, comm, r);
      });
  compare([&](int* out) { MPI_Allgather(in.data(), 2, MPI_INT, out, 2, MPI_INT, mpi); },
          [&](int* out) { return RBC::Allgather(in.data(), 2, MPI_INT, out, 2, MPI_INT, comm); },
          [&](int* out, RBC::Request* r) {
            return RBC::Iallgather(in.data(), 2, MPI_INT, out, 2, MPI_INT, comm, r);
          });
  std::vector<int> expected = room(), out = room();
  MPI_Alltoall(in.data(), 2, MPI_INT, expected.data(), 2, MPI_INT, mpi);
  RBC::Alltoall(in.data(), 2, MPI_INT, out.data(), 2, MPI_INT, comm);
  EXPECT_EQ(out, expected);
  RBC::Barrier(comm);
  RBC::Request request;
  RBC::Ibarrier(comm, &request);
  RBC::Wait(&request, MPI_STATUS_IGNORE);
}

TEST_F(RbcTest, CollectivesOfBlocksOfAnySize) {
  std::vector<int> counts, displs;
  for (int r = 0; r < size; ++r) {
    counts.push_back(r % 3);
    displs.push_back(3 * (size - 1 - r));  // backwards, with gaps
  }
  const int mine = counts[static_cast<std::size_t>(rank)];
  for (const int root : {0, size - 1}) {
    compare(
        [&](int* out) {
          MPI_Gatherv(in.data(), mine, MPI_INT, out, counts.data(), displs.data(), MPI_INT, root, mpi);
        },
        [&](int* out) {
          return RBC::Gatherv(in.data(), mine, MPI_INT, out, counts.data(), displs.data(), MPI_INT, root,
                              comm);
        },
        [&](int* out, RBC::Request* r) {
          return RBC::Igatherv(in.data(), mine, MPI_INT, out, counts.data(), displs.data(), MPI_INT, root,
                               comm, r);
        });
  }
  compare(
      [&](int* out) {
        MPI_Allgatherv(in.data(), mine, MPI_INT, out, counts.data(), displs.data(), MPI_INT, mpi);
      },
      [&](int* out) {
        return RBC::Allgatherv(in.data(), mine, MPI_INT, out, counts.data(), displs.data(), MPI_INT, comm);
      },
      [&](int* out, RBC::Request* r) {
        return RBC::Iallgatherv(in.data(), mine, MPI_INT, out, counts.data(), displs.data(), MPI_INT, comm,
                                r);
      });
  std::vector<int> same;
  for (int r = 0; r < size; ++r) same.push_back((r + rank) % 3);
  std::vector<int> expected = room(), out = room();
  MPI_Alltoallv(in.data(), same.data(), displs.data(), MPI_INT, expected.data(), same.data(), displs.data(),
                MPI_INT, mpi);
  RBC::Alltoallv(in.data(), same.data(), displs.data(), MPI_INT, out.data(), same.data(), displs.data(),
                 MPI_INT, comm);
  EXPECT_EQ(out, expected);
  expected = out = room();
  MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, expected.data(), same.data(),
                displs.data(), MPI_INT, mpi);
  RBC::Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, out.data(), same.data(), displs.data(),
                 MPI_INT, comm);
  EXPECT_EQ(out, expected);

  // Merged, ranks' sequences interleave.
  const std::function<void(void*, void*, void*, void*, void*)> merge = [](void* a, void* a_end, void* b,
                                                                          void* b_end, void* to) {
    std::merge(static_cast<int*>(a), static_cast<int*>(a_end), static_cast<int*>(b), static_cast<int*>(b_end),
               static_cast<int*>(to));
  };
  std::vector<int> sorted = {rank, rank + size}, merged(static_cast<std::size_t>(2 * size));
  std::iota(merged.begin(), merged.end(), 0);
  for (const int root : {0, size / 2}) {
    std::vector<int> got(merged.size(), -1);
    RBC::Gatherm(sorted.data(), 2, MPI_INT, got.data(), 2 * size, root, merge, comm);
    EXPECT_EQ(got, rank == root ? merged : std::vector<int>(merged.size(), -1))
        << "only the root has the result";
    std::fill(got.begin(), got.end(), -1);
    RBC::Request request;
    RBC::Igatherm(sorted.data(), 2, MPI_INT, got.data(), 2 * size, root, merge, comm, &request);
    RBC::Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, rank == root ? merged : std::vector<int>(merged.size(), -1));
  }
  std::vector<int> got(merged.size(), -1);
  RBC::Allgatherm(sorted.data(), 2, MPI_INT, got.data(), 2 * size, merge, comm);
  EXPECT_EQ(got, merged);
  std::fill(got.begin(), got.end(), -1);
  RBC::Request request;
  RBC::Iallgatherm(sorted.data(), 2, MPI_INT, got.data(), 2 * size, merge, comm, &request);
  RBC::Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, merged);
}

/// RBC hangs.
TEST_F(RbcTest, ANonblockingGathervFinishesWhenOneRankContributesNothing) {
  std::vector<int> counts(static_cast<std::size_t>(size), 1), displs(static_cast<std::size_t>(size));
  counts[static_cast<std::size_t>(size / 2)] = 0;
  std::iota(displs.begin(), displs.end(), 0);
  std::vector<int> out(static_cast<std::size_t>(size), -1);
  RBC::Request request;
  RBC::Igatherv(&rank, counts[static_cast<std::size_t>(rank)], MPI_INT, out.data(), counts.data(),
                displs.data(), MPI_INT, 0, comm, &request);
  RBC::Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; rank == 0 && r < size; ++r) {
    EXPECT_EQ(out[static_cast<std::size_t>(r)], r == size / 2 ? -1 : r);
  }
}

/// In RBC only the request that is tested makes progress.
TEST_F(RbcTest, WaitingForOneOperationMakesOthersProgress) {
  int a = rank == 0 ? 1 : 0, b = rank == 0 ? 2 : 0;
  RBC::Request first, second;
  RBC::Ibcast(&a, 1, MPI_INT, 0, comm, &first, 11);
  RBC::Ibcast(&b, 1, MPI_INT, 0, comm, &second, 12);
  if (rank % 2 == 0) {
    RBC::Wait(&first, MPI_STATUS_IGNORE);
    RBC::Wait(&second, MPI_STATUS_IGNORE);
  } else {
    RBC::Wait(&second, MPI_STATUS_IGNORE);
    RBC::Wait(&first, MPI_STATUS_IGNORE);
  }
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2);
}

/// In RBC a wildcard probe gives up when the message in front belongs to another communicator.
TEST_F(RbcTest, AWildcardLooksBehindMessagesOfOtherCommunicators) {
  if (size < 3) GTEST_SKIP() << "needs 3 ranks";
  RBC::Comm low, high;
  RBC::Split_Comm(comm, 0, 1, 1, 2, &low, &high);
  int value = rank;
  if (rank == 2) RBC::Send(&value, 1, MPI_INT, 0, 5, high);
  RBC::Barrier(comm);
  if (rank == 0) RBC::Send(&value, 1, MPI_INT, 1, 5, low);
  if (rank == 1) {
    MPI_Status status;
    RBC::Probe(MPI_ANY_SOURCE, 5, low, &status);
    EXPECT_EQ(RBC::get_Rank_from_Status(low, status), 0);
    RBC::Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, low, &status);
    EXPECT_EQ(value, 0);
    RBC::Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, high, &status);
    EXPECT_EQ(value, 2);
    EXPECT_EQ(status.MPI_SOURCE, 2);
    EXPECT_EQ(status.MPI_TAG, 5);
  }
}

TEST_F(RbcTest, MessagesWithBothKindsOfRequest) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int out = rank, got = -1, flag = 0;
  MPI_Status status;
  RBC::Sendrecv(&out, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, comm, &status);
  EXPECT_EQ(got, previous);
  RBC::Request pair;
  RBC::Isendrecv(&out, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, comm, &pair);
  RBC::Wait(&pair, &status);

  for (const bool synchronous : {false, true}) {
    got = -1;
    RBC::Request requests[2];
    RBC::Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[0]);
    if (synchronous) {
      RBC::Issend(&out, 1, MPI_INT, next, 2, comm, &requests[1]);
    } else {
      RBC::Isend(&out, 1, MPI_INT, next, 2, comm, &requests[1]);
    }
    for (flag = 0; flag == 0;) RBC::Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    RBC::Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(got, previous);

    got = -1;
    MPI_Request of_mpi[2];
    RBC::Irecv(&got, 1, MPI_INT, previous, 3, comm, &of_mpi[0]);
    if (synchronous) {
      RBC::Issend(&out, 1, MPI_INT, next, 3, comm, &of_mpi[1]);
    } else {
      RBC::Isend(&out, 1, MPI_INT, next, 3, comm, &of_mpi[1]);
    }
    RBC::Wait(&of_mpi[0], &status);
    EXPECT_EQ(got, previous);
    for (flag = 0; flag == 0;) RBC::Test(&of_mpi[1], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; flag == 0;) RBC::Testall(2, of_mpi, &flag, MPI_STATUSES_IGNORE);
    RBC::Waitall(2, of_mpi, MPI_STATUSES_IGNORE);

    RBC::Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &of_mpi[0]);
    RBC::Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &of_mpi[1]);
    RBC::Waitall(2, of_mpi, MPI_STATUSES_IGNORE);
    EXPECT_EQ(got, previous);
    EXPECT_THROW(RBC::Isend(&out, 1, MPI_INT, size, 3, comm, &of_mpi[0]), wisp::Error);
    EXPECT_THROW(RBC::Irecv(&got, 1, MPI_INT, size, 3, comm, &of_mpi[0]), wisp::Error);
  }
  RBC::Request sent;
  RBC::Isend(&out, 1, MPI_INT, next, 1000003, comm, &sent);  // a tag as RBC's programs have them
  for (flag = 0; flag == 0;) RBC::Iprobe(previous, 1000003, comm, &flag, &status);
  RBC::Recv(&got, 1, MPI_INT, previous, 1000003, comm, &status);
  RBC::Wait(&sent, MPI_STATUS_IGNORE);
  if (rank == 0 && size > 1) RBC::Ssend(&out, 1, MPI_INT, 1, 4, comm);
  if (rank == 1) RBC::Recv(&got, 1, MPI_INT, 0, 4, comm);
  // A tag is MPI's own: a message can be received with MPI too.
  RBC::Send(&out, 1, MPI_INT, rank, 6, comm);
  MPI_Recv(&got, 1, MPI_INT, rank, 6, mpi, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, rank);
}

TEST_F(RbcTest, CommunicatorsAndTheirMembers) {
  RBC::Comm even;
  RBC::Comm_create(comm, &even, 0, size - 1, 2);
  EXPECT_EQ(even.getSize(), (size + 1) / 2);
  EXPECT_EQ(even.includesMpiRank(rank), rank % 2 == 0);
  EXPECT_EQ(even.MpiRankToRangeRank(rank), rank % 2 == 0 ? rank / 2 : -1);
  EXPECT_EQ(even.RangeRankToMpiRank(0), 0);
  EXPECT_EQ(even.getMpiFirst(), 0);
  EXPECT_EQ(even.getMpiLast(), (size - 1) / 2 * 2);
  EXPECT_EQ(even.getStride(), 2);
  EXPECT_EQ(even.get(), mpi);
  EXPECT_FALSE(even.isEmpty());
  EXPECT_FALSE(even.useMPICollectives());
  EXPECT_FALSE(even.splitMPIComm());
  EXPECT_TRUE(even.useCommCreate());
  EXPECT_EQ(even.getRank(), rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED);
  std::ostringstream text;
  text << even << " " << RBC::Comm();
  EXPECT_EQ(text.str(), "0.." + std::to_string((size - 1) / 2 * 2) + " step 2 (empty)");
  EXPECT_TRUE(RBC::Comm_create(comm, 1, 0).isEmpty());
  RBC::Comm group;
  RBC::Comm_create_group(comm, &group, 0, size - 1);
  EXPECT_EQ(group.getSize(), size);
}

TEST_F(RbcTest, AnInactiveRequestHasAnEmptyStatus) {
  int out = rank, got = -1, flag = 0;
  RBC::Request requests[2];
  RBC::Irecv(&got, 1, MPI_INT, rank, 4, comm, &requests[0]);
  RBC::Send(&out, 1, MPI_INT, rank, 4, comm);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Status statuses[2] = {};
    if (turn == 0) {
      RBC::Waitall(2, requests, statuses);
      EXPECT_EQ(statuses[0].MPI_SOURCE, rank);
    } else {
      RBC::Testall(2, requests, &flag, statuses);
      EXPECT_EQ(flag, 1);
    }
    for (int i = 1 - turn; i < 2; ++i) {
      int count = -1;
      MPI_Get_count(&statuses[i], MPI_INT, &count);
      EXPECT_EQ(statuses[i].MPI_SOURCE, MPI_ANY_SOURCE);
      EXPECT_EQ(statuses[i].MPI_TAG, MPI_ANY_TAG);
      EXPECT_EQ(count, 0);
    }
  }
}

TEST_F(RbcTest, StatusesComeWhenAllHaveEnded) {
  int out = rank, got[2] = {-1, -1}, flag = 1;
  RBC::Request requests[2];
  MPI_Status statuses[2] = {};
  RBC::Irecv(&got[0], 1, MPI_INT, rank, 5, comm, &requests[0]);
  RBC::Irecv(&got[1], 1, MPI_INT, rank, 6, comm, &requests[1]);
  RBC::Send(&out, 1, MPI_INT, rank, 5, comm);
  for (int look = 0; look < 100; ++look) {
    RBC::Testall(2, requests, &flag, statuses);
    EXPECT_EQ(flag, 0);
  }
  RBC::Send(&out, 1, MPI_INT, rank, 6, comm);
  for (flag = 0; flag == 0;) RBC::Testall(2, requests, &flag, statuses);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(got[i], rank);
    EXPECT_EQ(statuses[i].MPI_SOURCE, rank);
    EXPECT_EQ(statuses[i].MPI_TAG, 5 + i);
  }
}

TEST_F(RbcTest, ErrorsNameWhatIsWrong) {
  const auto error = [](auto call) -> std::string {
    try {
      call();
    } catch (const wisp::Error& thrown) {
      return thrown.what();
    }
    return "none";
  };
  int value = rank;
  const RBC::Comm none;
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(error([&] { RBC::Bcast(&value, 1, MPI_INT, 0, none); }),
            "wisp::bcast: the communicator is empty");
  EXPECT_EQ(error([&] { RBC::Isend(&value, 1, MPI_INT, 0, 4, none, &request); }),
            "RBC: the communicator is empty");
  EXPECT_EQ(error([&] { RBC::Gatherv(&value, 1, MPI_INT, &value, nullptr, nullptr, MPI_INT, rank, comm); }),
            "RBC: counts = NULL");
  EXPECT_EQ(error([&] { RBC::Send(MPI_IN_PLACE, 1, MPI_INT, rank, 4, comm); }),
            "wisp::Comm::send: the buffer is MPI_IN_PLACE, which only collectives know");
}

TEST_F(RbcTest, ForwardsToMpiForComparisons) {
  RBC::Comm forwarding = RBC::Create_Comm_from_MPI(mpi, true, true);
  EXPECT_TRUE(forwarding.useMPICollectives());
  RBC::Comm half;
  const int middle = size / 2;
  const bool is_left = rank < middle;
  RBC::Comm_create(forwarding, &half, is_left ? 0 : middle, is_left ? middle - 1 : size - 1);
  EXPECT_TRUE(half.splitMPIComm());
  int one = 1, sum = 0;
  RBC::Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
  EXPECT_EQ(sum, is_left ? middle : size - middle);
  RBC::Request request;
  RBC::Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half, &request);
  RBC::Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, half.getSize());
  RBC::Comm_free(half);
  EXPECT_TRUE(half.isEmpty());
}

/// The program of the paper's figure 1, in its spelling; it sends from rank 0 of each range.
TEST_F(RbcTest, TheExampleOfThePaperRuns) {
  int e = 0, f, l, r, s;
  rbc::Comm world, range;
  rbc::Create_RBC_Comm(mpi, &world);
  rbc::Comm_rank(world, &r);
  rbc::Comm_size(world, &s);
  if (s == 1) GTEST_SKIP() << "needs two halves";
  if (r < s / 2) {
    f = 0;
    l = s / 2 - 1;
  } else {
    f = s / 2;
    l = s - 1;
  }
  rbc::Split_RBC_Comm(world, f, l, &range);
  if (r == f) e = 100 + f;
  rbc::Request req;
  int flag = 0;
  rbc::Ibcast(&e, 1, MPI_INT, 0, range, &req);
  while (!flag) rbc::Test(&req, &flag, MPI_STATUS_IGNORE);
  EXPECT_EQ(e, 100 + f);
  rbc::Comm again;
  rbc::Split_RBC_Comm(world, again, f, l);
  EXPECT_EQ(again.getSize(), range.getSize());
}

/// Processes may make their handles whenever they like, as often as they like: nothing counts them.
TEST_F(RbcTest, HandlesAreMadeWithoutAnyOrder) {
  for (int i = 0; i < 5; ++i) {
    RBC::Comm all;
    for (int again = 0; again <= (rank + i) % 3; ++again) RBC::Comm_create_group(comm, &all, 0, size - 1);
    int sum = 0;
    RBC::Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    EXPECT_EQ(sum, size * (size - 1) / 2);
  }
}

TEST_F(RbcTest, OptimizedAlgorithmsByName) {
  namespace optimized = RBC::_internal::optimized;
  std::vector<int> expected = room(), out = room();
  MPI_Allgather(in.data(), 3, MPI_INT, expected.data(), 3, MPI_INT, mpi);
  const auto check = [&](const char* name) {
    EXPECT_EQ(out, expected) << name;
    out = room();
  };
  optimized::Allgather(in.data(), 3, MPI_INT, out.data(), 3, MPI_INT, comm);
  check("Allgather");
  optimized::AllgatherDissemination(in.data(), 3, MPI_INT, out.data(), 3, MPI_INT, comm);
  check("AllgatherDissemination");
  optimized::AllgathervDissemination(in.data(), 3, MPI_INT, out.data(), 3 * size, MPI_INT, comm);
  check("AllgathervDissemination");
  optimized::AllgatherPipeline(in.data(), 3, MPI_INT, out.data(), 3, MPI_INT, comm);
  check("AllgatherPipeline");
  optimized::AllgatherHypercube(in.data(), 3, MPI_INT, out.data(), 3, MPI_INT, comm);
  check("AllgatherHypercube");
  const int n = 3 * size;
  expected = room();
  MPI_Allreduce(in.data(), expected.data(), n, MPI_INT, MPI_SUM, mpi);
  using Reduction = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, RBC::Comm const&);
  for (const Reduction reduction : {optimized::Allreduce, optimized::AllreduceTwotree,
                                    optimized::AllreduceScatterAllgather, optimized::AllreduceHypercube}) {
    reduction(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm);
    check("Allreduce");
  }
  std::vector<int> total = room();
  expected = room();
  MPI_Scan(in.data(), expected.data(), n, MPI_INT, MPI_SUM, mpi);
  for (const Reduction reduction : {optimized::Scan, optimized::ScanTwotree}) {
    reduction(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm);
    check("Scan");
  }
  optimized::ScanAndBcastTwotree(in.data(), out.data(), total.data(), n, MPI_INT, MPI_SUM, comm);
  check("ScanAndBcastTwotree");
  expected = room();
  MPI_Exscan(in.data(), expected.data(), n, MPI_INT, MPI_SUM, mpi);
  if (rank == 0) expected = room();
  for (const Reduction reduction : {optimized::Exscan, optimized::ExscanTwotree}) {
    reduction(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm);
    check("Exscan");
  }
  expected = room();
  const int root = size / 2;
  MPI_Reduce(in.data(), expected.data(), n, MPI_INT, MPI_SUM, root, mpi);
  optimized::ReduceTwotree(in.data(), out.data(), n, MPI_INT, MPI_SUM, root, comm);
  check("ReduceTwotree");
  expected = in;
  MPI_Bcast(expected.data(), n, MPI_INT, root, mpi);
  using Broadcast = int (*)(void*, int, MPI_Datatype, int, RBC::Comm const&);
  for (const Broadcast broadcast : {optimized::Bcast, optimized::BcastBinomial, optimized::BcastTwotree,
                                    optimized::BcastScatterAllgather}) {
    out = in;
    broadcast(out.data(), n, MPI_INT, root, comm);
    check("Bcast");
  }
}

}  // namespace
