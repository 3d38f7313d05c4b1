// What once went wrong, each test named after what broke.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "environment.hpp"
#include "wisp/chain.hpp"
#include "wisp/channel.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/simulate.hpp"
#include "wisp/split.hpp"
#include "wisp/status.hpp"
#include "wisp/torus.hpp"

namespace wisp {
namespace {

using test::cluster_of;
using test::error_of;

/// A datatype for the time of a test.
class OwnType {
 public:
  explicit OwnType(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  OwnType(const OwnType&) = delete;
  OwnType& operator=(const OwnType&) = delete;
  ~OwnType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

MPI_Datatype contiguous(int count) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, MPI_DOUBLE, &type);
  return type;
}

/// One double, and room for another.
MPI_Datatype with_gap() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &type);
  return type;
}

TEST(FaultsTest, ABroadcastCutsVectorsOfOneSignatureAndDifferentCountsAlike) {
  constexpr int count = 4 * 9 * 5;
  const OwnType few(contiguous(count / 4));
  const OwnType one(contiguous(count));
  const OwnType gaps(with_gap());
  for (const std::string_view algorithm : algorithms_of("bcast")) {
    for (const int p : {2, 3, 4, 7, 16}) {
      for (const int root : {0, p - 1}) {
        simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
          std::vector<double> data(2 * count, -1);
          // Four ways to say the same.
          const int way = (comm.rank() + root) % 4;
          const int step = way == 3 ? 2 : 1;
          const Buffer buffers[] = {{data.data(), count, MPI_DOUBLE},
                                    {data.data(), 1, one.get()},
                                    {data.data(), 4, few.get()},
                                    {data.data(), count, gaps.get()}};
          if (comm.rank() == root) {
            for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(step * i)] = 7.0 * i;
          }
          co_await bcast(comm, buffers[way], root, {.algorithm = algorithm});
          for (int i = 0; i < count; ++i) {
            EXPECT_EQ(data[static_cast<std::size_t>(step * i)], 7.0 * i) << algorithm << " " << p;
            if (step == 2) {
              EXPECT_EQ(data[static_cast<std::size_t>(2 * i + 1)], -1) << "a gap was written";
            }
          }
        });
        if (HasFailure()) return;
      }
    }
  }
}

TEST(FaultsTest, GroupsThatAreRangesAreMadeInAnyOrder) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(4, seed), [&](Comm world) -> Task<> {
      const std::vector<int> ranges[] = {{0, 1, 2}, {1, 2, 3}};
      Comm made[2];
      std::vector<Request> requests;
      // Ranks 1 and 2 are in both, and make them in different orders.
      for (int turn = 0; turn < 2; ++turn) {
        const int which = world.rank() == 2 ? 1 - turn : turn;
        const std::vector<int>& ranks = ranges[which];
        if (std::find(ranks.begin(), ranks.end(), world.rank()) == ranks.end()) continue;
        requests.push_back(world.icreate_group(ranks, which, made[which]));
      }
      for (Request& request : requests) co_await request;
      std::vector<int> sums = {0, 0};
      const std::vector<int> mine = {world.rank(), 100 * world.rank()};
      std::vector<Request> reductions;
      for (int turn = 0; turn < 2; ++turn) {
        const auto which = static_cast<std::size_t>(world.rank() == 1 ? 1 - turn : turn);
        if (!made[which].is_member()) continue;
        reductions.push_back(made[which].iallreduce(buffer_of(mine[which]), buffer_of(sums[which]), MPI_SUM));
      }
      for (Request& request : reductions) co_await request;
      if (made[0].is_member()) {
        EXPECT_EQ(sums[0], 3);
      }
      if (made[1].is_member()) {
        EXPECT_EQ(sums[1], 600);
      }
    });
    if (HasFailure()) return;
  }
}

TEST(FaultsTest, MorePersistentCollectivesThanTagsStartInAnyOrder) {
  constexpr std::size_t count = 200;
  SimulationOptions cluster = cluster_of(4, 3);
  cluster.tag_upper_bound = 32767;
  simulate(cluster, [&](Comm world) -> Task<> {
    const Comm half = world.range(world.rank() / 2 * 2, world.rank() / 2 * 2 + 1);
    for (const Comm& comm : {world, half}) {
      std::vector<int> values(count);
      std::vector<Request> requests;
      for (std::size_t i = 0; i < count; ++i) requests.push_back(comm.bcast_init(buffer_of(values[i]), 0));
      for (int run = 1; run <= 2; ++run) {
        for (std::size_t i = 0; i < count; ++i) {
          values[i] = comm.rank() == 0 ? run * static_cast<int>(i) : -1;
        }
        for (std::size_t i = 0; i < count; ++i) {
          requests[comm.rank() % 2 == 0 ? i : count - 1 - i].start();  // an order of each rank's own
        }
        for (Request& request : requests) co_await request;
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(values[i], run * static_cast<int>(i));
      }
    }
  });
}

