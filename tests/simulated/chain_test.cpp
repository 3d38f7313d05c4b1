// Chains on the simulated cluster: every operation, for all sizes and roots, against what the ranks of a
// chain can say all others have sent.

#include "wisp/chain.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "chains.hpp"
#include "clusters.hpp"
#include "noncommutative.hpp"
#include "wisp/error.hpp"
#include "wisp/split.hpp"

namespace wisp {
namespace {

using test::Affine;
using test::affine_of_rank;
using test::cluster_of;
using test::error_of;

const Operator compose = Operator::on<Affine>([](const Affine& a, const Affine& b) { return a * b; });

Affine sum_of(int first, int last) {
  Affine sum;
  for (int r = first; r <= last; ++r) sum = sum * affine_of_rank(r);
  return sum;
}

Task<> check_scans(Chain chain) {
  const int rank = chain.rank();
  const int last = chain.size() - 1;
  const Affine mine = affine_of_rank(rank);
  const Affine untouched{1234, 5678};
  Affine before = untouched;
  Affine after = untouched;
  co_await scan(chain, item(mine), item(before), compose);
  EXPECT_EQ(before, sum_of(0, rank));
  before = untouched;
  co_await exscan(chain, item(mine), item(before), compose);
  EXPECT_EQ(before, rank == 0 ? untouched : sum_of(0, rank - 1));
  co_await double_scan(chain, item(mine), item(before), item(after), compose);
  EXPECT_EQ(before, sum_of(0, rank));
  EXPECT_EQ(after, sum_of(rank, last));
  before = after = untouched;
  co_await double_exscan(chain, item(mine), item(before), item(after), compose);
  EXPECT_EQ(before, rank == 0 ? untouched : sum_of(0, rank - 1));
  EXPECT_EQ(after, rank == last ? untouched : sum_of(rank + 1, last));
  before = mine;
  co_await scan(chain, in_place(), item(before), compose);
  EXPECT_EQ(before, sum_of(0, rank));
  co_await allreduce(chain, item(mine), item(after), compose);
  EXPECT_EQ(after, sum_of(0, last));
  before = mine;
  co_await allreduce(chain, in_place(), item(before), compose);
  EXPECT_EQ(before, sum_of(0, last));
  // Of nothing, whose address is null here and there.
  std::vector<int> nothing, of_some;
  if (rank == 0) of_some.reserve(1);
  const Buffer none(nothing);
  const Buffer null_or_not(of_some);
  co_await double_exscan(chain, none, none, null_or_not, MPI_SUM);
  co_await double_scan(chain, none, null_or_not, none, MPI_SUM);
}

Task<> check_rooted(Chain chain, int root) {
  const int rank = chain.rank();
  const auto size = static_cast<std::size_t>(chain.size());
  Affine total;
  co_await reduce(chain, item(affine_of_rank(rank)), item(total), compose, root);
  if (rank == root) {
    EXPECT_EQ(total, sum_of(0, chain.size() - 1)) << "reduce to " << root;
  }

  std::vector<int> sent(3, rank == root ? 77 + root : -1);
  co_await bcast(chain, sent, root);
  EXPECT_EQ(sent, std::vector<int>(3, 77 + root)) << "bcast from " << root;

  const std::vector<int> own = {10 * rank, 10 * rank + 1};
  std::vector<int> all(rank == root ? 2 * size : 0);
  co_await gather(chain, own, all, root);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], 10 * static_cast<int>(i / 2) + static_cast<int>(i % 2)) << "gather to " << root;
  }
  std::vector<int> back(2, -1);
  co_await scatter(chain, all, back, root);
  EXPECT_EQ(back, own) << "scatter from " << root;
}

Task<> check_allgather(Chain chain, std::size_t count) {
  std::vector<std::int64_t> own(count, chain.rank());
  std::vector<std::int64_t> all(count * static_cast<std::size_t>(chain.size()), -1);
  co_await allgather(chain, own, all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i / count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int>(i / count) != chain.rank()) all[i] = -1;
  }
  co_await allgather(chain, in_place(), all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i / count));
}

