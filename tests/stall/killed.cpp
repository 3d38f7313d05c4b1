// A rank kills itself in the midst of what all do again and again; the others go on without it.
//   killed SEED      prints "rank R: N go on" of each that does

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "steps.hpp"
#include "wisp/wisp.hpp"

namespace {

void kill_this(int /*signal*/) {
  kill(getpid(), SIGKILL);
}

/// Until a rank is gone; what says so.
std::string run_until_an_error(const wisp::Comm& comm, std::mt19937 random) {
  try {
    for (;;) {
      const auto& step = wisp::test::steps()[random() % wisp::test::steps().size()];
      const auto how = random() % 4;
      if (how == 0) {
        comm.run(step.run(comm));
        continue;
      }
      wisp::Request request = comm.start(step.run(comm));
      if (how == 1) request.wait();
      if (how == 2) wisp::wait_any(std::span(&request, 1));
      while (how == 3 && !request.test()) {
      }
    }
  } catch (const wisp::Error& error) {
    return error.what();
  }
}

int go_on_without(int killed, const wisp::Comm& comm, bool by_creation) {
  const std::vector<int> alive = wisp::test::ranks_without(killed, comm.size());
  wisp::Comm survivors = comm.raw().subset(alive);
  if (by_creation) survivors = comm.create_group(alive, 5);
  const int one = 1;
  int count = 0;
  survivors.allreduce(wisp::buffer_of(one), wisp::buffer_of(count), MPI_SUM);
  // Of those that are left anybody may take longer than a stall does.
  const int last = survivors.size() - 1;
  if (survivors.rank() == last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    for (int rank = 0; rank < last; ++rank) survivors.send(wisp::buffer_of(one), rank, 7);
  } else {
    int received = 0;
    survivors.receive(wisp::buffer_of(received), wisp::any_source, 7);
  }
  survivors.barrier();
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto seed = static_cast<unsigned>(std::atoi(argv[1]));
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const wisp::Comm comm = wisp::Comm::duplicate(MPI_COMM_WORLD);
  std::mt19937 random(seed);
  const int killed = static_cast<int>(random() % static_cast<unsigned>(comm.size()));
  const auto microseconds = static_cast<useconds_t>(1000 + random() % 100000);
  comm.barrier();
  if (comm.rank() == killed) {
    std::signal(SIGALRM, &kill_this);
    ualarm(microseconds, 0);
  }
  const std::string said = run_until_an_error(comm, random);
  const std::string naming = "rank " + std::to_string(killed) + " of the parent communicator has failed";
  if (said.find(naming) == std::string::npos || comm.failed() != std::vector<int>{killed}) {
    std::printf("rank %d: %s\n", comm.rank(), said.c_str());
  } else {
    std::printf("rank %d: %d go on\n", comm.rank(), go_on_without(killed, comm, seed % 2 == 0));
  }
  std::fflush(stdout);
  _exit(0);  // MPI's end waits for all
}
