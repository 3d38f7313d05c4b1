#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clusters.hpp"
#include "effort.hpp"
#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using test::cluster_of;

TEST(SimulatedMessagesTest, AStatusNamesTheSourceInTheCommunicatorsRanks) {
  simulate(cluster_of(7), [](Comm comm) -> Task<> {
    const Comm odd = comm.range(1, 5, 2);  // 1 3 5
    if (!odd.is_member()) co_return;
    int value = comm.rank();
    if (odd.rank() != 0) {
      co_await send(odd, buffer_of(value), 0, 40 + odd.rank());
      co_return;
    }
    for (int i = 0; i < 2; ++i) {
      const Status status = co_await receive(odd, buffer_of(value));
      EXPECT_EQ(value, 1 + 2 * status.source);
      EXPECT_EQ(status.tag, 40 + status.source);
      EXPECT_EQ(status.count(MPI_INT), 1U);
    }
  });
}

/// Rank 3 is in 0..3 and 3..6. Messages of both arrive in any order; wildcards must tell them apart.
TEST(SimulatedMessagesTest, AWildcardTakesOnlyMessagesOfItsCommunicator) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(7, seed), [](Comm comm) -> Task<> {
      const Comm low = comm.range(0, 3);
      const Comm high = comm.range(3, 6);
      int value = comm.rank();
      if (comm.rank() < 3) co_await send(low, buffer_of(value), 3, 1);
      if (comm.rank() > 3) co_await send(high, buffer_of(value), 0, 1);
      if (comm.rank() != 3) co_return;
      for (int i = 0; i < 3; ++i) {
        const Status from_high = co_await receive(high, buffer_of(value), any_source, i == 1 ? any_tag : 1);
        EXPECT_EQ(value, 3 + from_high.source);
        const Status from_low = co_await receive(low, buffer_of(value));
        EXPECT_EQ(value, from_low.source);
      }
    });
  }
}

TEST(SimulatedMessagesTest, AMessageOfAnotherCommunicatorHidesNothingBehindIt) {
  simulate(cluster_of(3), [](Comm comm) -> Task<> {
    const Comm low = comm.range(0, 1);
    const Comm high = comm.range(1, 2);
    int value = comm.rank();
    if (comm.rank() == 2) co_await send(high, buffer_of(value), 0, 7);  // arrives first
    if (comm.rank() == 0) {
      co_await receive(comm, buffer_of(value), 2, 9);
      value = 0;
      co_await send(low, buffer_of(value), 1, 7);
    }
    if (comm.rank() == 2) co_await send(comm, buffer_of(value), 0, 9);
    if (comm.rank() == 1) {
      const Status status = co_await receive(low, buffer_of(value));
      EXPECT_EQ(status.source, 0);
      EXPECT_EQ(value, 0);
      co_await receive(high, buffer_of(value), 1, 7);
      EXPECT_EQ(value, 2);
    }
  });
}

TEST(SimulatedMessagesTest, CollectivesAreNotTakenByWildcards) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(4, seed), [](Comm comm) -> Task<> {
      int value = comm.rank();
      if (comm.rank() == 3) {
        // Posted before anything arrives: the collective's messages must pass it by.
        Request pending = comm.ireceive(buffer_of(value));
        int sum = 0;
        const int one = 1;
        co_await allreduce(comm, buffer_of(one), buffer_of(sum), MPI_SUM);
        EXPECT_EQ(sum, 4);
        EXPECT_EQ((co_await pending).source, 0);
        EXPECT_EQ(value, 0);
      } else {
        int sum = 0;
        const int one = 1;
        co_await allreduce(comm, buffer_of(one), buffer_of(sum), MPI_SUM);
        if (comm.rank() == 0) co_await send(comm, buffer_of(value), 3, 12);
      }
    });
  }
}

