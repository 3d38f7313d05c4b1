// Chains on real ranks: every face of every operation, against MPI's own results.

#include "wisp/chain.hpp"
#include "world.hpp"

#include <gtest/gtest.h>

#include "chains.hpp"
#include "noncommutative.hpp"
#include "wisp/error.hpp"
#include "wisp/split.hpp"

namespace wisp {
namespace {

using test::Affine;
using test::affine_of_rank;

const Operator compose = Operator::on<Affine>([](const Affine& a, const Affine& b) { return a * b; });

using test::world;

/// The whole world in another order.
Chain shuffled(int seed) {
  const Comm comm = world();
  return Chain::of_neighbors(comm, test::neighbors_in(test::shuffled_ranks(comm.size(), seed), comm.rank()));
}

/// Runs one operation by all of its faces: `fill` makes the buffers anew, `check` looks at them.
template <class Fill, class Check>
void by_all_faces(Fill fill, Check check, const std::function<void()>& blocking,
                  const std::function<Request()>& nonblocking, const std::function<Request()>& persistent) {
  fill();
  blocking();
  check("blocking");
  fill();
  Request request = nonblocking();
  request.wait();
  check("nonblocking");
  request = persistent();
  for (int run = 0; run < 2; ++run) {
    fill();
    request.start();
    request.wait();
    check("persistent");
  }
}

TEST(MpiChainTest, ScansGiveWhatMpiGives) {
  const Chain chain = world();
  const test::AffineType affine;
  const Affine mine = affine_of_rank(chain.rank());
  const Affine untouched{3, 4};
  Affine expected = untouched;
  Affine expected_exclusive = untouched;
  Affine total;
  MPI_Scan(&mine, &expected, 1, affine.type(), affine.op(), MPI_COMM_WORLD);
  MPI_Exscan(&mine, &expected_exclusive, 1, affine.type(), affine.op(), MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &total, 1, affine.type(), affine.op(), MPI_COMM_WORLD);
  if (chain.rank() == 0) expected_exclusive = untouched;
  Affine sum;
  const auto fill = [&] { sum = untouched; };
  const auto check = [&](const Affine& due) {
    return [&](const char* face) { EXPECT_EQ(sum, due) << face; };
  };
  const ConstBuffer in = item(mine);
  by_all_faces(
      fill, check(expected), [&] { chain.scan(in, item(sum), compose); },
      [&] { return chain.iscan(in, item(sum), compose); },
      [&] { return chain.scan_init(in, item(sum), compose); });
  by_all_faces(
      fill, check(expected_exclusive), [&] { chain.exscan(in, item(sum), compose); },
      [&] { return chain.iexscan(in, item(sum), compose); },
      [&] { return chain.exscan_init(in, item(sum), compose); });
  by_all_faces(
      fill, check(total), [&] { chain.allreduce(in, item(sum), compose); },
      [&] { return chain.iallreduce(in, item(sum), compose); },
      [&] { return chain.allreduce_init(in, item(sum), compose); });
  // The same with MPI's operator and datatype.
  const Buffer typed{&sum, 1, affine.type()};
  const ConstBuffer typed_in{&mine, 1, affine.type()};
  by_all_faces(
      fill, check(expected), [&] { chain.scan(typed_in, typed, affine.op()); },
      [&] { return chain.iscan(typed_in, typed, affine.op()); },
      [&] { return chain.scan_init(typed_in, typed, affine.op()); });
}

TEST(MpiChainTest, DoubleAndSegmentedScans) {
  const Chain chain = shuffled(1);
  const int rank = chain.rank();
  const int size = chain.size();
  const int mine = rank + 1;
  int before = 0;
  int after = 0;
  const auto fill = [&] { before = after = -1; };
  const ConstBuffer in = buffer_of(mine);
  const auto up_to = [](int n) { return n * (n + 1) / 2; };
  by_all_faces(
      fill,
      [&](const char* face) {
        EXPECT_EQ(before, up_to(mine)) << face;
        EXPECT_EQ(after, up_to(size) - up_to(rank)) << face;
      },
      [&] { chain.double_scan(in, buffer_of(before), buffer_of(after), MPI_SUM); },
      [&] { return chain.idouble_scan(in, buffer_of(before), buffer_of(after), MPI_SUM); },
      [&] { return chain.double_scan_init(in, buffer_of(before), buffer_of(after), MPI_SUM); });
  by_all_faces(
      fill,
      [&](const char* face) {
        EXPECT_EQ(before, rank == 0 ? -1 : up_to(rank)) << face;
        EXPECT_EQ(after, mine == size ? -1 : up_to(size) - up_to(mine)) << face;
      },
      [&] { chain.double_exscan(in, buffer_of(before), buffer_of(after), MPI_SUM); },
      [&] { return chain.idouble_exscan(in, buffer_of(before), buffer_of(after), MPI_SUM); },
      [&] { return chain.double_exscan_init(in, buffer_of(before), buffer_of(after), MPI_SUM); });
  const std::string color = std::to_string(rank / 3);
  by_all_faces(
      fill, [&](const char* face) { EXPECT_EQ(before, up_to(mine) - up_to(rank / 3 * 3)) << face; },
      [&] { chain.segmented_scan(color, in, buffer_of(before), MPI_SUM); },
      [&] { return chain.isegmented_scan(color, in, buffer_of(before), MPI_SUM); },
      [&] { return chain.segmented_scan_init(color, in, buffer_of(before), MPI_SUM); });
  by_all_faces(
      fill,
      [&](const char* face) {
        EXPECT_EQ(before, rank % 3 == 0 ? -1 : up_to(rank) - up_to(rank / 3 * 3)) << face;
      },
      [&] { chain.segmented_exscan(rank / 3, in, buffer_of(before), MPI_SUM); },
      [&] { return chain.isegmented_exscan(rank / 3, in, buffer_of(before), MPI_SUM); },
      [&] { return chain.segmented_exscan_init(rank / 3, in, buffer_of(before), MPI_SUM); });
}

TEST(MpiChainTest, WhatStaysAsItIsMayBeNowhere) {
  const Chain chain = shuffled(3);
  const int rank = chain.rank();
  const int last = chain.size() - 1;
  const ConstBuffer in = buffer_of(rank);
  int before = -1;
  int after = -1;
  const Buffer to_before = rank == 0 ? Buffer() : Buffer(buffer_of(before));
  const Buffer to_after = rank == last ? Buffer(nullptr, 1, MPI_INT) : Buffer(buffer_of(after));
  const auto check = [&](const char* call) {
    EXPECT_EQ(before, rank == 0 ? -1 : rank - 1) << call;
    before = -1;
  };
  chain.exscan(in, to_before, MPI_MAX);
  check("exscan");
  chain.segmented_exscan("one", in, to_before, MPI_MAX);
  check("segmented_exscan");
  chain.double_exscan(in, to_before, to_after, MPI_MAX);
  check("double_exscan");
  EXPECT_EQ(after, rank == last ? -1 : last);
}

TEST(MpiChainTest, EveryRootGathersScattersReducesAndBroadcasts) {
  const Chain chain = shuffled(2);
  const int rank = chain.rank();
  const auto size = static_cast<std::size_t>(chain.size());
  // Small messages and ones that need the receiver.
  for (const std::size_t count : {std::size_t{2}, std::size_t{5000}}) {
    for (int root = 0; root < chain.size(); ++root) {
      const std::vector<int> own(count, rank);
      std::vector<int> data(count);
      std::vector<int> all(rank == root ? count * size : 0);
      by_all_faces([&] { std::fill(all.begin(), all.end(), -1); },
                   [&](const char* face) {
                     for (std::size_t i = 0; i < all.size(); ++i) {
                       ASSERT_EQ(all[i], static_cast<int>(i / count)) << face;
                     }
                   },
                   [&] { chain.gather(own, all, root); }, [&] { return chain.igather(own, all, root); },
                   [&] { return chain.gather_init(own, all, root); });
      const auto refill = [&](int value) {
        return [&, value] { std::fill(data.begin(), data.end(), value); };
      };
      const auto expect = [&](int value) {
        return [&, value](const char* face) { EXPECT_EQ(data, std::vector<int>(count, value)) << face; };
      };
      by_all_faces(
          refill(-1), expect(rank), [&] { chain.scatter(all, data, root); },
          [&] { return chain.iscatter(all, data, root); },
          [&] { return chain.scatter_init(all, data, root); });
      by_all_faces(
          refill(rank), expect(root), [&] { chain.bcast(data, root); },
          [&] { return chain.ibcast(data, root); }, [&] { return chain.bcast_init(data, root); });
      const int sum = chain.size() * (chain.size() - 1) / 2;
      by_all_faces(
          refill(-1), expect(rank == root ? sum : -1), [&] { chain.reduce(own, data, MPI_SUM, root); },
          [&] { return chain.ireduce(own, data, MPI_SUM, root); },
          [&] { return chain.reduce_init(own, data, MPI_SUM, root); });
    }
  }
}

TEST(MpiChainTest, AllgatherAndBarrier) {
  const Chain chain = shuffled(3);
  const std::vector<int> own(3, chain.rank());
  std::vector<int> all(3 * static_cast<std::size_t>(chain.size()));
  by_all_faces([&] { std::fill(all.begin(), all.end(), -1); },
               [&](const char* face) {
                 for (std::size_t i = 0; i < all.size(); ++i)
                   EXPECT_EQ(all[i], static_cast<int>(i / 3)) << face;
               },
               [&] { chain.allgather(own, all); }, [&] { return chain.iallgather(own, all); },
               [&] { return chain.allgather_init(own, all); });
  by_all_faces([] {}, [](const char*) {}, [&] { chain.barrier(); }, [&] { return chain.ibarrier(); },
               [&] { return chain.barrier_init(); });
}

TEST(MpiChainTest, AChainOfARangeAndItsCommunicator) {
  const Comm comm = world();
  const int last = comm.size() - 1;
  const Chain odd(comm, 0, last, 2);
  if (odd.empty()) {
    EXPECT_EQ(comm.rank() % 2, 1);
    EXPECT_EQ(odd.rank(), MPI_UNDEFINED);
    return;
  }
  EXPECT_EQ(odd.address(), comm.rank());
  EXPECT_EQ(odd.right(), comm.rank() + 2 <= last ? comm.rank() + 2 : MPI_PROC_NULL);
  Comm made;
  Request request = odd.ito_comm(made);
  request.wait();
  EXPECT_EQ(made.size(), odd.size());
  int heard = -1;
  made.sendrecv(buffer_of(odd.rank()), (odd.rank() + 1) % odd.size(), 0, buffer_of(heard),
                (odd.rank() + odd.size() - 1) % odd.size(), 0);
  EXPECT_EQ(heard, (odd.rank() + odd.size() - 1) % odd.size());
  std::vector<int> ranks(static_cast<std::size_t>(made.size()));
  made.allgather(buffer_of(odd.rank()), ranks);
  for (int r = 0; r < made.size(); ++r) EXPECT_EQ(ranks[static_cast<std::size_t>(r)], r);
  MPI_Comm mpi = odd.to_comm().to_mpi();
  int size = 0;
  MPI_Comm_size(mpi, &size);
  EXPECT_EQ(size, odd.size());
  MPI_Comm_free(&mpi);
}

TEST(MpiChainTest, ChainsCanBeMadeWithoutEnd) {
  // Each has a code of its own, which is free again when the chain is dropped.
  for (int k = 0; k < 1500; ++k) {
    const Chain chain = split(world(), 0);
    ASSERT_EQ(chain.size(), world().size());
  }
}

TEST(MpiChainTest, TooManyChainsAtOnceAreAnError) {
  std::vector<Chain> chains;
  try {
    for (int k = 0; k < 5000; ++k) chains.push_back(split(Chain(world(), world().rank(), world().rank()), 0));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("chains and communicators of `create_group`, `icreate`, `split` and `to_comm` are alive"),
        std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace wisp