/// Chains of one cluster, by which they are made.
Task<Chain> chain_of_kind(Comm comm, int kind, int seed) {
  switch (kind) {
    case 0:
      co_return Chain(comm);
    case 1:
      co_return Chain(comm, 0, comm.size() - 1);
    default:
      co_return co_await chain_of_neighbors(
          comm, test::neighbors_in(test::shuffled_ranks(comm.size(), seed), comm.rank()));
  }
}

TEST(ChainTest, ScansAndReductionsKeepRankOrder) {
  for (int p = 1; p <= 33; ++p) {
    for (int seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(fmt::format("p {} seed {}", p, seed));
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        const Chain chain = co_await chain_of_kind(comm, seed % 3, seed);
        co_await check_scans(chain);
        co_await barrier(chain);
      });
      if (HasFailure()) return;
    }
  }
}

TEST(ChainTest, EveryRootGathersScattersReducesAndBroadcasts) {
  for (int p = 1; p <= 33; ++p) {
    for (int seed = 0; seed < 3; ++seed) {
      SCOPED_TRACE(fmt::format("p {} seed {}", p, seed));
      simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
        const Chain chain = co_await chain_of_kind(comm, 2 - seed, seed);
        for (int root = 0; root < p; ++root) co_await check_rooted(chain, root);
      });
      if (HasFailure()) return;
    }
  }
}

TEST(ChainTest, AllgatherGivesAllBlocksInRankOrder) {
  for (int p = 1; p <= 33; ++p) {
    for (const std::size_t count : {1u, 7u, 700u}) {
      simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
        const Chain chain = co_await chain_of_kind(comm, 2, p);
        co_await check_allgather(chain, count);
      });
    }
  }
}

TEST(ChainTest, LongVectorsAndGapsOfDatatypesArriveWhole) {
  const test::GappedInts gapped;
  for (const int p : {1, 2, 5, 13}) {
    simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
      const Chain chain = comm;
      constexpr std::size_t count = 3000;
      std::vector<int> mine(2 * count, comm.rank() + 1);
      std::vector<int> sum(2 * count, -7);
      co_await scan(chain, {mine.data(), count, gapped.type()}, Buffer(sum.data(), count, gapped.type()),
                    Operator::on_bytes([](const std::byte* left, std::byte* right) {
                      const auto* a = reinterpret_cast<const int*>(left);
                      auto* b = reinterpret_cast<int*>(right);
                      for (std::size_t i = 0; i < count; ++i) b[2 * i] += a[2 * i];
                    }));
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(sum[2 * i], (comm.rank() + 1) * (comm.rank() + 2) / 2);
        EXPECT_EQ(sum[2 * i + 1], -7) << "a gap was written";
      }
      std::vector<int> all(2 * count * static_cast<std::size_t>(p), -7);
      co_await gather(chain, {mine.data(), count, gapped.type()},
                      Buffer(all.data(), count * static_cast<std::size_t>(p), gapped.type()), p / 2);
      if (comm.rank() == p / 2) {
        for (std::size_t i = 0; i < all.size() / 2; ++i) {
          EXPECT_EQ(all[2 * i], static_cast<int>(i / count) + 1);
          EXPECT_EQ(all[2 * i + 1], -7);
        }
      }
    });
  }
}

TEST(ChainTest, ASegmentedScanBeginsAnewWithEveryColor) {
  for (int p = 1; p <= 33; ++p) {
    for (int length = 1; length <= 5; ++length) {
      simulate(cluster_of(p, length), [&](Comm comm) -> Task<> {
        const Chain chain = comm;
        const int rank = chain.rank();
        const int begin = rank / length * length;
        const std::string color(static_cast<std::size_t>(rank / length % 3), 'x');
        Affine sum{9, 9};
        co_await segmented_scan(chain, color, item(affine_of_rank(rank)), item(sum), compose);
        EXPECT_EQ(sum, sum_of(begin, rank)) << "rank " << rank << " length " << length;
        sum = {9, 9};
        co_await segmented_exscan(chain, rank / length, item(affine_of_rank(rank)), item(sum), compose);
        EXPECT_EQ(sum, rank == begin ? Affine({9, 9}) : sum_of(begin, rank - 1));
      });
    }
  }
}