TEST(SimulatedMessagesTest, ReceivesMatchInTheOrderOfPosting) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(2, seed), [](Comm comm) -> Task<> {
      if (comm.rank() == 0) {
        for (int i = 0; i < 4; ++i) co_await send(comm, buffer_of(i), 1, 5);
        co_return;
      }
      // Wildcards and exact receives mixed: the i-th posted gets the i-th sent.
      std::vector<int> got(4, -1);
      std::vector<Request> requests;
      requests.push_back(comm.ireceive(buffer_of(got[0])));
      requests.push_back(comm.ireceive(buffer_of(got[1]), 0, 5));
      requests.push_back(comm.ireceive(buffer_of(got[2]), any_source, 5));
      requests.push_back(comm.ireceive(buffer_of(got[3]), 0, 5));
      for (Request& request : requests) co_await request;
      EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3}));
    });
  }
}

TEST(SimulatedMessagesTest, AProbedMessageStaysToBeReceived) {
  for (int seed = 0; seed < test::seeds(); ++seed) {
    simulate(cluster_of(3, seed), [](Comm comm) -> Task<> {
      if (comm.rank() > 0) {
        const std::vector<int> data(static_cast<std::size_t>(comm.rank()), comm.rank());
        co_await send(comm, data, 0, comm.rank());
        co_return;
      }
      for (int i = 0; i < 2; ++i) {
        const Status seen = co_await probe(comm);
        EXPECT_EQ(seen.count(MPI_INT), static_cast<std::size_t>(seen.source));
        std::vector<int> data(seen.count(MPI_INT));
        const Status got = co_await receive(comm, data, seen.source, seen.tag);
        EXPECT_EQ(got.source, seen.source);
        EXPECT_EQ(data, std::vector<int>(data.size(), seen.source));
      }
      EXPECT_FALSE(comm.iprobe().has_value());
    });
  }
}

TEST(SimulatedMessagesTest, ASynchronousSendEndsWhenItIsReceived) {
  SimulationOptions cluster = cluster_of(2);
  simulate(cluster, [](Comm comm) -> Task<> {
    int value = 5;
    if (comm.rank() == 0) {
      co_await ssend(comm, buffer_of(value), 1, 0);
      EXPECT_GT(simulated_time(comm), 0.9);
    } else {
      simulated_work(comm, 1.0);
      co_await receive(comm, buffer_of(value), 0, 0);
    }
  });
}

TEST(SimulatedMessagesTest, WhatIsSentIsReplacedByWhatComes) {
  for (int p = 1; p <= 9; ++p) {
    SimulationOptions cluster;
    cluster.ranks = p;
    cluster.jitter = 1e-3;
    for (const bool rendezvous : {false, true}) {
      cluster.rendezvous = rendezvous;
      const SimulationReport report = simulate(cluster, [](Comm comm) -> Task<> {
        const int size = comm.size();
        std::vector<int> data(100, comm.rank());
        for (int distance = 1; distance <= 4; ++distance) {
          const int next = (comm.rank() + distance) % size;
          const int previous = (comm.rank() + 4 * size - distance) % size;
          const std::vector<int> before = data;
          const Status status = co_await sendrecv_replace(comm, data, next, distance, previous, distance);
          EXPECT_EQ(status.source, previous);
          EXPECT_EQ(data[99], (before[99] + 4 * size - distance) % size);
        }
      });
      EXPECT_EQ(report.messages, 4U * static_cast<unsigned>(p));
      EXPECT_EQ(report.bytes, 1600U * static_cast<unsigned>(p));
    }
  }
}

TEST(SimulatedMessagesTest, MessagesOfAnySizeComeInOrder) {
  for (int p = 1; p <= 9; ++p) {
    SimulationOptions cluster;
    cluster.ranks = p;
    cluster.jitter = 1e-3;
    simulate(cluster, [](Comm comm) -> Task<> {
      constexpr int messages = 5;
      const int size = comm.size();
      std::vector<Request> sent;
      std::vector<std::vector<int>> data;
      for (int i = 0; i < messages * size; ++i)
        data.emplace_back(static_cast<std::size_t>(i / size), comm.rank());
      for (int i = 0; i < messages * size; ++i)
        sent.push_back(comm.isend(data[static_cast<std::size_t>(i)], i % size, 5));
      std::vector<int> next(static_cast<std::size_t>(size));
      for (int i = 0; i < messages * size; ++i) {
        std::vector<int> got(1, -1);
        const Status status = co_await receive_whole(comm, got);
        int& expected = next[static_cast<std::size_t>(status.source)];
        EXPECT_EQ(got, std::vector<int>(static_cast<std::size_t>(expected++), status.source));
      }
      for (Request& one : sent) co_await one;
    });
  }
}

