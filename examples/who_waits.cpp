// Everybody waits for the last rank, which has something else to do; after half a second wisp says so, once:
//
//   wisp: nothing has moved for 2.5 s: rank 0 waits in wisp::allreduce (call 1 on iterations) for a message
//   from rank 4; rank 4 does not answer: it waits in no call of wisp

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <wisp/wisp.hpp>

int main(int argc, char** argv) {
  setenv("WISP_STALL_SECONDS", "0.5", 0);  // a minute, if nobody says anything else
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const wisp::Comm iterations = world.range(0, world.size() - 1);
    iterations.set_name("iterations");
    if (world.rank() == 0) {
      std::printf("%s, %s, %s\n", world.describe().c_str(), iterations.describe().c_str(),
                  world.range(0, world.size() / 2).describe().c_str());
    }

    const bool is_last = world.rank() == world.size() - 1;
    if (is_last && world.size() > 1) std::this_thread::sleep_for(std::chrono::seconds(4));
    const int one = 1;
    int sum = 0;
    wisp::Request request = iterations.iallreduce(wisp::buffer_of(one), wisp::buffer_of(sum), MPI_SUM);
    if (world.size() > 1 && !is_last) std::printf("rank %d: %s\n", world.rank(), describe(request).c_str());
    request.wait();
    if (sum != world.size()) failed = 1;
  }
  MPI_Finalize();
  return failed;
}
