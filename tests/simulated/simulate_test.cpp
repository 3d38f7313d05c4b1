// What outlives a simulation.

#include "wisp/simulate.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "wisp/detail/frame_pool.hpp"
#include "wisp/wisp.hpp"

namespace wisp {
namespace {

using test::cluster_of;

TEST(SimulateTest, ACommunicatorMayOutliveItsSimulation) {
  std::vector<Comm> kept;
  simulate(cluster_of(3), [&](Comm comm) -> Task<> {
    kept.push_back(comm);
    kept.push_back(comm.range(0, comm.rank()));
    co_await barrier(comm);
  });
  for (const Comm& comm : kept) {
    EXPECT_THROW(comm.ibarrier(), Error);
    EXPECT_THROW(comm.iprobe(0), Error);
    EXPECT_THROW(Comm(comm).range(0, 0).ibarrier(), Error);
    EXPECT_THROW(simulated_time(comm), Error);
  }
  const std::vector<Comm> copies = kept;
  kept.clear();
}

TEST(SimulateTest, WhatWasDroppedGivesItsMemoryBack) {
  const std::size_t before = detail::FramePool::live_bytes();
  std::vector<double> data(1000);
  const auto deadlock = [&](Comm comm) -> Task<> {
    { const Request dropped = comm.ireceive(data, (comm.rank() + 1) % comm.size(), 3); }
    { const Request dropped = comm.isend(data, comm.rank(), 4); }
    if (comm.rank() == 0) {
      const Request dropped = comm.iallreduce(in_place(), data, MPI_SUM);
    }
    co_await barrier(comm.range(0, 0));
  };
  EXPECT_THROW(simulate(cluster_of(3), deadlock), Error);
  EXPECT_EQ(detail::FramePool::live_bytes(), before);
  const auto thrown = [&](Comm comm) -> Task<> {
    const Request dropped = comm.ireceive(data, (comm.rank() + 1) % comm.size(), 3);
    co_await barrier(comm);
    if (comm.rank() == 1) throw std::runtime_error("mine");
  };
  EXPECT_THROW(simulate(cluster_of(3), thrown), std::runtime_error);
  EXPECT_EQ(detail::FramePool::live_bytes(), before);
}

TEST(SimulateTest, WrongOptionsAndNoProgramAreErrors) {
  const auto error = [](const SimulationOptions& options, const std::function<Task<>(Comm)>& program) {
    try {
      simulate(options, program);
    } catch (const Error& thrown) {
      return std::string(thrown.what());
    }
    return std::string("no error");
  };
  const auto nothing = [](Comm comm) -> Task<> { co_await barrier(comm); };
  SimulationOptions options = cluster_of(3);
  options.tag_upper_bound = 32'766;
  EXPECT_EQ(error(options, nothing), "wisp::simulate: tag_upper_bound = 32766 is outside 32767..2147483647");
  options = cluster_of(3);
  options.mpi_communicators = 0;
  EXPECT_EQ(error(options, nothing), "wisp::simulate: mpi_communicators = 0 is outside 1..1024");
  EXPECT_EQ(error(cluster_of(3), [](Comm) { return Task<>(); }),
            "wisp::simulate: the task of rank 0 is empty");
}

Task<> receive_number(Comm comm, int source, int tag) {
  int number = 0;
  co_await receive(comm, buffer_of(number), source, tag);
}

TEST(SimulateTest, WhoWaitsForSeveralTasksMayBeLeft) {
  const std::size_t before = detail::FramePool::live_bytes();
  const auto wait = [](Comm comm, bool throws) -> Task<> {
    if (throws && comm.rank() == 1) throw std::runtime_error("mine");
    if (comm.rank() == 0) co_await when_all(receive_number(comm, 1, 1), receive_number(comm, 2, 2));
  };
  EXPECT_THROW(simulate(cluster_of(3), [&](Comm comm) { return wait(comm, false); }), Error);
  EXPECT_EQ(detail::FramePool::live_bytes(), before);
  EXPECT_THROW(simulate(cluster_of(3), [&](Comm comm) { return wait(comm, true); }), std::runtime_error);
  EXPECT_EQ(detail::FramePool::live_bytes(), before);
}

TEST(SimulateTest, AnExceptionThatPassesARequestDropsIt) {
  std::vector<int> kept(10, 1);  // what the program lets die, and the message must not reach
  const auto program = [&](Comm comm) -> Task<> {
    int token = 0;
    if (comm.rank() == 0) {
      const Request request = comm.ireceive(kept, 1, 3);
      throw std::runtime_error("mine");
    }
    if (comm.rank() == 1) {
      co_await receive(comm, buffer_of(token), 2, 5);
      co_await send(comm, std::vector<int>(10, 7), 0, 3);
    }
    if (comm.rank() == 2) co_await send(comm, buffer_of(token), 1, 5);
  };
  EXPECT_THROW(simulate(cluster_of(3), program), std::runtime_error);
  EXPECT_EQ(kept, std::vector<int>(10, 1));
}

TEST(SimulateTest, ARequestMayOutliveWhoAwaitsIt) {
  std::vector<int> received(2);
  std::vector<Request> kept(2);
  const auto program = [&](Comm comm) -> Task<> {
    if (comm.rank() == 2) throw std::runtime_error("a third rank");
    const auto rank = static_cast<std::size_t>(comm.rank());
    kept[rank] = comm.ireceive(buffer_of(received[rank]), 1 - comm.rank());
    co_await kept[rank];
  };
  EXPECT_THROW(simulate(cluster_of(2), program), Error);
  EXPECT_THROW(simulate(cluster_of(3), program), std::runtime_error);
}

TEST(SimulateTest, MessagesOfAPairStayInOrderWhateverIsRounded) {
  for (std::size_t bytes = 1; bytes < 2000; ++bytes) {
    std::vector<std::size_t> came;
    simulate(cluster_of(2), [&](Comm comm) -> Task<> {
      std::vector<char> data(37 * bytes);
      if (comm.rank() == 0) {
        simulated_work(comm, 1e-7 * static_cast<double>(bytes % 97));
        co_await send(comm, data, 1, 7);
        co_await send(comm, std::span(data).first(0), 1, 7);
      } else {
        for (int i = 0; i < 2; ++i) came.push_back((co_await receive(comm, data, 0, 7)).bytes);
      }
    });
    ASSERT_EQ(came, (std::vector<std::size_t>{37 * bytes, 0}));
  }
}

TEST(SimulateTest, AProbeFindsAMessageWhenItHasArrived) {
  SimulationOptions cluster = cluster_of(2);
  cluster.latency = 100e-6;
  double found = 0;
  const SimulationReport report = simulate(cluster, [&](Comm comm) -> Task<> {
    int number = 0;
    if (comm.rank() == 0) {
      co_await send(comm, buffer_of(number), 1, 7);
      co_await receive(comm, buffer_of(number), 1, 8);
    } else {
      co_await probe(comm, 0, 7);
      found = simulated_time(comm);
      co_await send(comm, buffer_of(number), 0, 8);
      co_await receive(comm, buffer_of(number), 0, 7);
    }
  });
  EXPECT_GE(found, 100e-6);
  EXPECT_GE(report.seconds, 200e-6);
  EXPECT_EQ(report.rounds, 2);
}

/// When the message of 1 MB of a rank arrives on another node, while one of its node sends as much.
double arrival_behind(int late) {
  SimulationOptions cluster = cluster_of(4);
  cluster.nodes = {0, 0, 1, 1};
  cluster.carried_bytes = 0;
  double arrived = 0;
  simulate(cluster, [&](Comm comm) -> Task<> {
    std::vector<char> data(1'000'000);
    if (comm.rank() < 2) {
      if (comm.rank() == late) simulated_work(comm, 1);
      co_await send(comm, data, comm.rank() + 2, 7);
    } else {
      co_await receive(comm, data, comm.rank() - 2, 7);
      if (comm.rank() - 2 != late) arrived = simulated_time(comm);
    }
  });
  return arrived;
}

TEST(SimulateTest, ASharedPortServesWhoComesFirst) {
  EXPECT_DOUBLE_EQ(arrival_behind(0), arrival_behind(1));
  EXPECT_LT(arrival_behind(0), 200e-6);
}

TEST(SimulateTest, AnswersMoveNobodysClockButWhoWaitsForThem) {
  const auto received_at = [](bool is_synchronous) {
    SimulationOptions cluster = cluster_of(3);
    double time = 0;
    simulate(cluster, [&](Comm comm) -> Task<> {
      int number = 0;
      if (comm.rank() == 0) {
        const Request sent =
            is_synchronous ? comm.issend(buffer_of(number), 1, 7) : comm.isend(buffer_of(number), 1, 7);
        int other = 0;
        co_await receive(comm, buffer_of(other), 2, 7);
        time = simulated_time(comm);
        co_await receive(comm, buffer_of(other), 1, 8);
      } else if (comm.rank() == 1) {
        simulated_work(comm, 1);
        co_await receive(comm, buffer_of(number), 0, 7);
        simulated_work(comm, 1);
        co_await send(comm, buffer_of(number), 0, 8);
      } else {
        co_await send(comm, buffer_of(number), 0, 7);
      }
    });
    return time;
  };
  EXPECT_DOUBLE_EQ(received_at(true), received_at(false));
}

TEST(SimulateTest, MessagesMayCostNothing) {
  SimulationOptions cluster = cluster_of(2);
  cluster.overhead = 0;
  std::vector<int> sum(1000);
  simulate(cluster, [&](Comm comm) -> Task<> {
    const std::vector<int> ones(1000, 1);
    co_await reduce(comm, ones, sum, MPI_SUM, 0);
  });
  EXPECT_EQ(sum, std::vector<int>(1000, 2));
}

TEST(SimulateTest, OfManyMessagesAndWaitsTheFirstEightAreSaid) {
  const auto times = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  for (const int messages : {8, 9, 12}) {
    const std::string lost = test::error_of(2, [&](Comm comm) -> Task<> {
      const int value = 7;
      for (int i = 0; i < messages && comm.rank() == 0; ++i) co_await send(comm, buffer_of(value), 1, 5);
    });
    EXPECT_EQ(lost.find("wisp::simulate: messages were never received: rank 0 to rank 1, 4 bytes, in "), 0U)
        << lost;
    EXPECT_EQ(times(lost, "rank 0 to rank 1"), 8) << lost;
    EXPECT_EQ(lost.ends_with("; and " + std::to_string(messages - 8) + " more"), messages > 8) << lost;
  }
  for (const int ranks : {8, 9, 12}) {
    const std::string waits = test::error_of(ranks, [](Comm comm) -> Task<> {
      int value = 0;
      co_await receive(comm, buffer_of(value), (comm.rank() + 1) % comm.size(), 5);
    });
    EXPECT_EQ(times(waits, " waits in "), 8) << waits;
    EXPECT_EQ(times(waits, "; …"), ranks > 8 ? 1 : 0) << waits;
  }
}

}  // namespace
}  // namespace wisp
