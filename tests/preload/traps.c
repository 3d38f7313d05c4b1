/* Arithmetic that the program would be ended for. */
#define _GNU_SOURCE

#include <fenv.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  double in[4] = {1, 2, 3, 4};
  double out[64];
  int rank = 0;
  int size = 0;
  int count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  for (count = 0; count < 3; ++count) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (count * size <= 4) MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (count * size <= 4) MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("no trap on %d ranks\n", size);
  MPI_Finalize();
  return 0;
}
