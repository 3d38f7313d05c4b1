// A program written for the RBC library, unchanged but for its include: prefix sums in overlapping ranges.

#include <cstdio>
#include <wisp/rbc.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  RBC::Comm world, range;
  RBC::Create_Comm_from_MPI(MPI_COMM_WORLD, &world);
  RBC::Comm_rank(world, &rank);
  RBC::Comm_size(world, &size);
  // Local operation, no synchronization.
  const bool is_left = rank < size / 2;
  RBC::Comm_create_group(world, &range, is_left ? 0 : size / 2, is_left ? size / 2 - 1 : size - 1);

  int sum = 0, flag = 0;
  RBC::Request request;
  RBC::Iscan(&rank, &sum, 1, MPI_INT, MPI_SUM, range, &request);
  while (!flag) {
    // Do something else.
    RBC::Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  std::printf("rank %d: the sum of the ranks of its range up to it is %d\n", rank, sum);
  MPI_Finalize();
}