TEST(ChainTest, OperationsTakeTheMessagesAndRoundsOfTheirBounds) {
  for (int p = 1; p <= 70; ++p) {
    const int rounds = p == 1 ? 0 : static_cast<int>(std::ceil(std::log2(p)));
    const auto run = [&](auto operation) {
      return simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> { co_await operation(Chain(comm)); });
    };
    const SimulationReport of_scan = run([](Chain chain) -> Task<> {
      const int mine = 1;
      int sum = 0;
      co_await scan(chain, buffer_of(mine), buffer_of(sum), MPI_SUM);
    });
    EXPECT_LE(of_scan.rounds, rounds);
    for (const auto& rank : of_scan.ranks) EXPECT_LE(rank.messages_sent, 2U * static_cast<unsigned>(rounds));
    const int root = p / 3;
    const SimulationReport of_reduce = run([&](Chain chain) -> Task<> {
      const int mine = 1;
      int sum = 0;
      co_await reduce(chain, buffer_of(mine), buffer_of(sum), MPI_SUM, root);
    });
    EXPECT_LE(of_reduce.rounds, rounds);
    for (const auto& rank : of_reduce.ranks) EXPECT_LE(rank.messages_sent, 2U);
    // All data once: the rest are addresses.
    constexpr std::size_t bytes = 100000;
    const SimulationReport of_bcast = run([&](Chain chain) -> Task<> {
      std::vector<std::byte> data(bytes);
      co_await bcast(chain, data, root);
    });
    EXPECT_LE(of_bcast.rounds, rounds);
    const auto addresses = static_cast<std::size_t>(32 * p * rounds);
    EXPECT_LE(of_bcast.bytes, static_cast<std::size_t>(p - 1) * bytes + addresses);
    const SimulationReport of_allgather = run([&](Chain chain) -> Task<> {
      std::vector<std::byte> all(static_cast<std::size_t>(p) * 1000);
      co_await allgather(chain, in_place(), all);
    });
    // What has come before the rank sends counts as a cause, though it is not one.
    EXPECT_LE(of_allgather.rounds, rounds + 1);
    for (const auto& rank : of_allgather.ranks) {
      EXPECT_LE(rank.bytes_received, static_cast<std::size_t>((p - 1) * 1000 + 32 * rounds));
    }
  }
}

TEST(ChainTest, AChainBecomesACommunicatorWithMessagesBetweenAnyTwo) {
  for (const int p : {1, 2, 7, 16}) {
    simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
      const Chain chain = co_await chain_of_kind(comm, 2, p);
      const Comm made = co_await to_comm(chain);
      EXPECT_EQ(made.rank(), chain.rank());
      EXPECT_EQ(made.size(), p);
      for (int distance = 0; distance < p; ++distance) {
        int heard = -1;
        const int from = (made.rank() + p - distance) % p;
        co_await sendrecv(made, buffer_of(chain.rank()), (made.rank() + distance) % p, 5, buffer_of(heard),
                          from, 5);
        EXPECT_EQ(heard, from);
      }
      int heard = -1;
      Request receive = made.ireceive(buffer_of(heard), any_source, any_tag);
      const int from = (made.rank() + 1) % p;
      co_await send(made, buffer_of(chain.rank()), (made.rank() + p - 1) % p, 6);
      co_await receive;
      EXPECT_EQ(heard, from);
    });
  }
}

TEST(ChainTest, ChainsThatOverlapAreIsolated) {
  for (int seed = 0; seed < 40; ++seed) {
    const int p = 2 + seed % 9;
    simulate(cluster_of(p, seed), [&](Comm comm) -> Task<> {
      std::vector<Chain> chains;
      for (int k = 0; k < 4; ++k) {
        chains.push_back(co_await chain_of_neighbors(
            comm, test::neighbors_in(test::shuffled_ranks(p, 10 * seed + k), comm.rank()), k));
      }
      // Started in another order on every rank, all in flight at once.
      std::vector<Affine> sums(4);
      std::vector<Affine> mine(4);
      std::vector<Request> requests;
      for (const int k : test::shuffled_ranks(4, seed + comm.rank())) {
        const auto at = static_cast<std::size_t>(k);
        mine[at] = affine_of_rank(chains[at].rank());
        requests.push_back(chains[at].iallreduce(item(mine[at]), item(sums[at]), compose));
      }
      for (Request& request : requests) co_await request;
      for (const Affine& sum : sums) EXPECT_EQ(sum, sum_of(0, p - 1));
    });
  }
}

