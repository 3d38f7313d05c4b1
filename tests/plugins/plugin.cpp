// A library that has wisp in it, as a plugin of a program may: no name of it is seen from outside but this
// one.

#include <mpi.h>

#include "wisp/buffer.hpp"
#include "wisp/comm.hpp"

extern "C" [[gnu::visibility("default")]] int sum_of_ranks(MPI_Comm of) {
  const auto comm = wisp::Comm::duplicate(of);
  const int rank = comm.rank();
  int sum = 0;
  comm.allreduce(wisp::buffer_of(rank), wisp::buffer_of(sum), MPI_SUM);
  return sum;
}