TEST(FaultsTest, StridesOfRangesOfOneRankDoNotMultiply) {
  simulate(cluster_of(3, 0), [](Comm world) -> Task<> {
    Comm one = world.range(world.rank(), world.rank());
    for (int again = 0; again < 100; ++again) one = one.range(0, 0, 1 << 20);
    int value = 5;
    co_await allreduce(one, in_place(), buffer_of(value), MPI_SUM);
    EXPECT_EQ(value, 5);
  });
}

TEST(FaultsTest, ANullBufferWithACountIsAnErrorBeforeAnyMessage) {
  const auto error = [](auto operation) {
    return error_of(2, [operation](Comm comm) -> Task<> { co_await operation(comm); });
  };
  EXPECT_EQ(error([](Comm comm) { return bcast(comm, Buffer(nullptr, 100, MPI_INT), 0); }),
            "wisp::bcast: buffer is null, but has 100 elements");
  EXPECT_EQ(error([](Comm comm) { return send(comm, ConstBuffer(nullptr, 100, MPI_INT), 1, 0); }),
            "wisp::send: the buffer is null, but has 100 elements");
  EXPECT_EQ(error([](Comm comm) { return bcast(comm, Buffer(nullptr, 0, MPI_INT), 0); }), "none");
}

TEST(FaultsTest, CountsAndPlacesBeyondAllMemoryAreErrors) {
  int value = 0;
  const auto error = [](auto operation) {
    return error_of(4, [operation](Comm comm) -> Task<> { co_await operation(comm); });
  };
  constexpr std::size_t huge = std::size_t{1} << 62;  // times four ranks it is 0
  EXPECT_EQ(error([&](Comm comm) {
              return allgather(comm, Buffer(&value, huge, MPI_CHAR), Buffer(&value, 0, MPI_CHAR));
            }),
            "wisp::allgather: send has 4611686018427387904 elements of 1 bytes, more than memory can hold");
  const std::vector<std::int64_t> counts(4, 1), displacements(4, INT64_MIN);
  EXPECT_EQ(
      error([&](Comm comm) {
        return allgatherv(comm, buffer_of(value), {&value, counts, displacements, MPI_INT});
      }),
      "wisp::allgatherv: displacement -9223372036854775808 of block 0 of receive is further than memory "
      "reaches");
  MPI_Datatype large = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &large);
  MPI_Type_commit(&large);
  EXPECT_EQ(error([&](Comm comm) { return bcast(comm, Buffer(&value, std::size_t{1} << 31, large), 0); }),
            "wisp::bcast: buffer has 2147483648 elements of 8589934592 bytes, more than memory can hold");
  MPI_Type_free(&large);
  EXPECT_THROW(Strided<int>(&value, 2, std::ptrdiff_t{1} << 62), Error);
}

TEST(FaultsTest, AnErrorNamesTheSideOfACallThatIsWrong) {
  std::vector<int> x(3), y(3), z(2);
  const auto error = [](auto operation) {
    return error_of(3, [operation](Comm comm) -> Task<> { co_await operation(comm); });
  };
  EXPECT_EQ(error([&](Comm comm) { return sendrecv(comm, x, 1, -1, y, 1, 0); }).substr(0, 29),
            "wisp::sendrecv: send_tag = -1");
  EXPECT_EQ(error([&](Comm comm) { return sendrecv(comm, x, 1, 0, y, 1, -7); }).substr(0, 32),
            "wisp::sendrecv: receive_tag = -7");
  EXPECT_EQ(error([&](Comm comm) {
              return sendrecv(comm, {nullptr, 2, MPI_INT}, 1, 0, y, 1, 0);
            }),
            "wisp::sendrecv: the buffer to send is null, but has 2 elements");
  EXPECT_EQ(error([&](Comm comm) {
              return sendrecv(comm, x, 1, 0, {&y, 3, MPI_DATATYPE_NULL}, 1, 0);
            }),
            "wisp::sendrecv: the datatype to receive = MPI_DATATYPE_NULL");
  EXPECT_EQ(error([&](Comm comm) { return scan_and_bcast(comm, x, y, z, MPI_SUM); }),
            "wisp::scan_and_bcast: send has 3 elements, but total has 2");
  EXPECT_EQ(error([&](Comm comm) { return scan_and_bcast(comm, x, y, y, MPI_SUM); }),
            "wisp::scan_and_bcast: scan and total are one buffer");
  EXPECT_EQ(error([&](Comm comm) { return double_scan(Chain(comm), x, z, y, MPI_SUM); }),
            "wisp::Chain::double_scan: send has 3 elements, but before has 2");
  EXPECT_EQ(error([&](Comm comm) { return double_scan(Chain(comm), x, y, y, MPI_SUM); }),
            "wisp::Chain::double_scan: before and after are one buffer");
}

