/* A scan is in flight when a blocking call on another communicator is the first that wisp takes there: MPI
   moves on what was started in whichever call the others are. in_flight [neighbors] */

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Comm with_scan = MPI_COMM_NULL;
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Request scan = MPI_REQUEST_NULL;
  const int is_periodic = 1;
  int rank = 0;
  int size = 0;
  int is_patient = 0;
  int sum = 0;
  int total[2] = {0, 0};
  int i = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &with_scan);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &other);
  for (i = 0; i < 2; ++i) MPI_Barrier(with_scan);
  if (argc > 1) MPI_Barrier(other);
  is_patient = rank == 0 || rank == size - 1;
  if (rank == 0) usleep(200000);
  MPI_Iscan(&rank, &sum, 1, MPI_INT, MPI_SUM, with_scan, &scan);
  if (is_patient) MPI_Wait(&scan, MPI_STATUS_IGNORE);
  if (argc > 1) {
    const int mine[2] = {rank, rank};
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, total, 1, MPI_INT, other);
  } else {
    MPI_Allreduce(&rank, total, 1, MPI_INT, MPI_SUM, other);
  }
  if (!is_patient) MPI_Wait(&scan, MPI_STATUS_IGNORE);
  printf("%d: %d, %d %d\n", rank, sum, total[0], total[1]);
  MPI_Comm_free(&with_scan);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
