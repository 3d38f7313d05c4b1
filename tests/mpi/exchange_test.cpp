// All-to-alls and exchanges on real ranks, beside MPI's own result or what all ranks can compute.

#include "wisp/exchange.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "exchanges.hpp"
#include "wisp/collectives.hpp"
#include "world.hpp"

namespace wisp {
namespace {

using test::check_alltoallv;
using test::check_exchange;
using test::Sizes;
using test::world;

constexpr Sizes all_sizes[] = {Sizes::small, Sizes::mixed, Sizes::large, Sizes::few};

TEST(ExchangeMpiTest, AlltoallvOfAllSizes) {
  const Comm comm = world();
  for (const Sizes sizes : all_sizes) {
    for (const std::string_view algorithm : algorithms_of("alltoallv")) {
      comm.run(check_alltoallv(comm, 11, sizes, algorithm));
    }
  }
}

TEST(ExchangeMpiTest, OnCommunicatorsOfAllKinds) {
  const Comm comm = world();
  const Comm attached = Comm::attach(MPI_COMM_WORLD);
  const int half = comm.size() / 2;
  const bool is_low = comm.rank() < half;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const Sizes sizes : all_sizes) {
      for (const std::string_view algorithm : algorithms_of("exchange")) {
        const CollectiveOptions options{.algorithm = algorithm};
        comm.run(check_exchange(comm, seed, sizes, options));
        comm.run(check_exchange(comm, seed, sizes, {.own_tag = 5, .algorithm = algorithm}));
        const Comm part = comm.range(is_low ? 0 : half, is_low ? half - 1 : comm.size() - 1);
        part.run(check_exchange(part, seed, sizes, options));
        attached.run(check_exchange(attached, seed, sizes, options));
        attached.raw().run(check_exchange(attached.raw(), seed, sizes, options));
      }
    }
  }
}

TEST(ExchangeMpiTest, NonblockingAndPersistent) {
  const Comm comm = world();
  for (const std::string_view algorithm : algorithms_of("exchange")) {
    const CollectiveOptions options{.algorithm = algorithm};
    std::vector<test::Exchanged> given;
    std::vector<Arrivals> arrivals(4);
    for (std::uint64_t i = 0; i < 4; ++i) given.emplace_back(comm, i, Sizes::mixed);
    std::vector<Request> requests;
    for (std::size_t i = 0; i < 3; ++i) {
      requests.push_back(comm.iexchange(given[i].messages, arrivals[i], options));
    }
    Request persistent = comm.exchange_init(given[3].messages, arrivals[3], options);
    for (int run = 0; run < 5; ++run) {
      arrivals[3].clear();
      persistent.start();
      persistent.wait();
      test::check_arrivals(comm, 3, Sizes::mixed, arrivals[3]);
    }
    for (std::size_t i = 3; i-- > 0;) {
      requests[i].wait();
      test::check_arrivals(comm, i, Sizes::mixed, arrivals[i]);
    }
  }
}

TEST(ExchangeMpiTest, DerivedDatatypes) {
  const Comm comm = world();
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(50, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  std::vector<int> data(100, -1);
  for (int i = 0; i < 50; ++i) data[static_cast<std::size_t>(2 * i)] = 100 * comm.rank() + i;
  const int next = (comm.rank() + 1) % comm.size();
  const std::vector<Outgoing> messages{{next, {data.data(), 1, every_other}}};
  Arrivals arrivals;
  Request request = comm.iexchange(messages, arrivals);
  MPI_Type_free(&every_other);
  request.wait();
  ASSERT_EQ(arrivals.size(), 1U);
  const std::vector<int> found = arrivals[0].as<int>();
  ASSERT_EQ(found.size(), 50U);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(found[static_cast<std::size_t>(i)], 100 * ((comm.rank() + comm.size() - 1) % comm.size()) + i);
  }
}

}  // namespace
}  // namespace wisp