TEST(FaultsTest, WhatIsNothingIsAnErrorThatSaysSo) {
  const auto error = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& wrong) {
      return wrong.what();
    }
    return "none";
  };
  EXPECT_EQ(error([] { return simulate({.ranks = 2}, {}); }), "wisp::simulate: program is an empty function");
  EXPECT_EQ(error([] { return Status().count(MPI_DATATYPE_NULL); }),
            "wisp::Status::count: type = MPI_DATATYPE_NULL");
  EXPECT_EQ(error([] { return Label(Label::Kind::signed_numbers, nullptr, 2, 4); }),
            "wisp::Label: data is null for 2 numbers");
  EXPECT_NE(error([] { return Torus({2, 3}).shifts(0, Offsets({{1}, {2}})); }), "none");
}

/// Collectives compare what the ranks call for as long as this lives.
struct Checks : test::Environment {
  Checks() : Environment{{"WISP_CHECK", "1"}} {}
};

TEST(FaultsTest, WithChecksTypesByPrecisionAreComparedAndStay) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real) != MPI_SUCCESS) GTEST_SKIP() << "no Fortran";
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, real, &pair);
  MPI_Type_commit(&pair);
  const Checks on;
  for (int i = 0; i < 20; ++i) {
    simulate(cluster_of(5, i), [&](Comm comm) -> Task<> {
      for (const MPI_Datatype type : {real, pair}) {
        std::vector<double> data(8, comm.rank());
        const std::size_t count = type == real ? 8 : 4;
        co_await bcast(comm, Buffer(data.data(), count, type), 3);
        EXPECT_EQ(data, std::vector<double>(8, 3));
        Request later = comm.ibcast(Buffer(data.data(), count, type), 1);
        co_await later;
        // Those whose elements nobody knows are alike with all of the same bytes.
        co_await bcast(comm, comm.rank() == 2 ? Buffer(data.data(), count, type) : Buffer(data), 0);
      }
    });
  }
  MPI_Type_free(&pair);
}

