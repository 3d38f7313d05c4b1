#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "clusters.hpp"
#include "error_of.hpp"
#include "trace/timeline.hpp"
#include "wisp/wisp.hpp"

// What a trace tells of a simulated run, beside what the cluster has counted.

namespace wisp {
namespace {

using detail::as_size;
using detail::Timeline;

/// Takes part of the file's name from the process: tests run beside each other.
class TraceOfSimulationTest : public testing::Test {
 protected:
  const std::string file = testing::TempDir() + "wisp_trace_" + std::to_string(getpid());

  void TearDown() override { std::remove(file.c_str()); }

  Timeline traced(SimulationOptions cluster, const std::function<Task<>(Comm)>& program,
                  SimulationReport& report) {
    cluster.trace = file;
    report = simulate(cluster, program);
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::vector<detail::RankTrace> ranks;
    detail::read_trace(std::as_bytes(std::span(bytes)), file, ranks);
    return detail::timeline_of(ranks);
  }

  /// All messages have both ends, take time, and the path goes from the begin to the end.
  static void expect_whole(const Timeline& timeline, const SimulationReport& report, double latency) {
    EXPECT_EQ(timeline.unmatched, 0);
    EXPECT_EQ(timeline.messages.size(), report.messages);
    std::uint64_t bytes = 0;
    for (const auto& message : timeline.messages) {
      bytes += message.bytes;
      EXPECT_GE(message.received - message.sent, 0.99 * latency);
    }
    EXPECT_EQ(bytes, report.bytes);
    double at = 0;
    for (const auto& step : timeline.critical_path) {
      EXPECT_NEAR(step.begin, at, 1e-12);
      EXPECT_GE(step.end, step.begin);
      at = step.end;
    }
    if (report.messages == 0) return;
    EXPECT_NEAR(timeline.seconds, report.seconds, 2e-9);
    EXPECT_NEAR(at, timeline.seconds, 1e-12);
  }
};

TEST_F(TraceOfSimulationTest, OfAllOperationsTellsAllMessages) {
  for (const int ranks : {1, 2, 5, 13, 32}) {
    for (int seed = 0; seed < 8; ++seed) {
      SimulationOptions cluster = test::cluster_of(ranks, seed);
      cluster.attached = seed == 5;
      SimulationReport report;
      const Timeline timeline = traced(
          cluster,
          [](Comm comm) -> Task<> {
            const int p = comm.size();
            std::vector<int> one(300, comm.rank());
            std::vector<int> all(300 * as_size(p));
            co_await bcast(comm, one, p / 2);
            co_await allreduce(comm, in_place(), one, MPI_SUM);
            co_await allgather(comm, one, all);
            std::vector<int> numbers(as_size(comm.rank() % 3), comm.rank());
            co_await async_sort(comm, numbers);
            const int middle = (p - 1) / 2;
            const Comm half = comm.rank() <= middle ? comm.range(0, middle) : comm.range(middle + 1, p - 1);
            if (comm.rank() <= middle) co_await scan(half, in_place(), one, MPI_MAX);
            const int here = comm.rank();
            co_await sendrecv(comm, one, (here + 1) % p, 3, all, any_source, any_tag);
          },
          report);
      expect_whole(timeline, report, std::min(cluster.latency, cluster.inside_latency));
      if (ranks == 1) continue;
      for (const char* name : {"wisp::bcast", "wisp::allreduce", "wisp::sort"})
        EXPECT_EQ(std::ranges::count(timeline.texts, name), 1) << name;
    }
  }
}

TEST_F(TraceOfSimulationTest, ThePathOfATreeHasItsDepth) {
  for (const int ranks : {2, 3, 8, 13, 64}) {
    SimulationReport report;
    const Timeline timeline = traced(
        test::cluster_of(ranks),
        [](Comm comm) -> Task<> {
          std::vector<double> vector(8);
          co_await bcast(comm, vector, 0, {.algorithm = "binomial"});
        },
        report);
    expect_whole(timeline, report, 2e-6);
    const auto in_messages =
        std::ranges::count_if(timeline.critical_path, [](const auto& step) { return step.message >= 0; });
    EXPECT_LE(in_messages, report.rounds);
    EXPECT_GE(in_messages, 1);
    EXPECT_EQ(timeline.operations.size(), as_size(ranks));
    for (const auto& one : timeline.operations) EXPECT_EQ(one.call, 0);
  }
}

TEST_F(TraceOfSimulationTest, AFileThatCannotBeWrittenIsAnError) {
  SimulationOptions cluster = test::cluster_of(2);
  cluster.trace = "/no/such/folder/trace";
  const std::string said = test::error_of([&] { simulate(cluster, [](Comm) -> Task<> { co_return; }); });
  EXPECT_NE(said.find("the trace /no/such/folder/trace cannot be written"), std::string::npos) << said;
}

}  // namespace
}  // namespace wisp