TEST(ChainTest, NeighborsThatDoNotAgreeAreAnError) {
  // Rank 2 says that it is where rank 3 is to be.
  const std::string error = error_of(4, [](Comm comm) -> Task<> {
    ChainNeighbors neighbors = test::neighbors_in({0, 1, 2, 3}, comm.rank());
    if (comm.rank() == 2) neighbors = {5, 3, 1, 3};
    if (comm.rank() == 2) neighbors.size = 4, neighbors.right = MPI_PROC_NULL;
    co_await chain_of_neighbors(comm, neighbors);
  });
  EXPECT_EQ(error.substr(0, error.find(" where")),
            "wisp::Chain::of_neighbors: right = 2 says that it is rank 3 of 4,");
  const std::string alone = error_of(3, [](Comm comm) -> Task<> {
    ChainNeighbors neighbors = test::neighbors_in({0, 1, 2}, comm.rank());
    if (comm.rank() == 2) neighbors.right = 0;
    co_await chain_of_neighbors(comm, neighbors);
  });
  EXPECT_EQ(alone, "wisp::Chain::of_neighbors: right = 0, but rank 2 of 3 has no such neighbor");
}

TEST(ChainTest, AnAllreduceGivesTheSameBitsOnAllRanks) {
  for (int p = 1; p <= 33; ++p) {
    std::vector<double> sums(static_cast<std::size_t>(p));
    simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
      const double mine = 1.0 / (3 + comm.rank() * comm.rank());
      co_await allreduce(Chain(comm), buffer_of(mine), buffer_of(sums[static_cast<std::size_t>(comm.rank())]),
                         MPI_SUM);
    });
    for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
  }
}

TEST(ChainTest, NobodyLeavesABarrierBeforeAllHaveBegun) {
  for (int p = 1; p <= 33; ++p) {
    int begun = 0;
    simulate(cluster_of(p, 2), [&](Comm comm) -> Task<> {
      const Chain chain = comm;
      // Some come late: they hear of a scan first.
      if (comm.rank() % 3 == 0) {
        int before = 0;
        const Comm thirds = comm.range(0, p - 1, 3);
        co_await scan(Chain(thirds), buffer_of(p), buffer_of(before), MPI_SUM);
      }
      ++begun;
      co_await barrier(chain);
      EXPECT_EQ(begun, p);
    });
  }
}

TEST(ChainTest, InPlaceAndEmptyVectors) {
  for (const int p : {1, 2, 3, 8, 13}) {
    simulate(cluster_of(p, 0), [&](Comm comm) -> Task<> {
      const Chain chain = comm;
      const int rank = comm.rank();
      const int root = p / 2;
      int value = rank + 1;
      co_await exscan(chain, in_place(), buffer_of(value), MPI_SUM);
      EXPECT_EQ(value, rank == 0 ? 1 : rank * (rank + 1) / 2);
      value = rank + 1;
      co_await segmented_scan(chain, rank / 2, in_place(), buffer_of(value), MPI_SUM);
      EXPECT_EQ(value, rank % 2 == 0 ? rank + 1 : 2 * rank + 1);
      value = rank + 1;
      ConstBuffer sent = buffer_of(std::as_const(value));
      if (rank == root) sent = in_place();
      co_await reduce(chain, sent, buffer_of(value), MPI_SUM, root);
      EXPECT_EQ(value, rank == root ? p * (p + 1) / 2 : rank + 1);
      std::vector<int> all(rank == root ? static_cast<std::size_t>(p) : 0, root);
      value = rank;
      sent = buffer_of(std::as_const(value));
      if (rank == root) sent = in_place();
      co_await gather(chain, sent, all, root);
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i));
      Buffer received = buffer_of(value);
      if (rank == root) received = buffer_in_place();
      value = -1;
      co_await scatter(chain, all, received, root);
      EXPECT_EQ(value, rank == root ? -1 : rank);

      std::vector<int> none;
      co_await scan(chain, none, none, MPI_SUM);
      co_await allreduce(chain, none, none, MPI_SUM);
      co_await bcast(chain, none, root);
      co_await gather(chain, none, none, root);
      co_await scatter(chain, none, none, root);
      co_await allgather(chain, none, none);
      co_await reduce(chain, none, none, MPI_SUM, root);
    });
    if (HasFailure()) return;
  }
}