TEST(FaultsTest, WithChecksDifferentCallsAreErrorsThatNameTheDifference) {
  const Checks on;
  const auto error = [](auto operation) {
    return error_of(5, [operation](Comm comm) -> Task<> {
      std::vector<int> data(10), more(50);
      co_await operation(comm, data, more);
    });
  };
  using Data = std::vector<int>&;
  EXPECT_EQ(error([](Comm c, Data data, Data) { return bcast(c, data, c.rank() == 3 ? 1 : 0); }),
            "wisp::bcast: root = 1 on rank 3, but 0 on rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data) {
              return bcast(c, Buffer(data.data(), c.rank() == 2 ? 3 : 4, MPI_INT), 0);
            }),
            "wisp::bcast: bytes = 12 on rank 2, but 16 on rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data) {
              return c.rank() == 4 ? bcast(c, data, 0) : allreduce(c, in_place(), data, MPI_SUM);
            }),
            "wisp::allreduce: rank 4 calls wisp::bcast where rank 0 calls wisp::allreduce");
  EXPECT_EQ(error([](Comm c, Data data, Data) {
              return allreduce(c, in_place(), data, c.rank() == 1 ? MPI_MAX : MPI_SUM);
            }),
            "wisp::allreduce: the operator of rank 1 is not that of rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data) {
              CollectiveOptions options;
              options.algorithm = c.rank() == 2 ? "binomial" : "circulant";
              return bcast(c, data, 0, options);
            }),
            "wisp::bcast: algorithm = binomial on rank 2, but circulant on rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data) {
              CollectiveOptions options;
              options.reproducible = c.rank() == 1;
              if (c.rank() != 1) options.algorithm = "circulant";
              return allreduce(c, in_place(), data, MPI_SUM, options);
            }),
            "wisp::allreduce: algorithm = fixed_order on rank 1, but circulant on rank 0");
  const auto floats = [](Data ints, bool instead) {
    return Buffer(ints.data(), ints.size(), instead ? MPI_FLOAT : MPI_INT);
  };
  EXPECT_EQ(
      error([=](Comm c, Data data, Data) { return alltoall(c, in_place(), floats(data, c.rank() == 2)); }),
      "wisp::alltoall: the datatype of rank 2 has other elements than that of rank 0");
  EXPECT_EQ(error([=](Comm c, Data data, Data more) -> Task<> {
              const std::vector<int> counts(5, 10), displacements{0, 10, 20, 30, 40};
              const bool instead = c.rank() == 2;
              co_await allgatherv(c, floats(data, instead),
                                  {more.data(), counts, displacements, instead ? MPI_FLOAT : MPI_INT});
            }),
            "wisp::allgatherv: the datatype of rank 2 has other elements than that of rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data more) { return gather(c, data, more, c.rank() == 1 ? 1 : 0); }),
            "wisp::gather: root = 1 on rank 1, but 0 on rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data more) { return allgather(c, data, more); }), "none");
  EXPECT_EQ(error([](Comm c, Data, Data) { return barrier(c); }), "none");
  // The same on chains.
  EXPECT_EQ(error([](Comm c, Data data, Data) { return bcast(Chain(c), data, c.rank() == 3 ? 1 : 0); }),
            "wisp::Chain::bcast: root = 1 on rank 3, but 0 on rank 0");
  EXPECT_EQ(error([](Comm c, Data data, Data) {
              const Chain chain(c);
              return c.rank() == 4 ? bcast(chain, data, 0) : allreduce(chain, in_place(), data, MPI_SUM);
            }),
            "wisp::Chain::allreduce: rank 4 calls wisp::Chain::bcast where rank 0 calls "
            "wisp::Chain::allreduce");
  EXPECT_EQ(error([](Comm c, Data data, Data more) { return gather(Chain(c), data, more, 2); }), "none");
}

TEST(FaultsTest, WithChecksDifferentSplitsAreErrorsThatNameTheDifference) {
  const Checks on;
  const auto error = [](const Label& color_of_2, const Label& key_of_2, const SplitOptions& options_of_2) {
    return error_of(5, [=](Comm comm) -> Task<> {
      // GCC 12 destroys what stands on either side of a ?: in a co_await.
      Label color(7), key;
      SplitOptions options;
      if (comm.rank() == 2) {
        color = color_of_2;
        key = key_of_2;
        options = options_of_2;
      }
      const Chain part = co_await async_split(Chain(comm), color, {}, key, {}, options);
      EXPECT_EQ(part.size(), 5);
    });
  };
  EXPECT_EQ(error(7, {}, {}), "none");
  EXPECT_EQ(error(7u, {}, {}),
            "wisp::split: color is 4 bytes of unsigned numbers on rank 2, but 4 bytes of signed numbers on "
            "rank 0");
  EXPECT_EQ(error("seven", {}, {}),
            "wisp::split: color is text on rank 2, but 4 bytes of signed numbers on rank 0");
  EXPECT_EQ(error({}, {}, {}),
            "wisp::split: color is not given on rank 2, but 4 bytes of signed numbers on rank 0");
  EXPECT_EQ(error(7, 1.5, {}),
            "wisp::split: key is 8 bytes of floating-point numbers on rank 2, but not given on rank 0");
  EXPECT_EQ(error(7, {}, {.algorithm = "radix"}).find("wisp::split: algorithm = radix on rank 2, but "), 0U);
  // Left out is alike; what else is called is not.
  EXPECT_EQ(error_of(5,
                     [](Comm comm) -> Task<> {
                       const auto color = comm.rank() == 2 ? std::optional<int>() : std::optional<int>(7);
                       const Chain part = co_await async_split(Chain(comm), color);
                       EXPECT_EQ(part.empty(), comm.rank() == 2);
                     }),
            "none");
  EXPECT_EQ(error_of(5,
                     [](Comm comm) -> Task<> {
                       const Chain chain(comm);
                       if (comm.rank() == 1) {
                         co_await barrier(chain);
                       } else {
                         co_await async_split(chain, 7);
                       }
                     }),
            "wisp::split: rank 1 calls wisp::Chain::barrier where rank 0 calls wisp::split");
}

void sum_downwards(void* in, void* out, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(out)[-i] += static_cast<int*>(in)[-i];
}

