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

}  // namespace
}  // namespace wisp