TEST(ChainTest, BlocksOnEitherSideOfWhereAddressesGoAlone) {
  for (const int p : {2, 3, 7, 16, 21}) {
    for (const std::size_t count : {1023u, 1024u, 1025u, 5000u}) {
      simulate(cluster_of(p, p), [&](Comm comm) -> Task<> {
        const Chain chain = co_await chain_of_kind(comm, 2, p);
        for (const int root : {0, p / 2, p - 1}) {
          const std::vector<int> own(count, chain.rank());
          std::vector<int> all(chain.rank() == root ? count * static_cast<std::size_t>(p) : 0);
          co_await gather(chain, own, all, root);
          for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i / count));
          std::vector<int> back(count, -1);
          co_await scatter(chain, all, back, root);
          EXPECT_EQ(back, own);
          std::vector<int> sum(count, -1);
          co_await reduce(chain, own, sum, MPI_SUM, root);
          EXPECT_EQ(sum, std::vector<int>(count, chain.rank() == root ? p * (p - 1) / 2 : -1));
          co_await scan(chain, own, sum, MPI_SUM);
          EXPECT_EQ(sum, std::vector<int>(count, chain.rank() * (chain.rank() + 1) / 2));
          std::vector<int> data(count, chain.rank());
          co_await bcast(chain, data, root);
          EXPECT_EQ(data, std::vector<int>(count, root));
        }
      });
      if (HasFailure()) return;
    }
  }
}

TEST(ChainTest, WrongArgumentsAreNamed) {
  const auto error_on_one = [](auto call) {
    return error_of(1, [&](Comm comm) -> Task<> {
      call(Chain(comm));
      co_return;
    });
  };
  EXPECT_EQ(error_on_one([](const Chain& chain) {
              int x = 0;
              static_cast<void>(bcast(chain, buffer_of(x), 1));
            }),
            "wisp::Chain::bcast: root = 1 is outside 0..0");
  EXPECT_EQ(error_on_one([](const Chain&) { static_cast<void>(barrier(Chain())); }),
            "wisp::Chain::barrier: the chain is empty");
  EXPECT_EQ(error_on_one([](const Chain& chain) {
              int x = 0;
              static_cast<void>(scan(chain, buffer_of(x), buffer_of(x), MPI_OP_NULL));
            }),
            "wisp::Chain::scan: op = MPI_OP_NULL");
  EXPECT_EQ(error_on_one([](const Chain& chain) {
              int x = 0;
              static_cast<void>(scan(chain, buffer_of(x), buffer_of(x), compose));
            }),
            "wisp::Chain::scan: send has 4 bytes, not a multiple of the operator's items of 16");
}

TEST(ChainTest, SizesThatDifferBetweenRanksAreAnError) {
  const std::string error = error_of(2, [](Comm comm) -> Task<> {
    std::vector<int> data(comm.rank() == 0 ? 3 : 2);
    co_await allreduce(Chain(comm), in_place(), data, MPI_SUM);
  });
  EXPECT_EQ(error,
            "wisp::Chain::allreduce: rank 1 of the parent communicator sends 8 bytes where this rank expects "
            "12: sizes must "
            "be the same on all ranks");
}