TEST(FaultsTest, ElementsMayLieDownwards) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, -static_cast<MPI_Aint>(sizeof(int)), &type);
  const OwnType downwards(type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(sum_downwards, 1, &op);
  for (const std::string_view algorithm : algorithms_of("reduce")) {
    simulate(cluster_of(5, 1), [&](Comm comm) -> Task<> {
      std::vector<int> mine = {1, 2, 3}, sums(3);
      co_await reduce(comm, ConstBuffer(&mine[2], 3, downwards.get()), Buffer(&sums[2], 3, downwards.get()),
                      op, 0, {.algorithm = algorithm});
      if (comm.rank() == 0) {
        EXPECT_EQ(sums, (std::vector<int>{5, 10, 15})) << algorithm;
      }
    });
  }
  MPI_Op_free(&op);
}

TEST(FaultsTest, VectorsOfTheThousandthDatatypeArriveWhole) {
  std::deque<OwnType> types;
  for (int i = 0; i < 1500; ++i) types.emplace_back(contiguous(1 + i % 3));
  for (std::size_t i = 0; i < types.size(); i += 50) {
    simulate(cluster_of(2, 1), [&](Comm comm) -> Task<> {
      constexpr int count = 7;
      const std::size_t doubles = count * (1 + i % 3);
      std::vector<double> data(doubles, comm.rank() == 0 ? 1.5 : 0);
      co_await bcast(comm, Buffer(data.data(), count, types[i].get()), 0);
      EXPECT_EQ(data, std::vector<double>(doubles, 1.5)) << "datatype " << i;
    });
  }
}

TEST(FaultsTest, ALargeMessageOfAnAttachedCommunicatorMayWaitLong) {
  SimulationOptions cluster = cluster_of(2, 1);
  cluster.tag_upper_bound = 32767;
  cluster.attached = true;
  simulate(cluster, [](Comm comm) -> Task<> {
    const std::vector<int> first(3000, -7);
    std::vector<int> data(first.size());
    Request sent;
    if (comm.rank() == 0) sent = comm.isend(first, 1, 1);
    for (int i = 0; i < 200; ++i) {  // a communicator has 64 tags
      std::ranges::fill(data, comm.rank() == 0 ? i : -1);
      if (comm.rank() == 0) {
        co_await send(comm, data, 1, 2);
      } else {
        co_await receive(comm, data, 0, 2);
        EXPECT_EQ(data, std::vector<int>(data.size(), i));
      }
    }
    if (comm.rank() == 0) {
      co_await sent;
    } else {
      co_await receive(comm, data, any_source, any_tag);
      EXPECT_EQ(data, first);
    }
  });
}

TEST(FaultsTest, AMessageMayEndWithinAnElement) {
  const OwnType three(contiguous(3));
  for (const bool attached : {false, true}) {
    for (const std::size_t count : {1u, 2u, 4u, 800u}) {
      SimulationOptions cluster = cluster_of(2, 1);
      cluster.attached = attached;
      simulate(cluster, [&](Comm comm) -> Task<> {
        if (comm.rank() == 0) {
          const std::vector<double> data(count, 2.5);
          co_await send(comm, data, 1, 0);
          co_return;
        }
        std::vector<double> data(900, -1), expected = data;
        std::ranges::fill_n(expected.begin(), static_cast<std::ptrdiff_t>(count), 2.5);
        co_await receive(comm, Buffer(data.data(), 300, three.get()), 0, 0);
        EXPECT_EQ(data, expected) << count << (attached ? " attached" : "");
      });
    }
  }
}

TEST(FaultsTest, ASendThatIsDroppedBeforeItHasACodeArrives) {
  SimulationOptions cluster = cluster_of(2, 1);
  cluster.tag_upper_bound = 32767;
  for (const int sender : {0, 1}) {
    simulate(cluster, [&](Comm world) -> Task<> {
      for (int i = 0; i < 30; ++i) world.range(0, 1);  // all codes that take no message
      const Comm comm = world.range(0, 1);
      const Channel channel = comm.channel("test");
      if (comm.rank() == sender) {
        std::vector<int> data = {1, 2, 3};
        { const Posted dropped = channel.post_send(data, 1 - sender); }
        std::ranges::fill(data, 7);  // nobody reads it any more
      } else {
        std::vector<int> data(3);
        co_await channel.post_receive(data, sender);
        EXPECT_EQ(data, (std::vector<int>{1, 2, 3}));
      }
      int other = comm.rank();
      co_await allreduce(comm, in_place(), buffer_of(other), MPI_SUM);
      EXPECT_EQ(other, 1);
    });
  }
}

}  // namespace
}  // namespace wisp
