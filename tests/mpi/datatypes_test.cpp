// Datatypes that MPI allows and few use: with addresses, of large counts, freed while they are used, never
// committed, gone.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "wisp/neighborhood.hpp"
#include "world.hpp"

namespace wisp {
namespace {

using test::world;

TEST(DatatypesMpiTest, ADatatypeWithAddressesNeedsNone) {
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

#if MPI_VERSION >= 4
TEST(DatatypesMpiTest, ADatatypeOfLargeCountsIsOneLikeOthers) {
  const Comm comm = world();
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  std::array<int, 6> values{};
  if (comm.rank() == 0) values = {1, 2, 3, 4, 5, 6};
  comm.bcast(Buffer(values.data(), 2, three), 0);
  EXPECT_EQ(values, (std::array<int, 6>{1, 2, 3, 4, 5, 6}));
  if (comm.rank() > 0) values = {};
  comm.ibcast(Buffer(values.data(), 2, three), 0).wait();
  EXPECT_EQ(values, (std::array<int, 6>{1, 2, 3, 4, 5, 6}));
  MPI_Type_free(&three);
}
#endif

TEST(DatatypesMpiTest, DatatypesWithAddressesWorkInEveryAlgorithm) {
  const Comm comm = world();
  const int p = comm.size();
  std::vector<int> mine(static_cast<std::size_t>(p));
  std::vector<int> theirs(mine.size());
  const auto integers_of = [](const std::vector<int>& vector) {
    MPI_Aint address = 0;
    MPI_Get_address(vector.data(), &address);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(1, 1, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
  };
  MPI_Datatype sent = integers_of(mine);
  MPI_Datatype received = integers_of(theirs);
  const auto n = static_cast<std::size_t>(p);
  for (const std::string_view call : {"gather", "scatter", "allgather", "alltoall"}) {
    for (const std::string_view name : algorithms_of(call)) {
      const CollectiveOptions options{.algorithm = name};
      for (int r = 0; r < p; ++r) mine[static_cast<std::size_t>(r)] = comm.rank() * p + r;
      theirs.assign(n, -1);
      const ConstBuffer all(MPI_BOTTOM, n, sent);
      const ConstBuffer one(MPI_BOTTOM, 1, sent);
      if (call == "gather") comm.gather(one, Buffer(MPI_BOTTOM, n, received), p - 1, options);
      if (call == "scatter") comm.scatter(all, Buffer(MPI_BOTTOM, 1, received), p - 1, options);
      if (call == "allgather") comm.allgather(one, Buffer(MPI_BOTTOM, n, received), options);
      if (call == "alltoall") comm.alltoall(all, Buffer(MPI_BOTTOM, n, received), options);
      for (int r = 0; r < p; ++r) {
        const int of_rank = call == "alltoall" ? r * p + comm.rank() : r * p;
        const int expected = call == "scatter" ? (r == 0 ? (p - 1) * p + comm.rank() : -1)
                             : call == "gather" && comm.rank() != p - 1 ? -1
                                                                        : of_rank;
        EXPECT_EQ(theirs[static_cast<std::size_t>(r)], expected) << call << ' ' << name;
      }
    }
  }
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
}

MPI_Aint place_of_operand = 0;

/// Knows where the data of the datatype are, as functions for such datatypes may.
void add_at_place(void* in, void* inout, int*, MPI_Datatype*) {
  const auto at_place = [](void* vector) {
    return reinterpret_cast<int*>(reinterpret_cast<std::intptr_t>(vector) + place_of_operand);
  };
  *at_place(inout) += *at_place(in);
}

TEST(DatatypesMpiTest, OperandsBehindMpiBottomAreJoinedByEveryAlgorithm) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "for such datatypes, pointers are outside of their memory";
#endif
  const Comm comm = world();
  const int p = comm.size();
  int value = 0;
  MPI_Get_address(&value, &place_of_operand);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(1, 1, &place_of_operand, MPI_INT, &type);
  MPI_Type_commit(&type);
  const Buffer here(MPI_BOTTOM, 1, type);
  const int below = comm.rank() * (comm.rank() + 1) / 2;
  const auto expect = [&](std::string_view call, std::string_view name, int expected) {
    EXPECT_EQ(value, expected) << call << ' ' << name;
    value = comm.rank() + 1;
  };
  value = comm.rank() + 1;
  for (const int commutes : {0, 1}) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(add_at_place, commutes, &op);
    for (const std::string_view name : algorithms_of("scan")) {
      comm.scan(in_place(), here, op, {.algorithm = name});
      expect("scan", name, below + comm.rank() + 1);
    }
    for (const std::string_view name : algorithms_of("exscan")) {
      comm.exscan(in_place(), here, op, {.algorithm = name});
      expect("exscan", name, comm.rank() == 0 ? 1 : below);
    }
    const auto joins_so = [&](std::string_view name) {
      return commutes == 1 || (name != "circulant" && name != "lanes");
    };
    for (const std::string_view name : algorithms_of("allreduce")) {
      if (!joins_so(name)) continue;
      comm.allreduce(in_place(), here, op, {.algorithm = name});
      expect("allreduce", name, p * (p + 1) / 2);
    }
    for (const std::string_view name : algorithms_of("reduce")) {
      if (!joins_so(name)) continue;
      const CollectiveOptions options{.algorithm = name};
      const bool is_root = comm.rank() == p - 1;
      comm.reduce(is_root ? in_place() : here, is_root ? here : Buffer(), op, p - 1, options);
      expect("reduce", name, is_root ? p * (p + 1) / 2 : comm.rank() + 1);
    }
    const Chain chain(comm);
    chain.scan(in_place(), here, op);
    expect("scan", "of a chain", below + comm.rank() + 1);
    chain.exscan(in_place(), here, op);
    expect("exscan", "of a chain", comm.rank() == 0 ? 1 : below);
    MPI_Op_free(&op);
  }
  MPI_Type_free(&type);
}

TEST(DatatypesMpiTest, ADatatypeIsFreedWhileAnOperationUsesIt) {
  const Comm comm = world();
  constexpr int count = 3000;
  const auto with_gaps = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(count, 1, 2, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
  };
  std::vector<int> data(2 * count, comm.rank() == 0 ? 7 : -1);
  std::vector<int> again = data;
  std::vector<int> of_task = data;
  MPI_Datatype type = with_gaps();
  Request once = comm.ibcast({data.data(), 1, type}, 0);
  Request persistent = comm.bcast_init({again.data(), 1, type}, 0);
  Request task = comm.start(bcast(comm, {of_task.data(), 1, type}, 0));
  MPI_Type_free(&type);
  std::vector<MPI_Datatype> others(20);  // whoever takes the place of the one that was freed
  for (MPI_Datatype& other : others) {
    MPI_Type_contiguous(3, MPI_DOUBLE, &other);
    MPI_Type_commit(&other);
  }
  once.wait();
  task.wait();
  for (int run = 0; run < 2; ++run) {
    persistent.start();
    persistent.wait();
  }
  for (MPI_Datatype& other : others) MPI_Type_free(&other);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(data[static_cast<std::size_t>(2 * i)], 7);
    EXPECT_EQ(of_task[static_cast<std::size_t>(2 * i)], 7);
    EXPECT_EQ(again[static_cast<std::size_t>(2 * i)], 7);
  }
}

/// MPI_COMM_SELF, whose handler ends the program, has nothing to do with it.
TEST(DatatypesMpiTest, ADatatypeThatWasNeverCommittedIsAnError) {
  const Comm self = world().range(world().rank(), world().rank());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  std::vector<int> from(64, 3), to(64);
  const ConstBuffer send(from.data(), 3, type);
  const Buffer receive(to.data(), 3, type);
  Arrivals arrivals;
  const std::vector<Outgoing> messages{{0, send}};
  EXPECT_THROW(self.exchange(messages, arrivals), Error);
  EXPECT_THROW(self.sendrecv(send, 0, 0, receive, 0, 0), Error);
  EXPECT_THROW(self.gather(send, receive, 0), Error);
  EXPECT_THROW(self.alltoall({from.data(), 1, type}, {to.data(), 1, type}), Error);
  const Neighborhood neighbors(self, Stencil(Torus({1, 1}), moore(2, 1)));
  for (const std::string_view algorithm : schedule_names()) {
    for (const NeighborCopying copying : {NeighborCopying::pack, NeighborCopying::datatypes}) {
      EXPECT_THROW(neighbors.neighbor_alltoall({from.data(), 1, type}, {to.data(), 1, type},
                                               {.algorithm = algorithm, .copying = copying}),
                   Error)
          << algorithm;
    }
  }
  MPI_Type_free(&type);
  int sum = 1;
  world().allreduce(in_place(), buffer_of(sum), MPI_SUM);
  EXPECT_EQ(sum, world().size());
}

/// What only the root's arguments say may be anything elsewhere.
TEST(DatatypesMpiTest, ADatatypeThatOnlyTheRootLooksAtMayBeGone) {
  const Comm& comm = world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const bool is_root = comm.rank() == 0;
  MPI_Datatype gone = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &gone);
  MPI_Type_commit(&gone);
  const MPI_Datatype freed = gone;
  MPI_Type_free(&gone);