/// A rank whose vectors are of another size than those of the others: never silent, also if there is nothing
/// on one of the sides.
TEST(ChainTest, NoSizeThatDiffersPassesUnseen) {
  constexpr std::size_t sizes[] = {0, 8, 100, 4096, 5000, 20000};
  using Operation = Task<>(Chain chain, std::vector<std::byte> & mine);
  Operation* const operations[] = {
      [](Chain chain, std::vector<std::byte>& mine) -> Task<> { co_await bcast(chain, mine, 1); },
      [](Chain chain, std::vector<std::byte>& mine) -> Task<> {
        std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(chain.size()));
        co_await gather(chain, mine, all, 1);
      },
      [](Chain chain, std::vector<std::byte>& mine) -> Task<> {
        std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(chain.size()));
        co_await scatter(chain, all, mine, 1);
      },
      [](Chain chain, std::vector<std::byte>& mine) -> Task<> {
        std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(chain.size()));
        co_await allgather(chain, mine, all);
      },
      [](Chain chain, std::vector<std::byte>& mine) -> Task<> {
        co_await scan(chain, in_place(), mine, MPI_BOR);
      },
      [](Chain chain, std::vector<std::byte>& mine) -> Task<> {
        std::vector<std::byte> all(mine.size());
        co_await reduce(chain, mine, all, MPI_BOR, 1);
      }};
  for (const int p : {2, 3, 5, 8}) {
    for (std::size_t operation = 0; operation < std::size(operations); ++operation) {
      for (const std::size_t size : sizes) {
        for (const std::size_t other : sizes) {
          for (int odd = 0; odd < p && size != other; ++odd) {
            const std::string error = error_of(p, [&](Comm comm) -> Task<> {
              std::vector<std::byte> mine(comm.rank() == odd ? other : size);
              const Chain chain = co_await async_split(comm, 0);
              co_await operations[operation](chain, mine);
            });
            EXPECT_NE(error, "none") << p << ' ' << operation << ' ' << size << ' ' << other << ' ' << odd;
          }
        }
      }
    }
  }
}

TEST(ChainTest, ACarriedMessageHasRoomForAddresses) {
  for (const std::size_t carried : {0, 4, 16, 64}) {
    SimulationOptions cluster = cluster_of(9, 0);
    cluster.carried_bytes = carried;
    const auto error = [&](auto run) { return error_of(cluster, run); };
    const auto check = [&](const std::string& said) {
      EXPECT_EQ(said.find("carried_bytes") != std::string::npos, carried < 16) << carried << ": " << said;
    };
    check(error([](Comm comm) -> Task<> {
      int value = comm.rank();
      co_await bcast(Chain(comm), buffer_of(value), 4);
    }));
    check(error([](Comm comm) -> Task<> {
      const std::vector<int> mine(5000, comm.rank());
      std::vector<int> sum(mine.size());
      co_await scan(Chain(comm), mine, sum, MPI_SUM);
    }));
  }
}

TEST(ChainTest, ADoubleScanIntoWhatIsSentIsAnError) {
  simulate(cluster_of(3), [](Comm comm) -> Task<> {
    const Chain chain(comm);
    int mine = 1, before = -1, after = -1;
    for (const bool first : {true, false}) {
      for (const bool is_inclusive : {true, false}) {
        std::string said;
        try {
          const Buffer left = first ? buffer_of(mine) : buffer_of(before);
          const Buffer right = first ? buffer_of(after) : buffer_of(mine);
          if (is_inclusive) {
            co_await double_scan(chain, buffer_of(mine), left, right, MPI_SUM);
          } else {
            co_await double_exscan(chain, buffer_of(mine), left, right, MPI_SUM);
          }
        } catch (const Error& error) {
          EXPECT_EQ(error.error_class(), MPI_ERR_BUFFER);
          said = error.what();
        }
        EXPECT_NE(said.find("send is where a result goes"), std::string::npos) << said;
      }
    }
    co_await double_scan(chain, buffer_of(mine), buffer_of(before), buffer_of(after), MPI_SUM);
    EXPECT_EQ(before, comm.rank() + 1);
    EXPECT_EQ(after, 3 - comm.rank());
  });
}

}  // namespace
}  // namespace wisp