TEST(SimulatedMessagesTest, ProcNullIsDoneAtOnce) {
  simulate(cluster_of(1), [](Comm comm) -> Task<> {
    int value = 5;
    co_await send(comm, buffer_of(value), MPI_PROC_NULL, 0);
    EXPECT_EQ((co_await receive(comm, buffer_of(value), MPI_PROC_NULL, 0)).source, MPI_PROC_NULL);
    EXPECT_EQ(value, 5);
  });
}

TEST(SimulatedMessagesTest, ATooLongMessageIsAnErrorThatNamesItsOperation) {
  try {
    simulate(cluster_of(2), [](Comm comm) -> Task<> {
      std::vector<int> data(comm.rank() == 0 ? 3 : 2);
      if (comm.rank() == 0) co_await send(comm, data, 1, 0);
      if (comm.rank() == 1) co_await receive(comm, data, 0, 0);
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), MPI_ERR_TRUNCATE);
    EXPECT_NE(std::string(error.what()).find("wisp::receive"), std::string::npos) << error.what();
  }
}

TEST(SimulatedClusterTest, SaysWhoWaitsForWhomWhenNothingCanMove) {
  try {
    simulate(cluster_of(3), [](Comm comm) -> Task<> {
      int value = 0;
      if (comm.rank() == 1) co_await receive(comm, buffer_of(value), 2, 0);
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("rank 1 waits in wisp::receive (tag 0 on world) for a message from rank 2"),
              std::string::npos)
        << error.what();
  }
}

TEST(SimulatedClusterTest, SaysWhichMessageWasNeverReceived) {
  try {
    simulate(cluster_of(2), [](Comm comm) -> Task<> {
      int value = 0;
      if (comm.rank() == 1) co_await send(comm, buffer_of(value), 0, 0);
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 to rank 0, 4 bytes, in wisp::send"), std::string::npos)
        << error.what();
  }
}

TEST(SimulatedClusterTest, TheSameSeedGivesTheSameRun) {
  const auto run = [](int seed) {
    return simulate(cluster_of(9, seed),
                    [](Comm comm) -> Task<> {
                      int in = 1, out = 0;
                      for (int i = 0; i < 5; ++i) co_await scan(comm, buffer_of(in), buffer_of(out), MPI_SUM);
                    })
        .seconds;
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST(SimulatedClusterTest, TimeFollowsLogGP) {
  SimulationOptions cluster = cluster_of(2);
  cluster.latency = 3e-6;
  cluster.overhead = 1e-6;
  cluster.bandwidth = 1e9;
  const SimulationReport report = simulate(cluster, [](Comm comm) -> Task<> {
    std::vector<char> data(1000);
    if (comm.rank() == 0) co_await send(comm, data, 1, 0);
    if (comm.rank() == 1) co_await receive(comm, data, 0, 0);
  });
  EXPECT_NEAR(report.seconds, 1e-6 + 1e-6 + 3e-6 + 1e-6, 1e-12);  // o + 1000 G + L + o
  EXPECT_EQ(report.ranks[0].messages_sent, 1U);
  EXPECT_EQ(report.ranks[1].bytes_received, 1000U);
  EXPECT_EQ(report.rounds, 1);
}

TEST(SimulatedClusterTest, ABlockingCallIsAnErrorNotAHang) {
  EXPECT_THROW(simulate(cluster_of(2),
                        [](Comm comm) -> Task<> {
                          int value = 0;
                          comm.bcast(buffer_of(value), 1);
                          co_return;
                        }),
               Error);
}

TEST(SimulatedCommTest, MakingARangeSendsNothing) {
  const SimulationReport report = simulate(cluster_of(1000), [](Comm comm) -> Task<> {
    const Comm half = comm.range(0, 499);
    const Comm some = half.range(1, 300, 7);
    EXPECT_EQ(half.is_member(), comm.rank() < 500);
    EXPECT_EQ(some.size(), 43);
    co_return;
  });
  EXPECT_EQ(report.messages, 0U);
}

}  // namespace
}  // namespace wisp
