// User buffers that the program cannot read (those of a GPU): all goes through MPI's calls.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "device_memory.hpp"
#include "wisp/chain.hpp"
#include "wisp/collectives.hpp"
#include "wisp/error.hpp"
#include "wisp/exchange.hpp"
#include "wisp/neighborhood.hpp"
#include "world.hpp"

namespace wisp::test {
namespace {

class DeviceTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!no_device.empty()) GTEST_SKIP() << no_device;
  }

  // The driver is loaded before wisp looks for it.
  const std::string no_device = why_no_device();
  const Comm comm = world();
  const int p = comm.size();
  const int rank = comm.rank();
  const std::size_t n = static_cast<std::size_t>(GetParam());
  const std::size_t ranks = static_cast<std::size_t>(p);

  Buffer buffer(const DeviceMemory& memory, std::size_t count) const {
    return {memory.address(), count, MPI_INT};
  }
  /// Element i of the block that `from` has for `to`.
  static int value(int from, int to, std::size_t i) {
    return 10000 * from + 100 * to + static_cast<int>(i % 97);
  }
  std::vector<int> block(int from, int to) const {
    std::vector<int> made(n);
    for (std::size_t i = 0; i < n; ++i) made[i] = value(from, to, i);
    return made;
  }
  template <class Of>
  std::vector<int> blocks(Of of) const {
    std::vector<int> all;
    for (int r = 0; r < p; ++r) {
      const std::vector<int> one = of(r);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  /// What was there is not what is expected.
  static void clear(const DeviceMemory& memory, std::size_t count) {
    memory.put(std::vector<int>(count, -1));
  }
  /// Of all algorithms that work here.
  template <class Run>
  void for_all(std::string_view operation, Run run) {
    for (const std::string_view algorithm : algorithms_of(operation)) {
      SCOPED_TRACE(algorithm);
      try {
        run(CollectiveOptions{.algorithm = algorithm});
      } catch (const Error& error) {
        ASSERT_NE(std::string_view(error.what()).find("does not work with"), std::string_view::npos)
            << error.what();
      }
    }
  }
};

TEST_P(DeviceTest, Bcast) {
  const DeviceMemory memory(n * sizeof(int));
  for_all("bcast", [&](const CollectiveOptions& options) {
    const int root = p - 1;
    memory.put(block(rank, 0));
    comm.bcast(buffer(memory, n), root, options);
    EXPECT_EQ(memory.get<int>(n), block(root, 0));
  });
}

TEST_P(DeviceTest, Reductions) {
  const DeviceMemory send(n * sizeof(int)), receive(n * sizeof(int));
  const auto sum_to = [&](int last) {
    std::vector<int> sum(n);
    for (int r = 0; r <= last; ++r) {
      for (std::size_t i = 0; i < n; ++i) sum[i] += value(r, 0, i);
    }
    return sum;
  };
  send.put(block(rank, 0));
  for_all("allreduce", [&](const CollectiveOptions& options) {
    clear(receive, n);
    comm.allreduce(buffer(send, n), buffer(receive, n), MPI_SUM, options);
    EXPECT_EQ(receive.get<int>(n), sum_to(p - 1));
    receive.put(block(rank, 0));
    comm.allreduce(in_place(), buffer(receive, n), MPI_SUM, options);
    EXPECT_EQ(receive.get<int>(n), sum_to(p - 1));
  });
  for_all("reduce", [&](const CollectiveOptions& options) {
    clear(receive, n);
    comm.reduce(buffer(send, n), buffer(receive, n), MPI_SUM, 0, options);
    if (rank == 0) {
      EXPECT_EQ(receive.get<int>(n), sum_to(p - 1));
    }
  });
  for_all("scan", [&](const CollectiveOptions& options) {
    clear(receive, n);
    comm.scan(buffer(send, n), buffer(receive, n), MPI_SUM, options);
    EXPECT_EQ(receive.get<int>(n), sum_to(rank));
  });
  for_all("exscan", [&](const CollectiveOptions& options) {
    clear(receive, n);
    comm.exscan(buffer(send, n), buffer(receive, n), MPI_SUM, options);
    if (rank > 0) {
      EXPECT_EQ(receive.get<int>(n), sum_to(rank - 1));
    }
  });
  const DeviceMemory all(n * ranks * sizeof(int));
  all.put(blocks([&](int to) { return block(rank, to); }));
  for_all("reduce_scatter", [&](const CollectiveOptions& options) {
    clear(receive, n);
    comm.reduce_scatter_block(buffer(all, n * ranks), buffer(receive, n), MPI_SUM, options);
    std::vector<int> sum(n);
    for (int r = 0; r < p; ++r) {
      for (std::size_t i = 0; i < n; ++i) sum[i] += value(r, rank, i);
    }
    EXPECT_EQ(receive.get<int>(n), sum);
  });
  // Rank r gets r more than n of them.
  std::vector<int> counts, numbers;
  for (int r = 0; r < p; ++r) {
    counts.push_back(static_cast<int>(n) + r);
    numbers.insert(numbers.end(), static_cast<std::size_t>(counts.back()), r);
  }
  const DeviceMemory irregular(numbers.size() * sizeof(int));
  const std::size_t own = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
  irregular.put(numbers);
  comm.reduce_scatter(in_place(), buffer(irregular, numbers.size()), counts, MPI_SUM);
  EXPECT_EQ(irregular.get<int>(own), std::vector<int>(own, rank * p));
}

TEST_P(DeviceTest, BlocksToAndFromARoot) {
  const DeviceMemory one(n * sizeof(int)), all(n * ranks * sizeof(int));
  const std::vector<int> counts(ranks, static_cast<int>(n));
  const int root = p / 2;
  for_all("gather", [&](const CollectiveOptions& options) {
    one.put(block(rank, 0));
    clear(all, n * ranks);
    comm.gather(buffer(one, n), buffer(all, n * ranks), root, options);
    if (rank == root) {
      EXPECT_EQ(all.get<int>(n * ranks), blocks([&](int r) { return block(r, 0); }));
    }
  });
  for_all("gatherv", [&](const CollectiveOptions& options) {
    all.put(std::vector<int>(n * ranks));
    comm.gatherv(buffer(one, n), {buffer(all, n * ranks), counts}, root, options);
    if (rank == root) {
      EXPECT_EQ(all.get<int>(n * ranks), blocks([&](int r) { return block(r, 0); }));
    }
  });
  for_all("scatter", [&](const CollectiveOptions& options) {
    all.put(blocks([&](int to) { return block(rank, to); }));
    clear(one, n);
    comm.scatter(buffer(all, n * ranks), buffer(one, n), root, options);
    EXPECT_EQ(one.get<int>(n), block(root, rank));
  });
  for_all("scatterv", [&](const CollectiveOptions& options) {
    one.put(std::vector<int>(n));
    comm.scatterv({buffer(all, n * ranks), counts}, buffer(one, n), root, options);
    EXPECT_EQ(one.get<int>(n), block(root, rank));
  });
}

TEST_P(DeviceTest, BlocksOfAllToAll) {
  const DeviceMemory one(n * sizeof(int)), send(n * ranks * sizeof(int)), receive(n * ranks * sizeof(int));
  const std::vector<int> counts(ranks, static_cast<int>(n));
  one.put(block(rank, 0));
  const auto gathered = blocks([&](int r) { return block(r, 0); });
  for_all("allgather", [&](const CollectiveOptions& options) {
    clear(receive, n * ranks);
    comm.allgather(buffer(one, n), buffer(receive, n * ranks), options);
    EXPECT_EQ(receive.get<int>(n * ranks), gathered);
  });
  for_all("allgatherv", [&](const CollectiveOptions& options) {
    receive.put(std::vector<int>(n * ranks));
    comm.allgatherv(buffer(one, n), {buffer(receive, n * ranks), counts}, options);
    EXPECT_EQ(receive.get<int>(n * ranks), gathered);
  });
  send.put(blocks([&](int to) { return block(rank, to); }));
  const auto exchanged = blocks([&](int from) { return block(from, rank); });
  for_all("alltoall", [&](const CollectiveOptions& options) {
    clear(receive, n * ranks);
    comm.alltoall(buffer(send, n * ranks), buffer(receive, n * ranks), options);
    EXPECT_EQ(receive.get<int>(n * ranks), exchanged);
    receive.put(blocks([&](int to) { return block(rank, to); }));
    comm.alltoall(in_place(), buffer(receive, n * ranks), options);
    EXPECT_EQ(receive.get<int>(n * ranks), exchanged);
  });
  for_all("alltoallv", [&](const CollectiveOptions& options) {
    receive.put(std::vector<int>(n * ranks));
    comm.alltoallv({buffer(send, n * ranks), counts}, {buffer(receive, n * ranks), counts}, options);
    EXPECT_EQ(receive.get<int>(n * ranks), exchanged);
  });
}

TEST_P(DeviceTest, DatatypesWithGaps) {
  if (n > 1000) return;  // an MPI may copy each element by itself
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
  MPI_Type_commit(&every_other);
  const DeviceMemory memory(2 * n * ranks * sizeof(int));
  std::vector<int> spread(2 * n * ranks, -1);
  for (std::size_t i = 0; i < n; ++i)
    spread[2 * (n * static_cast<std::size_t>(rank) + i)] = value(rank, 0, i);
  for_all("allgather", [&](const CollectiveOptions& options) {
    memory.put(spread);
    comm.allgather(in_place(), {memory.address(), n * ranks, every_other}, options);
    const std::vector<int> got = memory.get<int>(2 * n * ranks);
    for (std::size_t i = 0; i < n * ranks; ++i) {
      ASSERT_EQ(got[2 * i], value(static_cast<int>(i / n), 0, i % n));
      ASSERT_EQ(got[2 * i + 1], -1);
    }
  });
  MPI_Type_free(&every_other);
}

TEST_P(DeviceTest, MessagesAlsoOfAttachedCommunicators) {
  const DeviceMemory send(n * sizeof(int)), receive(n * sizeof(int));
  const std::vector<int> before = block((rank + p - 1) % p, 0);
  for (const Comm& on : {comm, comm.raw(), Comm::attach(MPI_COMM_WORLD)}) {
    send.put(block(rank, 0));
    receive.put(std::vector<int>(n));
    on.sendrecv(buffer(send, n), (rank + 1) % p, 3, buffer(receive, n), (rank + p - 1) % p, 3);
    EXPECT_EQ(receive.get<int>(n), before);
    receive.put(std::vector<int>(n));
    Request sent = on.isend(buffer(send, n), (rank + 1) % p, 4);
    on.receive(buffer(receive, n), any_source, any_tag);
    sent.wait();
    EXPECT_EQ(receive.get<int>(n), before);
  }
}

TEST_P(DeviceTest, ChainsAndExchange) {
  const DeviceMemory send(n * sizeof(int)), receive(n * sizeof(int)), all(n * ranks * sizeof(int));
  const Chain chain(comm);
  send.put(block(rank, 0));
  chain.scan(buffer(send, n), buffer(receive, n), MPI_MAX);
  EXPECT_EQ(receive.get<int>(n), block(rank, 0));
  chain.allgather(buffer(send, n), buffer(all, n * ranks));
  EXPECT_EQ(all.get<int>(n * ranks), blocks([&](int r) { return block(r, 0); }));
  clear(all, n * ranks);
  chain.gather(buffer(send, n), buffer(all, n * ranks), 0);
  if (rank == 0) {
    EXPECT_EQ(all.get<int>(n * ranks), blocks([&](int r) { return block(r, 0); }));
  }
  chain.bcast(buffer(send, n), p - 1);
  EXPECT_EQ(send.get<int>(n), block(p - 1, 0));

  for (const std::string_view algorithm : {"grid", "consensus"}) {
    send.put(block(rank, 0));
    const std::vector<Outgoing> messages = {{(rank + 1) % p, buffer(send, n)}, {rank, buffer(send, n)}};
    Arrivals arrivals;
    comm.exchange(messages, arrivals, {.algorithm = algorithm});
    ASSERT_EQ(arrivals.size(), 2u);
    for (const Arrivals::Block& arrived : arrivals) {
      const std::vector<int> due = block(arrived.source, 0);
      ASSERT_EQ(arrived.bytes.size(), n * sizeof(int));
      EXPECT_EQ(std::memcmp(arrived.bytes.data(), due.data(), arrived.bytes.size()), 0);
    }
  }
}

TEST_P(DeviceTest, Neighborhoods) {
  const Neighborhood around(comm, Stencil(Torus({p}), {{-1}, {1}, {2}, {0}}));
  const DeviceMemory send(4 * n * sizeof(int)), receive(4 * n * sizeof(int));
  const auto torus = [&](int r) { return ((r % p) + p) % p; };
  std::vector<int> outgoing, expected;
  for (const int offset : {-1, 1, 2, 0}) {
    const std::vector<int> to = block(rank, offset + 3), from = block(torus(rank - offset), offset + 3);
    outgoing.insert(outgoing.end(), to.begin(), to.end());
    expected.insert(expected.end(), from.begin(), from.end());
  }
  send.put(outgoing);
  for (const std::string_view schedule : schedule_names()) {
    SCOPED_TRACE(schedule);
    receive.put(std::vector<int>(4 * n));
    around.neighbor_alltoall(buffer(send, 4 * n), buffer(receive, 4 * n), {.algorithm = schedule});
    EXPECT_EQ(receive.get<int>(4 * n), expected);
  }
}

TEST_P(DeviceTest, FunctionsOfTheProgramJoinCopiesOfThem) {
  const DeviceMemory send(n * sizeof(int)), receive(n * sizeof(int)), second(n * sizeof(int));
  const auto right = Operator::on<int>([](int, int higher) { return higher; });
  send.put(block(rank, 0));
  comm.allreduce(buffer(send, n), buffer(receive, n), right);
  EXPECT_EQ(receive.get<int>(n), block(p - 1, 0));
  const std::vector<int> untouched(n, -1);
  receive.put(untouched);
  comm.exscan(buffer(send, n), buffer(receive, n), right);
  EXPECT_EQ(receive.get<int>(n), rank == 0 ? untouched : block(rank - 1, 0));
  comm.scan_and_bcast(buffer(send, n), buffer(receive, n), buffer(second, n), right);
  EXPECT_EQ(receive.get<int>(n), block(rank, 0));
  EXPECT_EQ(second.get<int>(n), block(p - 1, 0));
  second.put(untouched);
  Chain(comm).double_exscan(buffer(send, n), buffer(receive, n), buffer(second, n), right);
  if (rank > 0) {
    EXPECT_EQ(receive.get<int>(n), block(rank - 1, 0));
  }
  EXPECT_EQ(second.get<int>(n), rank == p - 1 ? untouched : block(p - 1, 0));
}

TEST_P(DeviceTest, PersistentReductionsReadWhatIsThereAtEachStart) {
  const DeviceMemory send(n * sizeof(int));
  std::vector<int> on_host(n);
  Request sum = comm.allreduce_init(buffer(send, n), {on_host.data(), n, MPI_INT}, MPI_MAX);
  for (const int round : {3, 1}) {
    send.put(block(round, rank));
    sum.start();
    sum.wait();
    EXPECT_EQ(on_host, block(round, p - 1));
  }
}

/// Of neighborhoods, a rank's own block among them: wherever the address of all is.
TEST_P(DeviceTest, BlocksByTheirOwnAddresses) {
  const Neighborhood around(comm, Stencil(Torus({p}), {{1}, {0}}));
  const DeviceMemory send(n * sizeof(int)), receive(n * sizeof(int));
  std::vector<int> on_host = block(rank, 1);
  std::vector<int> own(n, -1);
  send.put(block(rank, 0));
  receive.put(std::vector<int>(n));
  const auto place = [](const void* address) {
    MPI_Aint at = 0;
    MPI_Get_address(address, &at);
    return static_cast<std::int64_t>(at);
  };
  const int count = static_cast<int>(n);
  const std::vector<int> counts = {count, count};
  const std::vector<MPI_Datatype> types = {MPI_INT, MPI_INT};
  // To the next rank from the device, to itself from the host; and the other way round.
  const std::vector<std::int64_t> from = {place(send.address()), place(on_host.data())};
  const std::vector<std::int64_t> to = {place(own.data()), place(receive.address())};
  for (const NeighborCopying copying :
       {NeighborCopying::by_size, NeighborCopying::pack, NeighborCopying::datatypes}) {
    around.neighbor_alltoallw({MPI_BOTTOM, counts, from, types}, {MPI_BOTTOM, counts, to, types},
                              {.copying = copying});
    EXPECT_EQ(own, block((rank + p - 1) % p, 0));
    EXPECT_EQ(receive.get<int>(n), on_host);
  }
}

TEST_P(DeviceTest, AnOwnBlockWithGapsAndOneOnADevice) {
  if (n > 1000) return;  // an MPI may copy each element by itself
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
  MPI_Type_commit(&every_other);
  const Neighborhood alone(comm, Stencil(Torus({p}), {{0}}));
  const DeviceMemory device(n * sizeof(int));
  std::vector<int> spread(2 * n), back(2 * n, -1);
  for (std::size_t i = 0; i < n; ++i) spread[2 * i] = value(rank, 0, i);
  alone.neighbor_alltoall({spread.data(), n, every_other}, buffer(device, n));
  EXPECT_EQ(device.get<int>(n), block(rank, 0));
  alone.neighbor_alltoall(buffer(device, n), {back.data(), n, every_other});
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(back[2 * i], value(rank, 0, i));
    ASSERT_EQ(back[2 * i + 1], -1);
  }
  MPI_Type_free(&every_other);
}

TEST_P(DeviceTest, WhoHasNoResultMayUseItsBuffer) {
  const DeviceMemory send(n * sizeof(int)), receive(n * sizeof(int));
  send.put(block(rank, 0));
  receive.put(std::vector<int>(n, -1));
  const std::vector<int> other_data(n, 77);
  if (rank > 0) MPI_Barrier(MPI_COMM_WORLD);  // so long vectors of rank 0 wait
  Request sums = comm.iexscan(buffer(send, n), buffer(receive, n), MPI_MAX);
  if (rank == 0) {
    receive.put(other_data);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  sums.wait();
  EXPECT_EQ(receive.get<int>(n), rank == 0 ? other_data : block(rank - 1, 0));
}

INSTANTIATE_TEST_SUITE_P(Elements, DeviceTest, testing::Values(1, 17, 600, 100'000));

}  // namespace
}  // namespace wisp::test