  const int mine = 10 + comm.rank();
  const std::vector<int> counts(ranks, 1);
  std::vector<int> all(ranks), to_all(ranks, 7);
  int sum = -1, part = -1;
  const ConstBuffer own = buffer_of(mine);
  for (const MPI_Datatype type : {freed, MPI_DATATYPE_NULL}) {
    const Buffer nothing(nullptr, 0, type);
    const auto make = [&](std::string_view call, const CollectiveOptions& options) {
      if (call == "gather") return gather(comm, own, is_root ? Buffer(all) : nothing, 0, options);
      if (call == "gatherv") {
        return gatherv(comm, own, is_root ? Blocks(all, counts) : Blocks(nullptr, {}, {}, type), 0, options);
      }
      if (call == "reduce") {
        return reduce(comm, own, is_root ? buffer_of(sum) : nothing, MPI_SUM, 0, options);
      }
      if (call == "scatter") {
        return scatter(comm, is_root ? ConstBuffer(to_all) : ConstBuffer(nothing), buffer_of(part), 0,
                       options);
      }
      return scatterv(comm, is_root ? ConstBlocks(to_all, counts) : ConstBlocks(nullptr, {}, {}, type),
                      buffer_of(part), 0, options);
    };
    for (const std::string_view call : {"gather", "gatherv", "reduce", "scatter", "scatterv"}) {
      for (const std::string_view algorithm : algorithms_of(call)) {
        SCOPED_TRACE(std::string(call) + " " + std::string(algorithm));
        const CollectiveOptions options{.algorithm = algorithm};
        const auto expect_result = [&] {
          const int p = comm.size();
          const int result = call.starts_with("scatter") ? part : call == "reduce" ? sum : all.back();
          const int due = call.starts_with("scatter") ? 7
                          : call == "reduce"          ? 10 * p + p * (p - 1) / 2
                                                      : 9 + p;
          EXPECT_EQ(result, call.starts_with("scatter") || is_root ? due : -1);
          part = sum = -1;
          std::ranges::fill(all, -1);
        };
        std::ranges::fill(all, -1);
        make(call, options).run();
        expect_result();
        make(call, options).start().wait();
        expect_result();
        Request repeated = make(call, options).persistent();
        for (int time = 0; time < 2; ++time) {
          repeated.start();
          repeated.wait();
          expect_result();
        }
      }
    }
  }
}

}  // namespace
}  // namespace wisp
