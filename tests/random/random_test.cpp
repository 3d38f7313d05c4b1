// Random programs against a serial reference. One that fails says how to run it again, made as small as it
// goes.
//
//   WISP_RANDOM_PROGRAMS   how many, instead of the usual
//   WISP_RANDOM_FIRST      the first seed

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "clusters.hpp"
#include "effort.hpp"
#include "random/run.hpp"
#include "wisp/collectives.hpp"

namespace wisp::test {
namespace {

constexpr int most_ranks = 17;

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Simulated programs of one launch: the full test has a hundred thousand, a half with each MPI.
std::uint64_t usual_programs() {
  constexpr int all_seeds = 100;
  return !is_quick() && seeds() >= all_seeds ? 50000 : 1000;
}

SimulationOptions cluster_of_program(const Program& program) {
  Draw draw = Draw(program.seed).with(99);
  SimulationOptions cluster = cluster_of(program.ranks, static_cast<int>(program.seed % 1000));
  if (draw.once_in(2)) cluster.tag_upper_bound = 32767;
  if (draw.once_in(4)) cluster.mpi_communicators = 3;
  cluster.attached = cluster.mpi_communicators == 1 && draw.once_in(4);
  return cluster;
}

/// What goes wrong; empty if nothing does.
std::string simulated_failure(const Program& program) {
  std::vector<std::string> failures;
  try {
    simulate(cluster_of_program(program),
             [&](Comm root) { return run_program(program, std::move(root), false, failures); });
  } catch (const std::exception& error) {
    failures.push_back(error.what());
  }
  return failures.empty() ? std::string() : failures.front();
}

TEST(RandomProgramsTest, OnASimulatedCluster) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) GTEST_SKIP() << "one process simulates all ranks";
  const std::uint64_t first = environment("WISP_RANDOM_FIRST", 0);
  const std::uint64_t count = environment("WISP_RANDOM_PROGRAMS", usual_programs());
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = program_of(seed, 1 + static_cast<int>(seed % most_ranks));
    const std::string failure = simulated_failure(program);
    if (failure.empty()) continue;
    const Program small =
        shrunk(program, [](const Program& less) { return !simulated_failure(less).empty(); });
    FAIL() << "program " << seed << " on " << program.ranks << " simulated ranks: " << failure
           << "\nagain: WISP_RANDOM_FIRST=" << seed
           << " WISP_RANDOM_PROGRAMS=1 random_test\nmade smaller: " << simulated_failure(small) << "\n"
           << describe(small);
  }
}

/// A communicator as programs have it: a duplicate or an attached one of all ranks, of these in another
/// order, of a Cartesian topology, or of each half.
class RealCluster {
 public:
  explicit RealCluster(std::uint64_t seed) {
    Draw draw = Draw(seed).with(98);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    switch (draw.below(4)) {
      case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &mpi_);
        break;
      case 1:
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &mpi_);
        break;
      case 2: {
        const int periods[] = {1};
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &mpi_);
        break;
      }
      default:
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &mpi_);
    }
    MPI_Comm_set_errhandler(mpi_, MPI_ERRORS_RETURN);
    if (draw.once_in(3)) {
      comm_ = Comm::attach(mpi_);
    } else {
      comm_ = Comm::duplicate(mpi_, {draw.once_in(4) ? 2 : 1});
      is_own_ = draw.once_in(2);
    }
  }
  RealCluster(const RealCluster&) = delete;
  RealCluster& operator=(const RealCluster&) = delete;
  ~RealCluster() {
    // A wildcard is pending when its communicator goes.
    if (is_own_) pending() = comm_.ireceive(nobody_sends());
    comm_ = {};
    MPI_Comm_free(&mpi_);
  }

  MPI_Comm mpi() const { return mpi_; }
  const Comm& comm() const { return comm_; }

 private:
  static Request& pending() {
    static Request request;
    return request;
  }
  static std::vector<int>& nobody_sends() {
    static std::vector<int> buffer(1);
    return buffer;
  }

  MPI_Comm mpi_ = MPI_COMM_NULL;
  Comm comm_;
  bool is_own_ = false;
};

/// Messages of MPI's own on the communicator below, which no wildcard may take.
class OwnTraffic {
 public:
  explicit OwnTraffic(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size);
    MPI_Isend(&rank_, 1, MPI_INT, (rank_ + 1) % size, tag, comm, &sent_);
    comm_ = comm;
    expected_ = (rank_ + size - 1) % size;
  }
  OwnTraffic(const OwnTraffic&) = delete;
  OwnTraffic& operator=(const OwnTraffic&) = delete;
  ~OwnTraffic() {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, expected_, tag, comm_, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, expected_);
    MPI_Wait(&sent_, MPI_STATUS_IGNORE);
  }

 private:
  static constexpr int tag = 21;
  MPI_Comm comm_;
  MPI_Request sent_ = MPI_REQUEST_NULL;
  int rank_ = 0;
  int expected_;
};

/// The same on this rank of a real cluster.
std::string real_failure(const Program& program, const RealCluster& cluster) {
  std::vector<std::string> failures;
  const OwnTraffic beside(cluster.mpi());
  try {
    cluster.comm().run(run_program(program, cluster.comm(), true, failures));
  } catch (const std::exception& error) {
    failures.push_back(error.what());
  }
  return failures.empty() ? std::string() : failures.front();
}

/// A rank that waits for ever says in which program.
class Alarm {
 public:
  explicit Alarm(std::uint64_t seed) {
    now_ = seed;
    std::signal(SIGALRM, [](int) {
      std::fprintf(stderr, "again: WISP_RANDOM_FIRST=%llu WISP_RANDOM_PROGRAMS=1 random_test: it hangs\n",
                   static_cast<unsigned long long>(now_));
      std::_Exit(1);
    });
    constexpr unsigned seconds = 120;
    alarm(seconds);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { alarm(0); }

 private:
  static inline std::uint64_t now_ = 0;
};

TEST(RandomProgramsTest, OnRealRanks) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::uint64_t first = environment("WISP_RANDOM_FIRST", 0);
  const std::uint64_t count = environment("WISP_RANDOM_PROGRAMS", is_quick() ? 20 : 100);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Alarm alarm(seed);
    const RealCluster cluster(seed);
    const Program program = program_of(seed, cluster.comm().size());
    const std::string failure = real_failure(program, cluster);
    int failed = failure.empty() ? 0 : 1;
    if (failed != 0) {
      ADD_FAILURE() << "program " << seed << " on " << size << " ranks: " << failure
                    << "\nagain: WISP_RANDOM_FIRST=" << seed << " WISP_RANDOM_PROGRAMS=1 random_test\n"
                    << describe(program);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (failed != 0) return;
  }
}

}  // namespace
}  // namespace wisp::test
